// SPDX-License-Identifier: Apache-2.0
#include "lib/symbol/source_lookup.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "lib/base/parallel.h"
#include "lib/base/str_cat.h"
#include "lib/object/debug_file_finder.h"
#include "lib/object/debug_lines.h"
#include "lib/symbol/debug_dirs.h"

namespace ksamp {
namespace {

// What is asked, ascending and once.
std::vector<uint64_t> Sorted(std::span<const uint64_t> addresses) {
  std::vector<uint64_t> sorted;
  sorted.reserve(addresses.size());
  for (const uint64_t address : addresses) {
    if (address != SourceLookup::kNowhere) sorted.push_back(address);
  }
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

std::span<const SourceFrame> FramesOf(const SourceFrames& found, std::span<const uint64_t> asked,
                                      uint64_t address) {
  const auto it = std::lower_bound(asked.begin(), asked.end(), address);
  if (it == asked.end() || *it != address) return {};
  return found.Of(static_cast<size_t>(it - asked.begin()));
}

void AddSymbolLines(const DebugLines& lines, std::span<const uint64_t> starts, unsigned threads,
                    std::vector<Symbol>* symbols) {
  const std::vector<uint64_t> asked = Sorted(starts);
  const SourceFrames found = lines.Find(asked, {.inlined = false, .threads = threads});
  for (size_t i = 0; i < starts.size(); ++i) {
    const std::span<const SourceFrame> frames = FramesOf(found, asked, starts[i]);
    if (frames.empty() || frames[0].file == SourceFrame::kNone) continue;
    (*symbols)[i].file = found.files[frames[0].file];
    (*symbols)[i].line = frames[0].line;
  }
}

// The answer to a sorted question, in the order it was first put.
SourceFrames InOrder(SourceFrames found, std::span<const uint64_t> asked,
                     std::span<const uint64_t> addresses) {
  if (std::equal(asked.begin(), asked.end(), addresses.begin(), addresses.end())) return found;
  SourceFrames ordered;
  for (const uint64_t address : addresses) {
    ordered.first.push_back(static_cast<uint32_t>(ordered.frames.size()));
    const std::span<const SourceFrame> frames = FramesOf(found, asked, address);
    ordered.frames.insert(ordered.frames.end(), frames.begin(), frames.end());
  }
  ordered.first.push_back(static_cast<uint32_t>(ordered.frames.size()));
  ordered.functions = std::move(found.functions);
  ordered.files = std::move(found.files);
  ordered.notes = std::move(found.notes);
  return ordered;
}

}  // namespace

void SourceLookup::AddTo(const ElfImage& elf, const std::string& path, std::span<const uint64_t> addresses,
                         std::span<const uint64_t> starts, ImageSymbols* found) const {
  const DebugLines::Options options{.debug_dirs = DebugDirs(options_)};
  absl::StatusOr<DebugLines> lines = DebugLines::Open(elf, path, options);
  DebugFile debug;
  if (absl::IsNotFound(lines.status())) {
    debug = FindDebugFile(elf, path, DebugDirs(options_));
    if (debug.elf) lines = DebugLines::Open(*debug.elf, debug.path, options);
  }
  if (!lines.ok()) {
    found->notes.push_back(absl::IsNotFound(lines.status())
                               ? StrCat("no debug info for ", path, ": its lines are not known")
                               : StrCat(path, ": ", MessageOf(lines.status())));
    return;
  }
  const unsigned threads = options_.threads != 0 ? options_.threads : AvailableCpus();
  AddSymbolLines(*lines, starts, threads, &found->symbols);
  if (options_.source != SourceDetail::kSymbols) {
    const std::vector<uint64_t> asked = Sorted(addresses);
    const bool inlined = options_.source == SourceDetail::kInlined;
    found->source = InOrder(lines->Find(asked, {.inlined = inlined, .threads = threads}), asked, addresses);
  }
  for (const std::string& note : found->source.notes) found->notes.push_back(StrCat(path, ": ", note));
}

}  // namespace ksamp
