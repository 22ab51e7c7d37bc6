// SPDX-License-Identifier: Apache-2.0
// PerfMapSymbolizer: runtime addresses in memory without a file -> the functions a runtime said it generated
// there.
//
//   PerfMapSymbolizer generated(options);
//   ImageSymbols found = generated.Resolve(image, addresses);
//
// The perf-PID.map of the image's process (lib/object/perf_map.h) is looked for in this order:
//
//   the recording         copied when the process or the recording ended
//   /proc/PID/root/tmp/   in the process's own file system and numbers, while it runs and still has
//                         executable memory there (a pid may be another process by now)
//   /tmp/                 where it has ended, on the machine and with the kernel that were recorded; with -R
//                         below that root
//
// and believed only from the process's own user or root (lib/os/process_root.h). A process that forked
// without exec runs its parent's code: the parent's map names it, as for perf.
//
// A map is read once, at the first address of its process. Any number of threads may call.
#ifndef KSAMP_LIB_SYMBOL_PERF_MAP_SYMBOLIZER_H_
#define KSAMP_LIB_SYMBOL_PERF_MAP_SYMBOLIZER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ksamp/image.h"
#include "ksamp/symbolizer.h"
#include "lib/object/perf_map.h"
#include "lib/os/process_root.h"

namespace ksamp {

// The file system of the process that has `image` mapped, or had it: where the files it left about its code
// are. Nothing where that process is none of this machine.
std::optional<ProcessRoot> RootOfProcess(const Image& image, const SymbolizerOptions& options);

class PerfMapSymbolizer {
 public:
  // `options` must outlive the symbolizer.
  explicit PerfMapSymbolizer(const SymbolizerOptions& options) : options_(options) {}

  ImageSymbols Resolve(const Image& image, std::span<const uint64_t> addresses);

 private:
  struct Source {
    std::once_flag loaded;
    PerfMap map;
    std::string file;                // empty: there is none
    std::vector<std::string> notes;  // why one was not believed
  };
  std::shared_ptr<Source> SourceOf(const Image& image);
  void Load(const Image& image, Source& source) const;
  static void Read(const ProcessRoot& root, Source& source);

  const SymbolizerOptions& options_;
  std::mutex mutex_;
  absl::flat_hash_map<uint32_t, std::shared_ptr<Source>> sources_;  // by pid
};

}  // namespace ksamp

#endif  // KSAMP_LIB_SYMBOL_PERF_MAP_SYMBOLIZER_H_
