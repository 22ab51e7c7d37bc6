// SPDX-License-Identifier: Apache-2.0
// The per-module report: one block per image, its total, below it its symbols, indented.
//
//   samples  %        image name
//     samples  %        symbol name
//   1300     34.7315  i40e
//     1000     26.7165  i40e_napi_poll
#include <algorithm>
#include <string>
#include <vector>

#include "lib/base/text.h"
#include "lib/report/header.h"
#include "lib/report/order.h"
#include "lib/report/writers.h"

namespace ksamp {
namespace {

constexpr size_t kIndent = 2;

struct Block {
  std::string name;
  std::vector<uint32_t> rows;  // in order
  std::vector<Counts> cells;   // by class
};

class ModuleReport {
 public:
  ModuleReport(const Profile& profile, const ReportOptions& options, TextSink& out)
      : options_(options), out_(out), view_(profile, options, RowUnit::kSymbol, Layout::kByImage) {
    GroupByImage();
    ChooseColumns();
  }

  void Write() {
    if (options_.header) {
      AppendHeader(view_, SamplesBelowThreshold(), out_.text());
      images_.Header(out_.text());
      symbols_.Header(out_.text(), kIndent);
    }
    bool first = !options_.header;
    for (const Block& block : blocks_) {
      if (!ReachesThreshold(block.cells)) continue;
      if (!first) *out_.text() += '\n';
      first = false;
      WriteBlock(block);
      if (!out_.MaybeFlush()) return;
    }
  }

 private:
  void GroupByImage() {
    std::vector<size_t> block_of(view_.profile().images.size() + 1, SIZE_MAX);
    for (uint32_t row : SortedRowsOfAll(view_)) {
      size_t& at = block_of[std::min<size_t>(view_.rows()[row].image, block_of.size() - 1)];
      if (at == SIZE_MAX) {
        at = blocks_.size();
        blocks_.push_back({view_.ImageName(row), {}, std::vector<Counts>(view_.classes().size())});
      }
      Block& block = blocks_[at];
      block.rows.push_back(row);
      for (size_t c = 0; c < block.cells.size(); ++c) block.cells[c] += view_.Get(row, c);
    }
    std::stable_sort(blocks_.begin(), blocks_.end(), [&](const Block& a, const Block& b) {
      const uint64_t left = Value(a.cells, 0), right = Value(b.cells, 0);
      if (left != right) return options_.reverse ? left < right : left > right;
      return options_.reverse ? b.name < a.name : a.name < b.name;
    });
  }

  void ChooseColumns() {
    uint64_t all = 0;
    for (uint32_t row = 0; row < view_.rows().size(); ++row) all |= view_.Vma(row);
    digits_ = all >> 32 != 0 ? 16 : 8;
    if (options_.show_address) symbols_.AddColumn("vma", digits_ + 1);
    for (size_t c = 0; c < view_.classes().size(); ++c) {
      for (TextTable* table : {&images_, &symbols_}) table->AddColumn("samples", 9);
      if (options_.accumulated) symbols_.AddColumn("cum. samples", 14);
      for (TextTable* table : {&images_, &symbols_}) table->AddColumn("%", 9);
      if (options_.accumulated) symbols_.AddColumn("cum. %", 11);
    }
    images_.AddColumn("image name", 25);
    if (options_.show_line) symbols_.AddColumn("linenr info", 28);
    symbols_.AddColumn("symbol name", 30);
  }

  uint64_t Value(std::span<const Counts> cells, size_t c) const {
    return cells.empty() ? 0 : view_.Value(cells[c], view_.classes()[c].event);
  }
  uint64_t Base(size_t c) const { return view_.Value(view_.ClassBase(c), view_.classes()[c].event); }

  bool ReachesThreshold(std::span<const Counts> cells) const {
    if (options_.threshold <= 0) return true;
    for (size_t c = 0; c < cells.size(); ++c)
      if (Share(Value(cells, c), Base(c)) >= options_.threshold) return true;
    return false;
  }

  // A block's total stands in its own row, so symbols hidden below a printed one are not missing.
  uint64_t SamplesBelowThreshold() const {
    uint64_t hidden = 0;
    for (const Block& block : blocks_) {
      if (ReachesThreshold(block.cells)) continue;
      for (const Counts& counts : block.cells) hidden += counts.samples;
    }
    return hidden;
  }

  void WriteBlock(const Block& block) {
    images_.Begin(out_.text());
    for (size_t c = 0; c < block.cells.size(); ++c) {
      images_.Number(block.cells[c].samples);
      images_.Percent(Share(Value(block.cells, c), Base(c)));
    }
    images_.Cell(EscapeForTerminal(block.name));
    images_.End();
    std::vector<Counts> sums(block.cells.size());
    for (uint32_t row : block.rows)
      if (ReachesThreshold(view_.CellsOf(row))) WriteSymbol(row, block, sums);
  }

  void WriteSymbol(uint32_t row, const Block& block, std::vector<Counts>& sums) {
    symbols_.Begin(out_.text(), kIndent);
    if (options_.show_address) symbols_.Address(view_.Vma(row), digits_);
    for (size_t c = 0; c < sums.size(); ++c) {
      const uint64_t whole = options_.percent_of_block ? Value(block.cells, c) : Base(c);
      sums[c] += view_.Get(row, c);
      symbols_.Number(view_.Get(row, c).samples);
      if (options_.accumulated) symbols_.Number(sums[c].samples);
      symbols_.Percent(Share(Value(view_.CellsOf(row), c), whole));
      if (options_.accumulated) symbols_.Percent(Share(Value(sums, c), whole));
    }
    if (options_.show_line)
      symbols_.Cell(EscapeForTerminal(PlaceText(view_.PlaceOf(row), options_.long_filenames)));
    symbols_.Cell(EscapeForTerminal(view_.SymbolName(row)));
    symbols_.End();
  }

  const ReportOptions& options_;
  TextSink& out_;
  const ReportView view_;
  std::vector<Block> blocks_;
  TextTable images_, symbols_;
  size_t digits_ = 8;
};

}  // namespace

void WriteModuleReport(const Profile& profile, const ReportOptions& options, TextSink& out) {
  ModuleReport(profile, options, out).Write();
}

}  // namespace ksamp
