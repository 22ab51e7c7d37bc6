// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/profile_assembly.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "lib/base/parallel.h"

namespace ksamp {
namespace {

using Counters = std::vector<std::unique_ptr<SampleCounter>>;

// Images by their place in the final order: those of the recording, then the stand-ins for addresses that no
// mapping explains.
class ImageRanks {
 public:
  explicit ImageRanks(const ProcessTable& table) : images_(static_cast<uint32_t>(table.images().size())) {}
  size_t count() const { return size_t{images_} + (kNone32 - kKernelWithoutMap) + 1; }
  size_t RankOf(uint32_t image) const {
    return image < images_ ? image : size_t{images_} + (image - kKernelWithoutMap);
  }

 private:
  const uint32_t images_;
};

// What one counter's table holds.
struct TableSummary {
  std::vector<bool> used_keys;
  std::vector<size_t> entries_of_image;  // by rank
};

std::vector<TableSummary> Summarize(const Counters& counters, const ImageRanks& ranks, unsigned threads) {
  std::vector<TableSummary> summaries(counters.size());
  ParallelFor(counters.size(), threads, [&](size_t c, unsigned) {
    TableSummary summary{.used_keys = std::vector<bool>(counters[c]->key_numbers().keys().size()),
                         .entries_of_image = std::vector<size_t>(ranks.count())};
    counters[c]->table().ForEach([&](const CountedAddress& entry) {
      summary.used_keys[entry.key] = true;
      ++summary.entries_of_image[ranks.RankOf(entry.image)];
    });
    summaries[c] = std::move(summary);
  });
  return summaries;
}

// Entries of one image, [begin, end) of an array of entries.
struct ImageGroup {
  size_t begin = 0, end = 0;
};

// All counters' entries in one array, image after image, with the profile's keys. No table for the sum of
// all: what is to be sorted by image anyway is put to its image, and equal ones meet when that is sorted.
// Counters work side by side, as each one's place in each image is known beforehand.
CountedArray GroupByImage(const Counters& counters, const std::vector<TableSummary>& summaries,
                          const std::vector<std::vector<uint32_t>>& key_numbers, const ImageRanks& ranks,
                          unsigned threads, std::vector<ImageGroup>& groups) {
  std::vector<std::vector<size_t>> next(counters.size(), std::vector<size_t>(ranks.count()));
  size_t at = 0;
  for (size_t rank = 0; rank < ranks.count(); ++rank) {
    const size_t begin = at;
    for (size_t c = 0; c < counters.size(); ++c) {
      next[c][rank] = at;
      at += summaries[c].entries_of_image[rank];
    }
    if (at != begin) groups.push_back({begin, at});
  }
  CountedArray grouped(at);
  ParallelFor(counters.size(), threads, [&](size_t c, unsigned) {
    counters[c]->table().ForEach([&](CountedAddress entry) {
      entry.key = key_numbers[c][entry.key];
      grouped[next[c][ranks.RankOf(entry.image)]++] = entry;
    });
    counters[c]->FreeTable();  // It is the largest thing in memory.
  });
  return grouped;
}

// Sorts each group by (address, key) and sums up entries that are one; groups shrink to what is left.
void SortGroups(CountedArray& entries, unsigned threads, std::vector<ImageGroup>& groups) {
  ParallelFor(groups.size(), threads, [&](size_t g, unsigned) {
    const std::span<CountedAddress> group =
        entries.entries().subspan(groups[g].begin, groups[g].end - groups[g].begin);
    std::sort(group.begin(), group.end(), [](const CountedAddress& a, const CountedAddress& b) {
      return std::tie(a.address, a.key) < std::tie(b.address, b.key);
    });
    size_t last = 0;
    for (size_t i = 1; i < group.size(); ++i) {
      if (group[i].address == group[last].address && group[i].key == group[last].key) {
        group[last].counts += group[i].counts;
      } else {
        group[++last] = group[i];
      }
    }
    groups[g].end = groups[g].begin + last + 1;
  });
}

// Where each key's entries begin, and last where they end.
std::vector<size_t> FirstEntries(const CountedArray& entries, const std::vector<ImageGroup>& groups,
                                 size_t keys) {
  std::vector<size_t> first(keys + 1);
  for (const ImageGroup& group : groups)
    for (size_t i = group.begin; i < group.end; ++i) ++first[entries[i].key + 1];
  for (size_t key = 1; key < first.size(); ++key) first[key] += first[key - 1];
  return first;
}

// Locations in the order of the groups; entries to their keys, by which they come in order of location.
void FillLocations(const CountedArray& sorted, const std::vector<ImageGroup>& groups,
                   const ProcessTable& table, Profile& profile) {
  std::vector<size_t> next = FirstEntries(sorted, groups, profile.keys.size());
  profile.entries.resize(next.back());
  size_t locations = 0;
  for (const ImageGroup& group : groups)
    for (size_t i = group.begin; i < group.end; ++i)
      locations += i == group.begin || sorted[i].address != sorted[i - 1].address ? 1 : 0;
  profile.locations.reserve(locations);
  for (const ImageGroup& group : groups) {
    const uint32_t counted_image = sorted[group.begin].image;
    ProfileLocation location{.image = AppendImage(counted_image, table, profile)};
    if (counted_image >= kFirstReasonImage)
      location.reason = static_cast<UnresolvedReason>(counted_image - kFirstReasonImage);
    for (size_t i = group.begin; i < group.end; ++i) {
      const CountedAddress& counted = sorted[i];
      if (i == group.begin || counted.address != location.address) {
        location.address = counted.address;
        profile.locations.push_back(location);
      }
      profile.entries[next[counted.key]++] = {
          counted.key, static_cast<uint32_t>(profile.locations.size() - 1), counted.counts};
    }
  }
}

void SumTallies(const Counters& counters, Profile& profile) {
  for (const auto& counter : counters) {
    for (size_t event = 0; event < profile.conservation.size(); ++event)
      counter->tallies()[event].AddTo(profile.conservation[event]);
  }
}

}  // namespace

uint32_t AppendImage(uint32_t image, const ProcessTable& table, Profile& profile) {
  if (image == ReasonImage(UnresolvedReason::kHypervisor) || image == ReasonImage(UnresolvedReason::kGuest) ||
      image == ReasonImage(UnresolvedReason::kStackTooDeep))
    return kNone32;
  const uint32_t number = static_cast<uint32_t>(profile.images.size());
  if (image < table.images().size()) {
    profile.images.push_back(table.images()[image]);
    return number;
  }
  if (image == kKernelWithoutMap) {
    profile.images.push_back({.kind = ImageKind::kKernel, .path = "vmlinux", .build_id = {}});
    return number;
  }
  if (number > 0 && profile.images.back().kind == ImageKind::kUnknown) return number - 1;
  profile.images.push_back({.kind = ImageKind::kUnknown, .path = "[unknown]", .build_id = {}});
  return number;
}

void AssembleProfile(const std::vector<std::unique_ptr<SampleCounter>>& counters, const ProcessTable& table,
                     unsigned threads, Profile& profile) {
  profile.conservation.assign(profile.events.size(), {});
  SumTallies(counters, profile);
  const ImageRanks ranks(table);
  const std::vector<TableSummary> summaries = Summarize(counters, ranks, threads);
  std::vector<CountedKeys> counted_keys;
  for (size_t c = 0; c < counters.size(); ++c)
    counted_keys.push_back({&counters[c]->key_numbers(), summaries[c].used_keys});
  const std::vector<std::vector<uint32_t>> key_numbers = MergeKeys(counted_keys, profile);
  std::vector<ImageGroup> groups;
  CountedArray entries = GroupByImage(counters, summaries, key_numbers, ranks, threads, groups);
  SortGroups(entries, threads, groups);
  FillLocations(entries, groups, table, profile);
}

}  // namespace ksamp
