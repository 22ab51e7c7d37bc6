// SPDX-License-Identifier: Apache-2.0
// opreport's symbol list (-l) and details (-d).
#include <algorithm>
#include <string>
#include <vector>

#include "lib/base/text.h"
#include "lib/report/header.h"
#include "lib/report/order.h"
#include "lib/report/writers.h"

namespace ksamp {
namespace {

constexpr size_t kDetailIndent = 2;

class SymbolReport {
 public:
  SymbolReport(const Profile& profile, const ReportOptions& options, TextSink& out)
      : options_(options),
        out_(out),
        details_(options.form == ReportForm::kDetails),
        view_(profile, options, details_ ? RowUnit::kAddress : RowUnit::kSymbol, Layout::kColumns),
        rows_(SortedRows(view_)),
        sums_(view_.classes().size()) {
    ChooseColumns();
  }

  void Write() {
    if (options_.header) {
      AppendHeader(view_, SamplesBelowThreshold(view_), out_.text());
      table_.Header(out_.text());
    }
    for (uint32_t row : rows_) {
      WriteRow(row);
      if (details_ && !WriteAddresses(row)) return;
      if (!out_.MaybeFlush()) return;
    }
  }

 private:
  void ChooseColumns() {
    show_vma_ = options_.show_address || details_;
    show_comm_ = view_.has_comms();
    for (uint32_t row : rows_) show_image_ = show_image_ || !view_.AppIsImage(row);
    // Applications of everything selected, printed or not: a threshold does not take the column away.
    for (uint32_t row = 1; row < view_.rows().size() && !show_app_; ++row)
      show_app_ = view_.AppName(row) != view_.AppName(0);
    digits_ = VmaDigits();
    if (show_vma_) table_.AddColumn("vma", digits_ + 1);
    for (size_t c = 0; c < view_.classes().size(); ++c) {
      table_.AddColumn("samples", 9);
      if (options_.accumulated) table_.AddColumn("cum. samples", 14);
      table_.AddColumn("%", 9);
      if (options_.accumulated) table_.AddColumn("cum. %", 11);
    }
    if (options_.show_line) table_.AddColumn("linenr info", 28);
    if (show_image_) table_.AddColumn("image name", 25);
    if (show_app_) table_.AddColumn("app name", 25);
    if (show_comm_) table_.AddColumn("command", 16);
    table_.AddColumn("symbol name", 30);
  }

  // 16 where any printed address needs more than 32 bits, else 8.
  size_t VmaDigits() const {
    uint64_t all = 0;
    for (uint32_t row : rows_) {
      all |= view_.Vma(row);
      if (!details_) continue;
      for (const AddressCell& cell : view_.AddressesOf(row)) all |= cell.address;
    }
    return all >> 32 != 0 ? 16 : 8;
  }

  // samples, cum. samples, %, cum. % of one class. `sum` is the running total, `whole` what shares are of.
  void WriteCells(const Counts& counts, Counts& sum, uint64_t whole, uint32_t event) {
    sum += counts;
    table_.Number(counts.samples);
    if (options_.accumulated) table_.Number(sum.samples);
    table_.Percent(Share(view_.Value(counts, event), whole));
    if (options_.accumulated) table_.Percent(Share(view_.Value(sum, event), whole));
  }

  void WritePlace(const SourcePlace& place) {
    table_.Cell(EscapeForTerminal(PlaceText(place, options_.long_filenames)));
  }

  void WriteRow(uint32_t row) {
    table_.Begin(out_.text());
    if (show_vma_) table_.Address(view_.Vma(row), digits_);
    for (size_t c = 0; c < sums_.size(); ++c) {
      const uint32_t event = view_.EventOf(row, c);
      WriteCells(view_.Get(row, c), sums_[c], view_.Value(view_.ClassBase(c), event), event);
    }
    if (options_.show_line) WritePlace(view_.PlaceOf(row));
    if (show_image_) table_.Cell(EscapeForTerminal(view_.ImageName(row)));
    if (show_app_) table_.Cell(EscapeForTerminal(view_.AppName(row)));
    if (show_comm_) table_.Cell(EscapeForTerminal(CommName(row)));
    table_.Cell(EscapeForTerminal(view_.SymbolName(row)));
    table_.End();
  }

  // False where the stream failed.
  bool WriteAddresses(uint32_t row) {
    std::vector<Counts> sums(sums_.size()), counts(sums_.size());
    std::vector<uint64_t> wholes(sums_.size());
    for (size_t c = 0; c < wholes.size(); ++c) {
      const uint32_t event = view_.EventOf(row, c);
      wholes[c] = view_.Value(options_.global_percent ? view_.ClassBase(c) : view_.Get(row, c), event);
    }
    const std::span<const AddressCell> cells = view_.AddressesOf(row);
    for (size_t i = 0; i < cells.size();) {
      const AddressCell& first = cells[i];
      const uint64_t address = first.address;
      std::fill(counts.begin(), counts.end(), Counts{});
      for (; i < cells.size() && cells[i].address == address; ++i)
        counts[cells[i].class_index] += cells[i].counts;
      table_.Begin(out_.text(), kDetailIndent);
      table_.Address(address, digits_);
      for (size_t c = 0; c < counts.size(); ++c)
        WriteCells(counts[c], sums[c], wholes[c], view_.EventOf(row, c));
      if (options_.show_line) WritePlace(view_.PlaceOf(first));
      table_.End();
      if (!out_.MaybeFlush()) return false;
    }
    return true;
  }

  std::string CommName(uint32_t row) const {
    const uint32_t comm = view_.IdentityOf(row).comm;
    return comm < view_.profile().names.size() ? view_.profile().names[comm] : "";
  }

  const ReportOptions& options_;
  TextSink& out_;
  const bool details_;
  const ReportView view_;
  const std::vector<uint32_t> rows_;
  std::vector<Counts> sums_;  // by class, of the rows written so far
  TextTable table_;
  size_t digits_ = 8;
  bool show_vma_ = false, show_image_ = false, show_app_ = false, show_comm_ = false;
};

}  // namespace

void WriteSymbolReport(const Profile& profile, const ReportOptions& options, TextSink& out) {
  SymbolReport(profile, options, out).Write();
}

}  // namespace ksamp
