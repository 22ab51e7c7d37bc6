// SPDX-License-Identifier: Apache-2.0
// DwarfLineProgram: the line table of a unit (.debug_line, versions 2 to 5), run for the addresses that are
// wanted.
//
//   const DwarfLineProgram program(reader, offset);
//   program.Run(addresses, &work, places);               // places[i]: file number and line of addresses[i]
//   std::string path = program.PathOf(places[0].file);
//
// The table is a program that yields one row after another, by address within a sequence. So nothing is
// stored and nothing sorted: each row only asks whether a wanted address lies before the next. An address
// belongs to the last row at or before it; of several sequences with it, to the first. Sequences where no
// code is are left out: they are of functions the linker dropped, and often begin at 0.
//
// For one thread; `reader` must outlive it.
#ifndef KSAMP_LIB_OBJECT_DWARF_LINE_PROGRAM_H_
#define KSAMP_LIB_OBJECT_DWARF_LINE_PROGRAM_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/object/dwarf_file.h"

namespace ksamp {

struct DwarfPlace {
  uint32_t file = 0, line = 0;  // number in the unit's table; line 0: the compiler says it is of no line
  bool known = false;
};

// What a table's header says about its opcodes.
struct DwarfLineSettings {
  uint8_t min_instruction = 1, max_operations = 1, line_range = 1, opcode_base = 1;
  int8_t line_base = 0;
  std::vector<uint8_t> operand_counts;  // of each opcode below opcode_base
};

class DwarfLineProgram {
 public:
  // A damaged header gives a program without files and rows.
  DwarfLineProgram(const DwarfUnitReader& reader, uint64_t offset);

  // Requires: `addresses` ascending and unique, `places` as many.
  void Run(std::span<const uint64_t> addresses, DwarfWork* work, std::span<DwarfPlace> places) const;
  // Made absolute by the unit's directory where the table has it relative; "" for a number it does not have.
  std::string PathOf(uint64_t file) const;

 private:
  struct File {
    std::string_view name;
    uint64_t directory = 0;
  };
  struct EntryFormat {
    uint16_t content = 0, form = 0;
  };
  void ReadHeader(DwarfCursor at);
  void ReadOldTables(DwarfCursor* at);
  void ReadTables(DwarfCursor* at);
  std::vector<EntryFormat> ReadFormats(DwarfCursor* at) const;
  File ReadEntry(DwarfCursor* at, std::span<const EntryFormat> formats) const;

  const DwarfUnitReader& reader_;
  DwarfEncoding encoding_;
  std::vector<std::string_view> directories_;
  std::vector<File> files_;
  uint64_t program_ = 0, end_ = 0;
  DwarfLineSettings settings_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_DWARF_LINE_PROGRAM_H_
