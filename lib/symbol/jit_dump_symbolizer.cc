// SPDX-License-Identifier: Apache-2.0
#include "lib/symbol/jit_dump_symbolizer.h"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "lib/base/byte_reader.h"
#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "lib/os/process_root.h"
#include "lib/symbol/perf_map_symbolizer.h"
#include "lib/symbol/symbol_collector.h"

namespace ksamp {

absl::StatusOr<JitDumpText> ReadJitDump(const Image& mapped, const SymbolizerOptions& options) {
  const std::optional<ProcessRoot> root = RootOfProcess(mapped, options);
  if (!root)
    return absl::NotFoundError(
        StrCat("open ", mapped.path, ": process ", mapped.pid, " is not of this machine"));
  absl::StatusOr<UniqueFd> fd = root->OpenOwned(mapped.path);
  if (!fd.ok()) return fd.status();
  absl::StatusOr<std::string> bytes =
      ReadAll(fd->get(), StrCat(root->name(), mapped.path), JitDump::kMaxFileBytes);
  if (!bytes.ok()) return bytes.status();
  const absl::StatusOr<JitDump> dump = JitDump::Read(AsBytes(*bytes));
  if (!dump.ok())
    return absl::Status(dump.status().code(), StrCat(mapped.path, ": ", MessageOf(dump.status())));
  return JitDumpText{mapped.pid, mapped.path, dump->ToText()};
}

absl::StatusOr<GeneratedFunctions> FunctionsOf(const JitDumpText& dump) {
  const absl::StatusOr<JitDump> read = JitDump::FromText(dump.functions);
  if (!read.ok())
    return absl::Status(read.status().code(), StrCat(dump.path, ": ", MessageOf(read.status())));
  GeneratedFunctions out{.opened = read->opened(), .has_time = read->has_time(), .functions = {}};
  out.functions.reserve(read->functions().size());
  for (const JitFunction& f : read->functions()) out.functions.push_back({f.time, f.start, f.size, f.place});
  return out;
}

void JitDumpSymbolizer::Load() {
  for (const JitDumpText& text : options_.jit_dumps) {
    const absl::StatusOr<JitDump> dump = JitDump::FromText(text.functions);
    if (!dump.ok()) continue;
    std::vector<JitFunction>& functions = dumps_[{text.pid, text.path}];
    functions = dump->functions();
    // Moves repeat a place; the first entry is the one that was generated.
    std::stable_sort(functions.begin(), functions.end(),
                     [](const JitFunction& a, const JitFunction& b) { return a.place < b.place; });
  }
}

ImageSymbols JitDumpSymbolizer::Resolve(const Image& image, std::span<const uint64_t> places) {
  std::call_once(loaded_, [this] { Load(); });
  SymbolCollector collect(places.size());
  collect.NoneFound(UnresolvedReason::kBetweenSymbols);
  const auto dump = dumps_.find({image.pid, image.path});
  if (dump == dumps_.end()) return std::move(collect).Take();
  const std::vector<JitFunction>& functions = dump->second;
  collect.SetFile(image.path);
  for (size_t i = 0; i < places.size(); ++i) {
    collect.SetElf(i, ElfAddress(places[i]));
    const auto after = std::upper_bound(functions.begin(), functions.end(), places[i],
                                        [](uint64_t place, const JitFunction& f) { return place < f.place; });
    if (after == functions.begin()) continue;
    auto found = std::prev(after);
    while (found != functions.begin() && std::prev(found)->place == found->place) --found;
    if (places[i] - found->place >= found->size) continue;
    collect.SetElf(i, ElfAddress(found->start + (places[i] - found->place)));
    collect.Found(i, static_cast<uint64_t>(found - functions.begin()), found->name, found->start,
                  found->size);
  }
  return std::move(collect).Take();
}

}  // namespace ksamp
