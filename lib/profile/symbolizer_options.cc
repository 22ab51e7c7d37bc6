// SPDX-License-Identifier: Apache-2.0
#include <linux/perf_event.h>

#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "ksamp/profile.h"
#include "lib/process/image_kind.h"

namespace ksamp {
namespace {

std::string TextOrNothing(absl::StatusOr<std::string> text) {
  return text.ok() ? *std::move(text) : std::string();
}

// Build-id and relocation of the kernel, from its own map at the start of the recording.
void AddKernelMap(const Recording& recording, KernelTables& kernel) {
  for (const RawRecord& raw : recording.side_records()) {
    if (raw.type != PERF_RECORD_MMAP && raw.type != PERF_RECORD_MMAP2) continue;
    const absl::StatusOr<Record> record = recording.Decode(raw);
    if (!record.ok()) continue;
    const auto* map = std::get_if<MmapRecord>(&record->body);
    if (map == nullptr || map->mode != CpuMode::kKernel) continue;
    const ImageName name = ClassifyKernelPath(map->path);
    if (name.kind != ImageKind::kKernel) continue;
    kernel.build_id.assign(map->build_id.bytes.begin(), map->build_id.bytes.end());
    kernel.reference_symbol = name.reference_symbol;
    if (!name.reference_symbol.empty()) kernel.reference_address = map->file_offset;
    return;
  }
}

}  // namespace

SymbolizerOptions SymbolizerOptionsFor(const Recording& recording) {
  SymbolizerOptions options;
  KernelTables& kernel = options.kernel;
  kernel.kallsyms = TextOrNothing(recording.KernelSymbols());
  kernel.modules = TextOrNothing(recording.KernelModules());
  kernel.module_sections = TextOrNothing(recording.ModuleSections());
  kernel.os_release = recording.facts().os_release;
  kernel.hostname = recording.facts().hostname;
  AddKernelMap(recording, kernel);
  for (const BuildIdEntry& entry : recording.facts().build_ids)
    if (kernel.build_id.empty() && entry.path.starts_with("[kernel")) kernel.build_id = entry.build_id;
  // A pid that was used twice has two: their lines follow each other, and the later ones win where both name
  // the same memory.
  for (CodeFile& file : recording.CodeFiles()) {
    if (file.kind == CodeFileKind::kPerfMap)
      options.perf_maps[file.pid] += std::move(file.bytes);
    else
      options.jit_dumps.push_back({file.pid, std::move(file.path), std::move(file.bytes)});
  }
  return options;
}

}  // namespace ksamp
