// SPDX-License-Identifier: Apache-2.0
// ElfBuilder: small ELF files made in a test, byte by byte, in either class and byte order.
//
//   ElfBuilder elf({.type = ET_DYN});
//   const uint16_t text = elf.AddSection(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, code);
//   elf.AddSymbol("main", 0x1000, 16, text, STT_FUNC, STB_GLOBAL);
//   elf.AddSegment({.flags = PF_R | PF_X, .offset = 0x200, .vaddr = 0x1200, .filesz = 0x100});
//   tree.Write("prog", elf.Build());
#ifndef KSAMP_TEST_SUPPORT_ELF_BUILDER_H_
#define KSAMP_TEST_SUPPORT_ELF_BUILDER_H_

#include <elf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ksamp::testing {

class ElfBuilder {
 public:
  struct Options {
    uint16_t type = ET_DYN;
    uint16_t machine = EM_X86_64;
    bool is_64 = true;
    bool big_endian = false;
    bool symtab = true;  // false: stripped
  };
  struct Segment {
    uint32_t type = PT_LOAD, flags = PF_R | PF_X;
    uint64_t offset = 0, vaddr = 0, filesz = 0, memsz = 0, align = 0x1000;
  };

  explicit ElfBuilder(Options options);
  ElfBuilder() : ElfBuilder(Options{}) {}

  // Returns the section's index. `virtual_size` is for NOBITS, `link` the index of a section it needs.
  uint16_t AddSection(std::string_view name, uint32_t type, uint64_t flags, uint64_t addr,
                      std::string_view content, uint64_t virtual_size = 0, uint32_t link = 0);
  // SHT_RELA entries, in this file's layout, for section `target`; their symbols are those of AddSymbol,
  // from 1.
  void AddRelocations(std::string_view name, uint16_t target, std::string_view entries);
  // Code: ".text"-like, `size` bytes of it.
  uint16_t AddCode(std::string_view name, uint64_t addr, uint64_t size);
  void AddSymbol(std::string_view name, uint64_t value, uint64_t size, uint16_t section,
                 unsigned type = STT_FUNC, unsigned binding = STB_GLOBAL, unsigned visibility = STV_DEFAULT);
  void AddSegment(const Segment& segment) { segments_.push_back(segment); }
  void AddBuildId(std::string_view id);

  std::string Build() const;

 private:
  struct Section {
    std::string name, content;
    uint32_t type = 0, link = 0, info = 0;
    uint64_t flags = 0, addr = 0, size = 0, entsize = 0;
  };
  void Put(std::string* out, uint64_t value, size_t width) const;
  void PutWord(std::string* out, uint64_t value) const { Put(out, value, options_.is_64 ? 8 : 4); }
  std::string Note(std::string_view id) const;
  std::string FileHeader(uint64_t section_headers_at, size_t section_count) const;
  std::string SegmentHeader(const Segment& segment) const;
  std::string SectionHeader(const Section& section, uint64_t name_offset, uint64_t offset) const;

  Options options_;
  std::vector<Section> sections_;
  std::vector<Segment> segments_;
  std::string symbols_, symbol_names_;
};

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_SUPPORT_ELF_BUILDER_H_
