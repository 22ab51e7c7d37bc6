// SPDX-License-Identifier: Apache-2.0
#include <linux/perf_event.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ksamp/profile.h"
#include "lib/base/str_cat.h"
#include "lib/process/image_kind.h"

namespace ksamp {
namespace {

// Mappings by which processes showed that they write a jitdump, each file once.
std::vector<Image> MappedJitDumps(const Recording& recording) {
  std::vector<Image> mapped;
  std::set<std::pair<uint32_t, std::string>> seen;
  for (const RawRecord& raw : recording.side_records()) {
    if (raw.type != PERF_RECORD_MMAP && raw.type != PERF_RECORD_MMAP2) continue;
    const absl::StatusOr<Record> record = recording.Decode(raw);
    const auto* map = record.ok() ? std::get_if<MmapRecord>(&record->body) : nullptr;
    if (map == nullptr || !IsJitDumpPath(map->path)) continue;
    if (!seen.emplace(map->pid, map->path).second) continue;
    Image image;
    image.path = std::string(map->path);
    image.pid = map->pid;
    image.start = ProcessAddress(map->addr);
    image.end = ProcessAddress(map->addr) + map->length;
    mapped.push_back(std::move(image));
  }
  return mapped;
}

}  // namespace

std::vector<JitDumpText> FindJitDumps(const Recording& recording, const SymbolizerOptions& options,
                                      std::vector<std::string>* notes) {
  std::vector<JitDumpText> dumps = SymbolizerOptionsFor(recording).jit_dumps;
  for (const Image& mapped : MappedJitDumps(recording)) {
    const bool stored = std::any_of(dumps.begin(), dumps.end(), [&](const JitDumpText& dump) {
      return dump.pid == mapped.pid && dump.path == mapped.path;
    });
    if (stored) continue;
    absl::StatusOr<JitDumpText> read = ReadJitDump(mapped, options);
    if (read.ok()) {
      dumps.push_back(*std::move(read));
    } else {
      notes->push_back(StrCat("generated code of process ", mapped.pid, ": ", MessageOf(read.status())));
    }
  }
  return dumps;
}

}  // namespace ksamp
