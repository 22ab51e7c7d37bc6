// SPDX-License-Identifier: Apache-2.0
// DebugLines: addresses of an image -> source lines and the calls inlined there, from its DWARF.
//
//   KSAMP_ASSIGN_OR_RETURN(const DebugLines lines, DebugLines::Open(elf, path, {}));
//   const SourceFrames found = lines.Find(addresses, {.inlined = true});      // ElfAddresses, ascending,
//   unique for (const SourceFrame& frame : found.Of(i))                              // innermost first
//     std::cout << found.functions[frame.function].name << " " << found.files[frame.file] << ":" <<
//     frame.line;
//
// Our own reader rather than libdw's, because of how a profiler asks: for thousands of addresses at once,
// which are known beforehand, from several threads, in files from elsewhere. So
//
//   - only units that have a wanted address are touched, one thread each at a time, each once;
//   - a unit's line program is run, and its entries are walked, for all of its addresses together: what does
//   not concern
//     one of them is stepped over and never stored, so memory does not grow with the debug info;
//   - every read is checked, and the work for made-up debug info is bounded (DwarfWork).
//
// DWARF 2 to 5; compressed sections; relocatable files; units that dwz moved apart (.gnu_debugaltlink); split
// units
// (.dwo files and .dwp packages), whose absence leaves lines without inlined calls and is told in `notes`.
//
// Immutable after Open; Find may be called by any number of threads.
#ifndef KSAMP_LIB_OBJECT_DEBUG_LINES_H_
#define KSAMP_LIB_OBJECT_DEBUG_LINES_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ksamp/source_lines.h"
#include "lib/object/elf_image.h"

namespace ksamp {

class DebugLines {
 public:
  struct Options {
    std::vector<std::string> debug_dirs = {"/usr/lib/debug"};  // for what .gnu_debugaltlink names
  };
  struct Query {
    bool inlined = true;  // false: only the line of each address, in one frame without function
    unsigned threads = 1;
  };

  DebugLines(DebugLines&&) noexcept;
  DebugLines& operator=(DebugLines&&) noexcept;
  ~DebugLines();

  // `elf`: the image, or its separate debug file, which must outlive this; `path`: where it is, to find other
  // files from. NotFound: it has no debug info. DataLoss, ResourceExhausted: it cannot be read.
  static absl::StatusOr<DebugLines> Open(const ElfImage& elf, const std::string& path,
                                         const Options& options);

  // Requires: `addresses` ascending and unique. Of a relocatable file they are RelocatableAddresses.
  SourceFrames Find(std::span<const uint64_t> addresses, const Query& query) const;

 private:
  struct Content;
  explicit DebugLines(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_DEBUG_LINES_H_
