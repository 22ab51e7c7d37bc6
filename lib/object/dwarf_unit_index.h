// SPDX-License-Identifier: Apache-2.0
// DwarfUnitIndex: which unit an address's code was compiled in.
//
//   const DwarfUnitIndex index = DwarfUnitIndex::Build(file, &work);
//   std::optional<uint32_t> unit = index.Find(address);          // index into file.units()
//
// From the ranges in the root entries of the units, not from .debug_aranges: compilers may leave that out
// (clang does), for some units only where they are linked together, and reading the roots takes no longer.
// Where several units claim an address (identical functions that the linker folded), it is the first one's.
//
// Immutable.
#ifndef KSAMP_LIB_OBJECT_DWARF_UNIT_INDEX_H_
#define KSAMP_LIB_OBJECT_DWARF_UNIT_INDEX_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/object/dwarf_file.h"

namespace ksamp {

class DwarfUnitIndex {
 public:
  static DwarfUnitIndex Build(const DwarfFile& file, DwarfWork* work);

  std::optional<uint32_t> Find(uint64_t address) const;

 private:
  struct Range {
    uint64_t begin, end;
    uint32_t unit;
  };
  void Add(uint64_t begin, uint64_t end, uint32_t unit);
  void Separate();

  std::vector<Range> ranges_;  // by address, not overlapping
};

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_DWARF_UNIT_INDEX_H_
