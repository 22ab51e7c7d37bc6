// SPDX-License-Identifier: Apache-2.0
// LineBuffer: text on its way to a stream, put together without a call into the stream per piece.
//
//   LineBuffer line(out);
//   line.Right(comm, 16).Char(' ').Dec(tid, 7).Char('\n');
//   return line.Finish();
//
// Numbers are formatted in place, whole buffers go out. Once the stream has failed, nothing more is written.
#ifndef KSAMP_LIB_REPORT_LINE_BUFFER_H_
#define KSAMP_LIB_REPORT_LINE_BUFFER_H_

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace ksamp {

class LineBuffer {
 public:
  explicit LineBuffer(std::ostream& out) : out_(out) { buffer_.reserve(kFull + kMargin); }
  LineBuffer(const LineBuffer&) = delete;
  LineBuffer& operator=(const LineBuffer&) = delete;

  LineBuffer& Text(std::string_view text) {
    buffer_.append(text);
    return *this;
  }
  LineBuffer& Char(char c) {
    buffer_.push_back(c);
    return *this;
  }
  // At the right end of `width` columns; longer text takes what it needs.
  LineBuffer& Right(std::string_view text, size_t width) {
    if (text.size() < width) buffer_.append(width - text.size(), ' ');
    return Text(text);
  }
  template <std::integral T>
  LineBuffer& Dec(T value, size_t width = 0) {
    char digits[24];
    return Right({digits, static_cast<size_t>(std::to_chars(digits, digits + 24, value).ptr - digits)},
                 width);
  }
  // With leading zeros.
  LineBuffer& Zeros(uint64_t value, size_t width) {
    char digits[24];
    const size_t size = static_cast<size_t>(std::to_chars(digits, digits + 24, value).ptr - digits);
    if (size < width) buffer_.append(width - size, '0');
    return Text({digits, size});
  }
  LineBuffer& Hex(uint64_t value, size_t width = 0) {
    char digits[16];
    return Right({digits, static_cast<size_t>(std::to_chars(digits, digits + 16, value, 16).ptr - digits)},
                 width);
  }

  // To be called between lines. False: the stream has failed, the rest is in vain.
  bool EndLine() {
    if (buffer_.size() >= kFull) Flush();
    return out_.good();
  }
  absl::Status Finish() {
    Flush();
    out_.flush();
    return out_.good() ? absl::OkStatus() : absl::UnavailableError("write: the output failed");
  }

 private:
  static constexpr size_t kFull = size_t{1} << 16, kMargin = size_t{1} << 14;

  void Flush() {
    if (out_.good()) out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

  std::ostream& out_;
  std::string buffer_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_REPORT_LINE_BUFFER_H_
