// SPDX-License-Identifier: Apache-2.0
// DwarfSections: the debug sections of an ELF file, as bytes to be read.
//
//   KSAMP_ASSIGN_OR_RETURN(DwarfSections sections, DwarfSections::Load(elf, DwarfSections::Kind::kMain));
//   DwarfCursor at(sections.info, 0, sections.foreign_byte_order);
//
// Plain sections are views into the image. Compressed ones (SHF_COMPRESSED, .zdebug_*) are inflated, at most
// kMaxInflatedBytes in all. Those of a relocatable file (.o, .ko) are copied and relocated: an address in a
// section of code becomes RelocatableAddress(section, offset) of elf_symbols.h, a reference into another
// debug section its offset.
//
// Views point into `elf`, which must outlive them. Immutable after Load; any number of threads may read.
#ifndef KSAMP_LIB_OBJECT_DWARF_SECTIONS_H_
#define KSAMP_LIB_OBJECT_DWARF_SECTIONS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/object/elf_image.h"

namespace ksamp {

struct DwarfSections {
  static constexpr uint64_t kMaxInflatedBytes = uint64_t{2} << 30;

  enum class Kind {
    kMain,   // .debug_info and so on
    kSplit,  // .debug_info.dwo and so on, of a .dwo or .dwp file
  };
  // [begin, end) of an executable section.
  struct Code {
    uint64_t begin = 0, end = 0;
  };

  std::span<const std::byte> info, abbrev, line, str, line_str, str_offsets, addr, ranges, rnglists;
  std::span<const std::byte> unit_index;  // .debug_cu_index of a .dwp
  bool foreign_byte_order = false;
  std::vector<Code> code;  // by address; empty where the file has no section headers for it

  // NotFound: there is no debug info. DataLoss, ResourceExhausted: a section cannot be inflated.
  static absl::StatusOr<DwarfSections> Load(const ElfImage& elf, Kind kind);

  // Code that the linker dropped keeps its debug info, at 0 or another place where no code is.
  bool IsCode(uint64_t address) const;
  uint64_t size() const;  // of all sections

 private:
  std::vector<std::vector<std::byte>> owned_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_DWARF_SECTIONS_H_
