// SPDX-License-Identifier: Apache-2.0
// FindInlinedCalls: which function of a unit each wanted address is in, and which calls were inlined around
// it.
//
//   InlinedCalls found = FindInlinedCalls(reader, addresses, &work);
//   for (uint32_t at = found.innermost[i]; at != InlinedCalls::kNone; at = found.calls[at].outer)
//     std::cout << NameOf(found.calls[at].entry);
//
// One walk over the unit's entries for all its addresses. Functions without a wanted address are stepped over
// with everything in them; in the others, the last entry whose code holds the address is the innermost.
// Functions nested in others or in types (Fortran, Ada, GNU C) are looked for in a second walk, and only for
// addresses the first one left.
#ifndef KSAMP_LIB_OBJECT_DWARF_INLINE_WALK_H_
#define KSAMP_LIB_OBJECT_DWARF_INLINE_WALK_H_

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "lib/object/dwarf_file.h"

namespace ksamp {

struct InlinedCalls {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  // A function, or an inlined copy of one.
  struct Call {
    uint64_t entry = 0;           // its offset in .debug_info
    uint32_t outer = kNone;       // index into `calls`: what it was inlined into
    uint32_t file = 0, line = 0;  // where `outer` calls it; of an inlined copy only
    uint32_t depth = 1;           // how many there are with it up to the function
  };
  std::vector<Call> calls;
  std::vector<uint32_t> innermost;  // of each address, index into `calls`
};

// Requires: `addresses` ascending and unique.
InlinedCalls FindInlinedCalls(const DwarfUnitReader& reader, std::span<const uint64_t> addresses,
                              DwarfWork* work);

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_DWARF_INLINE_WALK_H_
