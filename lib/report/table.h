// SPDX-License-Identifier: Apache-2.0
// TextTable: opreport's columns. Cells are left aligned text; between a cell and the next stand at least one
// blank; the last cell is never padded.
//
//   TextTable table;
//   table.AddColumn("samples", 9);
//   table.AddColumn("symbol name", 30);
//   table.Header(&out);
//   table.Begin(&out); table.Cell("1204"); table.Cell("main"); table.End();
#ifndef KSAMP_LIB_REPORT_TABLE_H_
#define KSAMP_LIB_REPORT_TABLE_H_

#include <charconv>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "lib/report/percent.h"

namespace ksamp {

class TextTable {
 public:
  void AddColumn(std::string_view title, size_t width) { columns_.push_back({std::string(title), width}); }

  void Header(std::string* out, size_t indent = 0) {
    Begin(out, indent);
    for (const Column& column : columns_) Cell(column.title);
    End();
  }

  // Starts a line. Cells left out at its end stay empty.
  void Begin(std::string* out, size_t indent = 0) {
    out_ = out;
    out_->append(indent, ' ');
    at_ = 0;
    pad_ = 0;
  }
  void Cell(std::string_view text) {
    StartCell();
    out_->append(text);
    EndCell();
  }
  void Number(uint64_t value) {
    char digits[20];
    const char* end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    Cell({digits, static_cast<size_t>(end - digits)});
  }
  void Percent(double percent) {
    StartCell();
    AppendPercent(percent, out_);
    EndCell();
  }
  // Lower-case hex, zero padded to `digits`.
  void Address(uint64_t value, size_t digits) {
    char text[16];
    const char* end = std::to_chars(text, text + sizeof(text), value, 16).ptr;
    const size_t size = static_cast<size_t>(end - text);
    StartCell();
    if (size < digits) out_->append(digits - size, '0');
    out_->append(text, size);
    EndCell();
  }
  void End() { out_->push_back('\n'); }

 private:
  struct Column {
    std::string title;
    size_t width;
  };

  void StartCell() {
    out_->append(pad_, ' ');
    begin_ = out_->size();
  }
  void EndCell() {
    const size_t length = out_->size() - begin_, width = columns_[at_++].width;
    pad_ = length < width ? width - length : 1;
  }

  std::vector<Column> columns_;
  std::string* out_ = nullptr;
  size_t at_ = 0, pad_ = 0, begin_ = 0;
};

// Text collected for a stream, handed over in large pieces.
class TextSink {
 public:
  explicit TextSink(std::ostream& out) : out_(out) { text_.reserve(kFlushBytes + 4096); }
  ~TextSink() { Flush(); }
  TextSink(const TextSink&) = delete;
  TextSink& operator=(const TextSink&) = delete;

  std::string* text() { return &text_; }
  // To be called between lines. False: the stream failed, and going on is of no use.
  bool MaybeFlush() { return text_.size() < kFlushBytes || Flush(); }
  bool Flush();

 private:
  static constexpr size_t kFlushBytes = 256 << 10;
  std::ostream& out_;
  std::string text_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_REPORT_TABLE_H_
