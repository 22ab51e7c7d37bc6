// SPDX-License-Identifier: Apache-2.0
#include "lib/object/dwarf_unit_index.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

namespace ksamp {
namespace {

bool MayHoldCode(const DwarfUnit& unit) {
  return unit.type == kUnitCompile || unit.type == kUnitSkeleton;
}

// Only the abbreviation of the unit's root.
std::shared_ptr<const DwarfAbbrevs> RootAbbrev(const DwarfFile& file, const DwarfUnit& unit,
                                               DwarfWork* work) {
  const uint64_t code = file.Info(unit.first_entry).Uleb();
  DwarfAbbrevs abbrevs =
      DwarfAbbrevs::ParseOnly(code, file.Read(file.sections().abbrev, unit.abbrevs), unit.encoding);
  work->Spend(abbrevs.bytes_read());
  return std::make_shared<const DwarfAbbrevs>(std::move(abbrevs));
}

}  // namespace

DwarfUnitIndex DwarfUnitIndex::Build(const DwarfFile& file, DwarfWork* work) {
  DwarfUnitIndex index;
  for (uint32_t i = 0; i < file.units().size() && !work->spent(); ++i) {
    const DwarfUnit& unit = file.units()[i];
    if (!MayHoldCode(unit)) continue;
    const DwarfUnitReader reader(file, unit, RootAbbrev(file, unit, work));
    const DwarfUnitRoot& root = reader.root();
    if (root.tag != kTagCompileUnit && root.tag != kTagSkeletonUnit) continue;
    reader.ForEachRange({root.low, root.high, root.ranges}, work, [&](uint64_t begin, uint64_t end) {
      if (begin < end && file.sections().IsCode(begin)) index.Add(begin, end, i);
    });
  }
  index.Separate();
  return index;
}

void DwarfUnitIndex::Add(uint64_t begin, uint64_t end, uint32_t unit) {
  if (!ranges_.empty() && ranges_.back().unit == unit && ranges_.back().end == begin) {
    ranges_.back().end = end;
  } else {
    ranges_.push_back({begin, end, unit});
  }
}

// Sorts the ranges and gives what several units claim to the first of them.
void DwarfUnitIndex::Separate() {
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return std::pair(a.begin, a.unit) < std::pair(b.begin, b.unit);
  });
  const auto overlaps = [](const Range& a, const Range& b) { return b.begin < a.end; };
  if (std::adjacent_find(ranges_.begin(), ranges_.end(), overlaps) == ranges_.end()) return;
  // A sweep over begins and ends, with the units that claim the place.
  struct Edge {
    uint64_t at;
    uint32_t unit;
    bool begin;
  };
  std::vector<Edge> edges;
  edges.reserve(2 * ranges_.size());
  for (const Range& range : ranges_) {
    edges.push_back({range.begin, range.unit, true});
    edges.push_back({range.end, range.unit, false});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  ranges_.clear();
  std::multiset<uint32_t> claiming;
  uint64_t from = 0;
  for (const Edge& edge : edges) {
    if (!claiming.empty() && edge.at > from) Add(from, edge.at, *claiming.begin());
    from = edge.at;
    if (edge.begin) {
      claiming.insert(edge.unit);
    } else if (const auto it = claiming.find(edge.unit); it != claiming.end()) {
      claiming.erase(it);
    }
  }
}

std::optional<uint32_t> DwarfUnitIndex::Find(uint64_t address) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                      [](uint64_t a, const Range& range) { return a < range.begin; });
  if (after == ranges_.begin() || address >= (after - 1)->end) return std::nullopt;
  return (after - 1)->unit;
}

}  // namespace ksamp
