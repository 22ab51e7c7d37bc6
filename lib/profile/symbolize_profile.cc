// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ksamp/profile.h"
#include "lib/base/parallel.h"
#include "lib/base/str_cat.h"
#include "lib/profile/idle_rule.h"

namespace ksamp {
namespace {

constexpr size_t kMaxNotes = 40;

// The locations of one image in order of address.
struct ImageBatch {
  uint32_t image = 0;
  std::vector<uint32_t> locations;
  std::vector<uint64_t> addresses;  // of locations, each once
};

std::vector<ImageBatch> BatchesOf(const Profile& profile) {
  std::vector<ImageBatch> batches(profile.images.size());
  for (uint32_t i = 0; i < profile.locations.size(); ++i) {
    const uint32_t image = profile.locations[i].image;
    if (image == kNone32 || profile.images[image].kind == ImageKind::kUnknown) continue;
    batches[image].image = image;
    batches[image].locations.push_back(i);
  }
  std::erase_if(batches, [](const ImageBatch& batch) { return batch.locations.empty(); });
  for (ImageBatch& batch : batches) {
    const auto address = [&](uint32_t location) { return profile.locations[location].address; };
    // Locations come by (image, address), so a batch is in order unless several images became one
    // ("[unknown]").
    const auto less = [&](uint32_t a, uint32_t b) { return address(a) < address(b); };
    if (!std::is_sorted(batch.locations.begin(), batch.locations.end(), less))
      std::sort(batch.locations.begin(), batch.locations.end(), less);
    batch.addresses.reserve(batch.locations.size());
    for (const uint32_t location : batch.locations)
      if (batch.addresses.empty() || batch.addresses.back() != address(location))
        batch.addresses.push_back(address(location));
  }
  // The biggest first: it would otherwise be what everybody waits for.
  std::stable_sort(batches.begin(), batches.end(), [](const ImageBatch& a, const ImageBatch& b) {
    return a.addresses.size() > b.addresses.size();
  });
  return batches;
}

// Moves the frames of one image behind those of the others; returns where they begin.
uint32_t AppendSource(SourceFrames& found, SourceFrames& all) {
  const auto functions = static_cast<uint32_t>(all.functions.size());
  const auto files = static_cast<uint32_t>(all.files.size());
  const auto frames = static_cast<uint32_t>(all.frames.size());
  const auto moved = [](uint32_t index, uint32_t by) {
    return index == SourceFrame::kNone ? SourceFrame::kNone : index + by;
  };
  for (SourceFunction& function : found.functions)
    all.functions.push_back({std::move(function.name), moved(function.file, files), function.line});
  for (std::string& file : found.files) all.files.push_back(std::move(file));
  for (const SourceFrame& frame : found.frames)
    all.frames.push_back({moved(frame.function, functions), moved(frame.file, files), frame.line});
  return frames;
}

void WriteBack(const ImageBatch& batch, ImageSymbols& found, Profile& profile) {
  const uint32_t first_symbol = static_cast<uint32_t>(profile.symbols.size());
  for (Symbol& symbol : found.symbols)
    profile.symbols.push_back({.name = std::move(symbol.name),
                               .image = batch.image,
                               .start = symbol.start,
                               .size = symbol.size,
                               .file = std::move(symbol.file),
                               .line = symbol.line});
  const uint32_t first_frame = AppendSource(found.source, profile.source);
  size_t at = 0;
  for (const uint32_t index : batch.locations) {
    ProfileLocation& location = profile.locations[index];
    while (batch.addresses[at] != location.address) ++at;
    const ResolvedAddress resolved =
        at < found.addresses.size()
            ? found.addresses[at]
            : ResolvedAddress{.symbol = {}, .reason = UnresolvedReason::kBetweenSymbols};
    location.elf = resolved.elf;
    location.reason = resolved.reason;
    location.symbol = resolved.symbol ? first_symbol + *resolved.symbol : kNone32;
    location.frames = static_cast<uint32_t>(found.source.Of(at).size());
    if (location.frames != 0) location.first_frame = first_frame + found.source.first[at];
  }
}

void AddNotes(const std::vector<ImageSymbols>& found, std::vector<std::string>& notes) {
  std::set<std::string> seen(notes.begin(), notes.end());
  size_t left_out = 0;
  for (const ImageSymbols& image : found) {
    for (const std::string& note : image.notes) {
      if (!seen.insert(note).second) continue;
      if (notes.size() < kMaxNotes) {
        notes.push_back(note);
      } else {
        ++left_out;
      }
    }
  }
  if (left_out != 0) notes.push_back(StrCat("and ", left_out, " more notes about images"));
}

enum class Idleness { kBusy, kIdle, kCannotTell };

Idleness IdlenessOf(const Profile& profile, uint32_t key, uint32_t leaf) {
  if (!profile.keys[key].idle_task) return Idleness::kBusy;
  const ProfileLocation& location = profile.locations[leaf];
  if (location.symbol == kNone32) {
    const bool nameless = location.reason == UnresolvedReason::kKernelSymbolsHidden ||
                          location.reason == UnresolvedReason::kNoKernelSymbols;
    return nameless ? Idleness::kCannotTell : Idleness::kBusy;
  }
  return IsIdleFunction(profile.symbols[location.symbol].name) ? Idleness::kIdle : Idleness::kBusy;
}

void TakeIdleOut(Profile& profile) {
  std::erase_if(profile.stacks, [&](const StackEntry& entry) {
    return IdlenessOf(profile, entry.key, profile.stack_nodes[entry.node].location) == Idleness::kIdle;
  });
  uint64_t cannot_tell = 0;
  std::erase_if(profile.entries, [&](const ProfileEntry& entry) {
    const Idleness idleness = IdlenessOf(profile, entry.key, entry.location);
    if (idleness == Idleness::kCannotTell) cannot_tell += entry.counts.samples;
    if (idleness != Idleness::kIdle) return false;
    Conservation& sum = profile.conservation[profile.keys[entry.key].event];
    sum.counted -= entry.counts.samples;
    sum.idle += entry.counts.samples;
    return true;
  });
  if (cannot_tell != 0)
    profile.facts.notes.push_back(
        StrCat("idle is not told apart: ", cannot_tell,
               " samples of the idle task have no kernel symbols to go by; they are counted as work"));
}

// Orders entries by (key, PLACE) and sums up those that are one. Requires: at most two keys became one, each
// of which was in order: so two runs are merged where all would have to be sorted.
template <typename Entry>
void MergeEntries(uint32_t Entry::*place, std::vector<Entry>& entries) {
  const auto by_key = [](const Entry& a, const Entry& b) { return a.key < b.key; };
  const auto by_place = [place](const Entry& a, const Entry& b) { return a.*place < b.*place; };
  if (!std::is_sorted(entries.begin(), entries.end(), by_key))
    std::stable_sort(entries.begin(), entries.end(), by_key);
  for (auto begin = entries.begin(); begin != entries.end();) {
    const auto end = std::upper_bound(begin, entries.end(), *begin, by_key);
    const auto second = std::is_sorted_until(begin, end, by_place);
    if (second != end) std::inplace_merge(begin, second, end, by_place);
    begin = end;
  }
  size_t written = 0;
  for (const Entry& entry : entries) {
    if (written != 0 && entries[written - 1].key == entry.key &&
        entries[written - 1].*place == entry.*place) {
      entries[written - 1].counts += entry.counts;
    } else {
      entries[written++] = entry;
    }
  }
  entries.resize(written);
}

// What is left of the idle task is work like any other: its keys become the ordinary ones.
void JoinIdleTaskKeys(Profile& profile) {
  using Fields = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>;
  std::map<Fields, uint32_t> numbers;
  std::vector<uint32_t> renumbered(profile.keys.size());
  std::vector<ProfileKey> keys;
  for (size_t i = 0; i < profile.keys.size(); ++i) {
    ProfileKey key = profile.keys[i];
    key.idle_task = false;
    const auto [it, added] = numbers.try_emplace({key.event, key.app, key.comm, key.pid, key.tid, key.cpu},
                                                 static_cast<uint32_t>(keys.size()));
    if (added) keys.push_back(key);
    renumbered[i] = it->second;
  }
  if (keys.size() == profile.keys.size()) {
    profile.keys = std::move(keys);
    return;
  }
  profile.keys = std::move(keys);
  for (ProfileEntry& entry : profile.entries) entry.key = renumbered[entry.key];
  for (StackEntry& entry : profile.stacks) entry.key = renumbered[entry.key];
  MergeEntries(&ProfileEntry::location, profile.entries);
  MergeEntries(&StackEntry::node, profile.stacks);
}

}  // namespace

void Symbolize(Profile& profile, Symbolizer& symbolizer, const ProfileOptions& options) {
  const std::vector<ImageBatch> batches = BatchesOf(profile);
  std::vector<ImageSymbols> found(batches.size());
  const unsigned threads = options.threads != 0 ? options.threads : AvailableCpus();
  ParallelFor(batches.size(), threads, [&](size_t i, unsigned) {
    found[i] = symbolizer.Resolve(profile.images[batches[i].image], batches[i].addresses);
  });
  profile.symbols.clear();
  profile.source = {};
  for (size_t i = 0; i < batches.size(); ++i) WriteBack(batches[i], found[i], profile);
  if (!options.count_idle) TakeIdleOut(profile);  // Its note says more than those about single images.
  AddNotes(found, profile.facts.notes);
  JoinIdleTaskKeys(profile);
}

}  // namespace ksamp
