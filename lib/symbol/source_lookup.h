// SPDX-License-Identifier: Apache-2.0
// SourceLookup: adds to resolved symbols where in the source they and the addresses are.
//
//   SourceLookup lookup(options);
//   lookup.AddTo(elf, path, elf_addresses, symbol_starts, &found);
//
// The debug info is that of `elf`, else of its debug file. What could not be read is told in the notes; that
// there is no debug info at all is told too, since someone who asks for lines wants to know why there are
// none.
//
// Any number of threads may call.
#ifndef KSAMP_LIB_SYMBOL_SOURCE_LOOKUP_H_
#define KSAMP_LIB_SYMBOL_SOURCE_LOOKUP_H_

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "ksamp/symbolizer.h"
#include "lib/object/elf_image.h"

namespace ksamp {

class SourceLookup {
 public:
  // Stands for an address that is in no part of the file.
  static constexpr uint64_t kNowhere = std::numeric_limits<uint64_t>::max();

  // `options` must outlive it.
  explicit SourceLookup(const SymbolizerOptions& options) : options_(options) {}

  bool wanted() const { return options_.source != SourceDetail::kNone; }
  // `addresses`: of each address of `found`, as the debug info counts (ElfAddress, RelocatableAddress), in
  // any order; `starts`: the same of each symbol.
  void AddTo(const ElfImage& elf, const std::string& path, std::span<const uint64_t> addresses,
             std::span<const uint64_t> starts, ImageSymbols* found) const;

 private:
  const SymbolizerOptions& options_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_SYMBOL_SOURCE_LOOKUP_H_
