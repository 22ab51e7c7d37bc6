// SPDX-License-Identifier: Apache-2.0
// UserSymbolizer: file offsets of ELF files and of the vdso -> symbols.
//
//   UserSymbolizer user(options, &index);
//   ImageSymbols found = user.Resolve(image, file_offsets);
//
// A file is opened by, in this order: root + path; the live process (/proc/PID/map_files/START-END, then
// /proc/PID/root/path); a file of that basename below the -p directories. The first with the recorded
// build-id is taken. Where the recording has no build-id the first that opens is, and nothing is claimed;
// then -p must have exactly one. The process is asked only on the recorded machine, and without a build-id
// only where it still maps that range.
//
// Where the file is stripped, its debug file (debug_file_finder.h) or .gnu_debugdata adds symbols.
//
// Any number of threads may call for different images.
#ifndef KSAMP_LIB_SYMBOL_USER_SYMBOLIZER_H_
#define KSAMP_LIB_SYMBOL_USER_SYMBOLIZER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ksamp/image.h"
#include "ksamp/symbolizer.h"
#include "lib/object/elf_image.h"
#include "lib/symbol/image_index.h"
#include "lib/symbol/recorded_machine.h"
#include "lib/symbol/symbol_collector.h"

namespace ksamp {

class UserSymbolizer {
 public:
  // Both must outlive the symbolizer.
  UserSymbolizer(const SymbolizerOptions& options, ImageIndex* index)
      : options_(options), index_(index), recorded_here_(MayBeRecordedMachine(options)) {}

  ImageSymbols Resolve(const Image& image, std::span<const uint64_t> file_offsets);

 private:
  struct Opened {
    std::optional<ElfImage> elf;
    std::string path;
    UnresolvedReason reason = UnresolvedReason::kFileNotFound;
    std::vector<std::string> notes;
  };
  Opened OpenFile(const Image& image);
  Opened OpenVdso(const Image& image);
  static void Refuse(UnresolvedReason reason, std::string note, Opened* opened);
  bool Try(const std::string& path, const Image& image, Opened* opened);
  void TryProcess(const Image& image, Opened* opened);
  void TryIndex(const Image& image, Opened* opened);
  std::vector<uint64_t> ResolveIn(const Opened& opened, std::span<const uint64_t> file_offsets,
                                  SymbolCollector* collect);

  const SymbolizerOptions& options_;
  ImageIndex* index_;
  const bool recorded_here_;  // Live processes are those of the recording.
};

}  // namespace ksamp

#endif  // KSAMP_LIB_SYMBOL_USER_SYMBOLIZER_H_
