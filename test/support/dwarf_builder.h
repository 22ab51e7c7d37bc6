// SPDX-License-Identifier: Apache-2.0
// DwarfBytes and DwarfBuilder: debug info made in a test, byte by byte.
//
//   DwarfBuilder dwarf;
//   dwarf.abbrev.Abbrev(1, kTagCompileUnit, true, {{kAtLowPc, kFormAddr}, {kAtHighPc, kFormData4}}).Uleb(0);
//   dwarf.AddUnit(5, DwarfBytes().Uleb(1).U64(0x1000).U32(0x100).U8(0));
//   const ElfImage elf = dwarf.Elf();                       // its code is [0x1000, 0x9000)
//
// Little-endian, 4-byte offsets, 8-byte addresses.
#ifndef KSAMP_TEST_SUPPORT_DWARF_BUILDER_H_
#define KSAMP_TEST_SUPPORT_DWARF_BUILDER_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/object/elf_image.h"
#include "test/support/elf_builder.h"

namespace ksamp::testing {

class DwarfBytes {
 public:
  DwarfBytes& U8(uint64_t value) { return Number(value, 1); }
  DwarfBytes& U16(uint64_t value) { return Number(value, 2); }
  DwarfBytes& U32(uint64_t value) { return Number(value, 4); }
  DwarfBytes& U64(uint64_t value) { return Number(value, 8); }
  DwarfBytes& Uleb(uint64_t value);
  DwarfBytes& Sleb(int64_t value);
  DwarfBytes& Text(std::string_view text);  // and its NUL
  DwarfBytes& Append(const DwarfBytes& other);
  // An abbreviation: its code, and the (attribute, form) pairs.
  DwarfBytes& Abbrev(uint64_t code, uint16_t tag, bool children,
                     std::initializer_list<std::pair<uint16_t, uint16_t>> attributes);
  // Opcodes of a line program.
  DwarfBytes& SetAddress(uint64_t address);
  DwarfBytes& Row(uint64_t advance, int64_t line_advance);  // advance_pc, advance_line, copy
  DwarfBytes& EndSequence(uint64_t advance);

  const std::string& bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }

 private:
  DwarfBytes& Number(uint64_t value, size_t width);
  std::string bytes_;
};

struct DwarfBuilder {
  DwarfBytes info, abbrev, line, str, line_str, str_offsets, addr, ranges, rnglists;

  // Puts the header before `entries` and appends both to `info`; returns where the unit begins.
  uint64_t AddUnit(uint16_t version, const DwarfBytes& entries, uint64_t abbrevs = 0);
  // The bytes of a unit's header; what is at offset n of `entries` has this offset in the unit.
  static uint64_t HeaderSize(uint16_t version) { return version >= 5 ? 12 : 11; }
  // A version 4 line table with these file names in directory 0 (the unit's); returns its offset.
  uint64_t AddLineTable(const std::vector<std::string_view>& files, const DwarfBytes& program);

  // A unit of C in /src whose code [begin, begin + size) is of one line.
  static DwarfBuilder OneLine(uint64_t begin, uint64_t size, std::string_view file, uint64_t line);

  void AddTo(ElfBuilder* elf) const;  // the sections that are not empty
  std::string Bytes() const;          // of an ELF file with code at [0x1000, 0x9000)
  ElfImage Elf() const;
};

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_SUPPORT_DWARF_BUILDER_H_
