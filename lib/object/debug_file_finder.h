// SPDX-License-Identifier: Apache-2.0
// Finds the file that holds the symbols and DWARF stripped from an ELF image, and tells what it tried.
//
//   DebugFile found = FindDebugFile(elf, "/usr/bin/foo", {"/usr/lib/debug"});
//   if (found.elf) AddElfSymbols(*found.elf, &builder);
//   for (const DebugFileCandidate& c : found.tried) std::cout << c.path << ": " << c.verdict << "\n";
//
// Tried in this order, the first that proves itself is taken:
//
//   DIR/.build-id/xx/yyyy.debug       for each debug directory; its build-id must be the image's
//   folder/NAME, folder/.debug/NAME,  NAME from .gnu_debuglink; its CRC must be the recorded one, and its
//   DIR/folder/NAME                   build-id the image's where both have one
//
// Only symbols and DWARF are of use there, both by ElfAddress: its program headers describe nothing that is
// in that file, and file offsets are translated by the running image's.
#ifndef KSAMP_LIB_OBJECT_DEBUG_FILE_FINDER_H_
#define KSAMP_LIB_OBJECT_DEBUG_FILE_FINDER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/object/elf_image.h"

namespace ksamp {

struct DebugFileCandidate {
  std::string path;
  std::string verdict;  // "used", "not found", "other build-id", "other CRC", …
};

struct DebugFile {
  std::optional<ElfImage> elf;
  std::string path;
  std::vector<DebugFileCandidate> tried;
};

// What .gnu_debuglink names; nothing where there is none, or one that names a path instead of a file.
struct DebugLink {
  std::string name;
  uint32_t crc = 0;
};
std::optional<DebugLink> ReadDebugLink(const ElfImage& elf);

DebugFile FindDebugFile(const ElfImage& elf, const std::string& path,
                        std::span<const std::string> debug_dirs);

// What .gnu_debugaltlink of `elf`, which is at `path`, names: the file that dwz moved shared debug info to.
// Beside `path` where the name is relative, else by its build-id, which must be the recorded one.
DebugFile FindAlternateFile(const ElfImage& elf, const std::string& path,
                            std::span<const std::string> debug_dirs);

// The symbols distributions leave in stripped files: the xz-compressed ELF file in .gnu_debugdata.
std::optional<ElfImage> ReadMiniDebugInfo(const ElfImage& elf);

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_DEBUG_FILE_FINDER_H_
