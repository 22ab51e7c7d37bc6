// SPDX-License-Identifier: Apache-2.0
#include "lib/report/order.h"

#include <algorithm>
#include <map>
#include <string>

#include "lib/base/file_io.h"

namespace ksamp {
namespace {

// Rank of each row's text in sorted order; few distinct texts, so comparing rows compares numbers.
template <typename Key, typename KeyOf, typename TextOf>
std::vector<uint32_t> Ranks(size_t rows, KeyOf key_of, TextOf text_of) {
  std::map<Key, std::string> texts;
  for (uint32_t row = 0; row < rows; ++row)
    if (const Key key = key_of(row); !texts.contains(key)) texts.emplace(key, text_of(row));
  std::map<std::string, uint32_t> order;
  for (const auto& [key, text] : texts) order.emplace(text, 0);
  uint32_t next = 0;
  for (auto& [text, rank] : order) rank = next++;
  std::map<Key, uint32_t> rank_of;
  for (const auto& [key, text] : texts) rank_of.emplace(key, order[text]);
  std::vector<uint32_t> ranks(rows);
  for (uint32_t row = 0; row < rows; ++row) ranks[row] = rank_of[key_of(row)];
  return ranks;
}

class Comparison {
 public:
  explicit Comparison(const ReportView& view) : view_(view) {
    keys_ = view.options().sort;
    for (SortKey key :
         {SortKey::kSample, SortKey::kImage, SortKey::kApp, SortKey::kSymbol, SortKey::kDebug, SortKey::kVma})
      if (std::find(keys_.begin(), keys_.end(), key) == keys_.end()) keys_.push_back(key);
    const size_t rows = view.rows().size();
    image_ranks_ = Ranks<uint32_t>(
        rows, [&](uint32_t row) { return view.rows()[row].image; },
        [&](uint32_t row) { return view.ImageName(row); });
    app_ranks_ = Ranks<std::pair<uint32_t, uint32_t>>(
        rows,
        [&](uint32_t row) {
          const uint32_t app = view.IdentityOf(row).app;
          return std::pair(app, app == kNone32 ? view.rows()[row].image : kNone32);
        },
        [&](uint32_t row) { return view.AppName(row); });
    values_.reserve(rows);
    for (uint32_t row = 0; row < rows; ++row)
      values_.push_back(view.classes().empty() ? 0 : view.ValueOf(row, 0));
  }

  bool operator()(uint32_t a, uint32_t b) const {
    if (view_.options().reverse) std::swap(a, b);
    for (SortKey key : keys_)
      if (const int order = Compare(key, a, b); order != 0) return order < 0;
    return false;
  }

 private:
  template <typename T>
  static int ThreeWay(const T& a, const T& b) {
    return a < b ? -1 : b < a ? 1 : 0;
  }

  int Compare(SortKey key, uint32_t a, uint32_t b) const {
    switch (key) {
      case SortKey::kSample:
        return ThreeWay(values_[b], values_[a]);  // The largest first.
      case SortKey::kImage:
        return ThreeWay(image_ranks_[a], image_ranks_[b]);
      case SortKey::kApp:
        return ThreeWay(app_ranks_[a], app_ranks_[b]);
      case SortKey::kSymbol:
        return view_.SymbolName(a).compare(view_.SymbolName(b));
      case SortKey::kVma:
        return ThreeWay(view_.Vma(a), view_.Vma(b));
      case SortKey::kDebug:
        return ComparePlaces(view_.PlaceOf(a), view_.PlaceOf(b));
    }
    return 0;
  }

  // By the name as printed, then by line; those without a place first.
  int ComparePlaces(const SourcePlace& a, const SourcePlace& b) const {
    const bool whole = view_.options().long_filenames;
    const int names = (whole ? a.file : Basename(a.file)).compare(whole ? b.file : Basename(b.file));
    return names != 0 ? names : ThreeWay(a.line, b.line);
  }

  const ReportView& view_;
  std::vector<SortKey> keys_;
  std::vector<uint64_t> values_;
  std::vector<uint32_t> image_ranks_, app_ranks_;
};

std::vector<uint32_t> Sorted(const ReportView& view, bool all) {
  std::vector<uint32_t> rows;
  rows.reserve(view.rows().size());
  for (uint32_t row = 0; row < view.rows().size(); ++row)
    if (all || view.ReachesThreshold(row)) rows.push_back(row);
  const Comparison less(view);
  std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) { return less(a, b); });
  return rows;
}

}  // namespace

std::vector<uint32_t> SortedRows(const ReportView& view) {
  return Sorted(view, false);
}

std::vector<uint32_t> SortedRowsOfAll(const ReportView& view) {
  return Sorted(view, true);
}

uint64_t SamplesBelowThreshold(const ReportView& view) {
  uint64_t hidden = 0;
  for (uint32_t row = 0; row < view.rows().size(); ++row) {
    if (view.ReachesThreshold(row)) continue;
    for (const Counts& counts : view.CellsOf(row)) hidden += counts.samples;
  }
  return hidden;
}

}  // namespace ksamp
