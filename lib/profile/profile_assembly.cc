// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/profile_assembly.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "lib/base/parallel.h"

namespace ksamp {
namespace {

// A key with its names spelled out: comparable across counters.
using SpelledKey =
    std::tuple<uint32_t /*event*/, std::string_view /*app*/, std::string_view /*comm*/, uint32_t /*pid*/,
               uint32_t /*tid*/, uint32_t /*cpu*/, bool /*idle*/, bool /*has app*/, bool /*has comm*/>;

SpelledKey Spell(const ProfileKey& key, const SampleCounter& counter) {
  const bool has_app = key.app != kNone32, has_comm = key.comm != kNone32;
  return {key.event,
          has_app ? counter.Name(key.app) : std::string_view(),
          has_comm ? counter.Name(key.comm) : std::string_view(),
          key.pid,
          key.tid,
          key.cpu,
          key.idle_task,
          has_app,
          has_comm};
}

std::vector<bool> UsedKeys(const SampleCounter& counter) {
  std::vector<bool> used(counter.keys().size());
  counter.table().ForEach([&](const CountedAddress& entry) { used[entry.key] = true; });
  return used;
}

// Fills profile.names and profile.keys; returns, per counter, its key numbers -> profile.keys.
std::vector<std::vector<uint32_t>> MergeKeys(const std::vector<std::unique_ptr<SampleCounter>>& counters,
                                             Profile& profile) {
  std::map<SpelledKey, uint32_t> keys;
  std::map<std::string_view, uint32_t> names;
  std::vector<std::vector<bool>> used;
  for (const auto& counter : counters) {
    used.push_back(UsedKeys(*counter));
    for (size_t i = 0; i < counter->keys().size(); ++i) {
      if (!used.back()[i]) continue;
      const ProfileKey& key = counter->keys()[i];
      if (key.app != kNone32) names.emplace(counter->Name(key.app), 0);
      if (key.comm != kNone32) names.emplace(counter->Name(key.comm), 0);
      keys.emplace(Spell(key, *counter), 0);
    }
  }
  for (auto& [text, id] : names) {
    id = static_cast<uint32_t>(profile.names.size());
    profile.names.emplace_back(text);
  }
  for (auto& [spelled, id] : keys) {
    id = static_cast<uint32_t>(profile.keys.size());
    const auto& [event, app, comm, pid, tid, cpu, idle, has_app, has_comm] = spelled;
    profile.keys.push_back({.event = event,
                            .app = has_app ? names.at(app) : kNone32,
                            .comm = has_comm ? names.at(comm) : kNone32,
                            .pid = pid,
                            .tid = tid,
                            .cpu = cpu,
                            .idle_task = idle});
  }
  std::vector<std::vector<uint32_t>> numbers(counters.size());
  for (size_t c = 0; c < counters.size(); ++c) {
    numbers[c].resize(counters[c]->keys().size(), kNone32);
    for (size_t i = 0; i < numbers[c].size(); ++i)
      if (used[c][i]) numbers[c][i] = keys.at(Spell(counters[c]->keys()[i], *counters[c]));
  }
  return numbers;
}

// All counters' entries, with the profile's keys, each (key, image, address) once.
std::vector<CountedAddress> MergeEntries(const std::vector<std::unique_ptr<SampleCounter>>& counters,
                                         const std::vector<std::vector<uint32_t>>& key_numbers) {
  CountingTable merged;
  const CountingTable* all = &merged;
  if (counters.size() == 1) {
    all = &counters.front()->table();
  } else {
    for (size_t c = 0; c < counters.size(); ++c) {
      counters[c]->table().ForEach([&](CountedAddress entry) {
        entry.key = key_numbers[c][entry.key];
        merged.Add(merged.Hash(entry.key, entry.image, entry.address), entry);
      });
    }
  }
  std::vector<CountedAddress> entries = all->Entries();
  if (counters.size() == 1)
    for (CountedAddress& entry : entries) entry.key = key_numbers[0][entry.key];
  return entries;
}

// Groups entries by image (a counting sort), then sorts each image's by (address, key) in parallel.
void SortByLocation(std::vector<CountedAddress>& entries, unsigned threads) {
  std::map<uint32_t, size_t> first;  // image -> where its entries begin
  for (const CountedAddress& entry : entries) ++first[entry.image];
  std::vector<std::pair<size_t, size_t>> groups;
  size_t at = 0;
  for (auto& [image, count] : first) {
    groups.emplace_back(at, at + count);
    at += std::exchange(count, at);
  }
  std::vector<CountedAddress> sorted(entries.size());
  for (const CountedAddress& entry : entries) sorted[first[entry.image]++] = entry;
  ParallelFor(groups.size(), threads, [&](size_t g, unsigned) {
    std::sort(sorted.begin() + static_cast<ptrdiff_t>(groups[g].first),
              sorted.begin() + static_cast<ptrdiff_t>(groups[g].second),
              [](const CountedAddress& a, const CountedAddress& b) {
                return std::tie(a.address, a.key) < std::tie(b.address, b.key);
              });
  });
  entries = std::move(sorted);
}

// The profile's image for a counter's: appended when new. Requires: `images` come in ascending order.
uint32_t AppendImage(uint32_t image, const ProcessTable& table, Profile& profile) {
  if (image == ReasonImage(UnresolvedReason::kHypervisor) || image == ReasonImage(UnresolvedReason::kGuest))
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
  profile.images.push_back({.kind = ImageKind::kUnknown, .path = "unknown", .build_id = {}});
  return number;
}

// Requires: sorted by location.
void FillLocations(const std::vector<CountedAddress>& sorted, const ProcessTable& table, Profile& profile) {
  std::vector<ProfileEntry> by_location;
  by_location.reserve(sorted.size());
  uint32_t image = kNone32;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const CountedAddress& counted = sorted[i];
    const bool new_image = i == 0 || counted.image != sorted[i - 1].image;
    if (new_image) image = AppendImage(counted.image, table, profile);
    if (new_image || counted.address != sorted[i - 1].address) {
      ProfileLocation location{.image = image, .address = counted.address};
      if (counted.image >= kFirstReasonImage)
        location.reason = static_cast<UnresolvedReason>(counted.image - kFirstReasonImage);
      profile.locations.push_back(location);
    }
    by_location.push_back({counted.key, static_cast<uint32_t>(profile.locations.size() - 1), counted.counts});
  }
  // A counting sort by key keeps the order of locations.
  std::vector<size_t> next(profile.keys.size() + 1);
  for (const ProfileEntry& entry : by_location) ++next[entry.key + 1];
  for (size_t key = 1; key < next.size(); ++key) next[key] += next[key - 1];
  profile.entries.resize(by_location.size());
  for (const ProfileEntry& entry : by_location) profile.entries[next[entry.key]++] = entry;
}

void SumTallies(const std::vector<std::unique_ptr<SampleCounter>>& counters, Profile& profile) {
  for (const auto& counter : counters) {
    for (size_t event = 0; event < profile.conservation.size(); ++event) {
      const EventTally& tally = counter->tallies()[event];
      Conservation& sum = profile.conservation[event];
      sum.taken += tally.taken;
      sum.counted += tally.counted;
      for (size_t i = 0; i < tally.filtered.size(); ++i)
        if (tally.filtered[i] != 0)
          sum.filtered[std::string(Text(static_cast<FilterCause>(i)))] += tally.filtered[i];
      for (size_t i = 0; i < tally.dropped.size(); ++i)
        if (tally.dropped[i] != 0)
          sum.dropped[std::string(Text(static_cast<DropCause>(i)))] += tally.dropped[i];
    }
  }
}

}  // namespace

void AssembleProfile(const std::vector<std::unique_ptr<SampleCounter>>& counters, const ProcessTable& table,
                     unsigned threads, Profile& profile) {
  profile.conservation.assign(profile.events.size(), {});
  SumTallies(counters, profile);
  const std::vector<std::vector<uint32_t>> key_numbers = MergeKeys(counters, profile);
  std::vector<CountedAddress> entries = MergeEntries(counters, key_numbers);
  SortByLocation(entries, threads);
  FillLocations(entries, table, profile);
}

}  // namespace ksamp
