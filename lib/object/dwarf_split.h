// SPDX-License-Identifier: Apache-2.0
// DwarfSplitFiles: the units that -gsplit-dwarf left outside of the program: in .dwo files, or in one .dwp
// package.
//
//   const DwarfSplitFiles split("/usr/bin/prog");
//   if (auto found = split.Find(skeleton)) {
//     const DwarfUnitReader reader(found->file, found->unit(), abbrevs, &skeleton);
//
// The program keeps a skeleton of each unit: its addresses, its lines, and where the rest is. That is looked
// for in PROGRAM.dwp first, then where the compiler wrote it, then beside the program; its id must be the
// skeleton's.
//
// Any number of threads may call.
#ifndef KSAMP_LIB_OBJECT_DWARF_SPLIT_H_
#define KSAMP_LIB_OBJECT_DWARF_SPLIT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "lib/object/dwarf_file.h"
#include "lib/object/elf_image.h"

namespace ksamp {

struct DwarfSplitUnit {
  std::optional<ElfImage> elf;  // of a .dwo; what `file` points into
  DwarfFile file;
  size_t index = 0;
  const DwarfUnit& unit() const { return file.units()[index]; }
};

class DwarfSplitFiles {
 public:
  explicit DwarfSplitFiles(std::string program);

  std::optional<DwarfSplitUnit> Find(const DwarfUnitReader& skeleton) const;

 private:
  std::optional<DwarfSplitUnit> FindInPackage(uint64_t id) const;
  std::optional<DwarfSplitUnit> Open(const std::string& path, uint64_t id) const;

  std::string program_;
  std::optional<ElfImage> package_elf_;
  std::optional<DwarfSections> package_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_DWARF_SPLIT_H_
