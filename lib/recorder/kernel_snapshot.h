// SPDX-License-Identifier: Apache-2.0
// The kernel snapshot: what a recording must hold so that its kernel samples read right on another machine,
// after a reboot, after a module was unloaded (design D4).
//
//   maps       the kernel's text and each module, as MMAP2 records of pid -1 with build-ids, the way perf
//   writes
//              them: `[kernel.kallsyms]_text` with the reference symbol's address in place of an offset,
//              modules by the path of their .ko
//   features   /proc/kallsyms, /proc/modules and the executable sections of modules, each one zstd frame
//              (kKsampKernelSymbols, kKsampModules, kKsampModuleSections)
//   notes      what the kernel hid, whole sentences
//
//   KernelSnapshot snapshot = TakeKernelSnapshot({});
//   options.preamble.merge(snapshot.features);
//   snapshot.Append(layout, sink);
//   …at the end…
//   AppendKernelImages(NewModules(snapshot, {}), layout, sink);      // loaded while recording
//
// Costs what the kernel needs to print its symbols: some 30 ms, once, before the counting starts. Nothing
// here fails: what cannot be read is missing from the snapshot and told in a note.
#ifndef KSAMP_LIB_RECORDER_KERNEL_SNAPSHOT_H_
#define KSAMP_LIB_RECORDER_KERNEL_SNAPSHOT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lib/event/sample_layout.h"
#include "lib/os/proc_fs.h"
#include "lib/perfdata/writer.h"
#include "lib/recorder/build_id_cache.h"
#include "lib/recorder/synthesizer.h"

namespace ksamp {

struct KernelSnapshotOptions {
  bool symbols = true;  // --no-kernel-symbols: maps only
  std::string proc_root = "/proc", sys_root = "/sys";
  std::string modules_root = "/lib/modules";  // holds RELEASE/modules.dep
};

// The kernel or one module where it lies.
struct KernelImage {
  std::string path;  // "[kernel.kallsyms]_text", "/lib/modules/6.1.0/kernel/fs/9p/9p.ko", "[loop]"
  uint64_t address = 0, length = 0, file_offset = 0;
  StoredBuildId build_id;
};

struct KernelSnapshot {
  std::vector<KernelImage> images;  // the kernel first, then modules by address
  FeatureMap features;
  std::vector<std::string> notes;
  std::vector<LoadedModule> modules;

  // All images as MMAP2 records.
  absl::Status Append(const SampleLayout& layout, const RecordSink& sink) const;
};

KernelSnapshot TakeKernelSnapshot(const KernelSnapshotOptions& options);

// Modules that are loaded now and were not when `before` was taken.
std::vector<KernelImage> NewModules(const KernelSnapshot& before, const KernelSnapshotOptions& options);

// `time` 0: they were always there.
absl::Status AppendKernelImages(const std::vector<KernelImage>& images, const SampleLayout& layout,
                                const RecordSink& sink, uint64_t time = 0);

}  // namespace ksamp

#endif  // KSAMP_LIB_RECORDER_KERNEL_SNAPSHOT_H_
