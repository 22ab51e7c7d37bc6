// SPDX-License-Identifier: Apache-2.0
// .symtab and .dynsym of an ELF image as candidates for a SymbolTable.
//
//   SymbolTableBuilder builder(addresses);
//   AddElfSymbols(elf, &builder);
//   AddPltSymbols(elf, &builder);
//
// Symbols are what lies in executable sections, functions and labels alike; not symbols are section and file
// symbols, undefined ones, mapping symbols of ARM and RISC-V ($a $t $d $x), compiler labels (.L…) and
// gcc2_compiled. The Thumb bit is taken off.
//
// Addresses are ElfAddresses. An ET_REL file (.o, .ko) has none: its sections all begin at 0. There an
// address is made of section and offset, see RelocatableAddress.
#ifndef KSAMP_LIB_OBJECT_ELF_SYMBOLS_H_
#define KSAMP_LIB_OBJECT_ELF_SYMBOLS_H_

#include <cstdint>

#include "lib/object/elf_image.h"
#include "lib/object/symbol_table.h"

namespace ksamp {

// Unique numbers for places in an ET_REL file, increasing with section and offset.
constexpr uint64_t RelocatableAddress(uint64_t section_index, uint64_t offset) {
  return (section_index << 40) | (offset & ((uint64_t{1} << 40) - 1));
}

// There is a .symtab: the image was not stripped, its debug file has nothing more.
bool HasSymtab(const ElfImage& elf);

// Adds all symbols of all symbol tables; says how many. `elf` must outlive the table built.
size_t AddElfSymbols(const ElfImage& elf, SymbolTableBuilder* builder);

// Names the stubs of .plt and .plt.sec "function@plt" (x86, aarch64), as objdump does.
size_t AddPltSymbols(const ElfImage& elf, SymbolTableBuilder* builder);

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_ELF_SYMBOLS_H_
