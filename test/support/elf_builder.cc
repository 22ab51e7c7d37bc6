// SPDX-License-Identifier: Apache-2.0
#include "test/support/elf_builder.h"

namespace ksamp::testing {

ElfBuilder::ElfBuilder(Options options) : options_(options), sections_(1), symbol_names_(1, '\0') {
  symbols_.assign(options_.is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym), '\0');
}

void ElfBuilder::Put(std::string* out, uint64_t value, size_t width) const {
  for (size_t i = 0; i < width; ++i) {
    const size_t shift = 8 * (options_.big_endian ? width - 1 - i : i);
    out->push_back(static_cast<char>(value >> shift & 0xff));
  }
}

uint16_t ElfBuilder::AddSection(std::string_view name, uint32_t type, uint64_t flags, uint64_t addr,
                                std::string_view content, uint64_t virtual_size, uint32_t link) {
  Section section;
  section.name = name;
  section.content = content;
  section.type = type;
  section.flags = flags;
  section.addr = addr;
  section.link = link;
  section.size = type == SHT_NOBITS ? virtual_size : content.size();
  sections_.push_back(section);
  return static_cast<uint16_t>(sections_.size() - 1);
}

void ElfBuilder::AddRelocations(std::string_view name, uint16_t target, std::string_view entries) {
  AddSection(name, SHT_RELA, 0, 0, entries);
  sections_.back().info = target;
}

uint16_t ElfBuilder::AddCode(std::string_view name, uint64_t addr, uint64_t size) {
  return AddSection(name, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, addr, std::string(size, '\x90'));
}

void ElfBuilder::AddSymbol(std::string_view name, uint64_t value, uint64_t size, uint16_t section,
                           unsigned type, unsigned binding, unsigned visibility) {
  const uint64_t name_offset = symbol_names_.size();
  symbol_names_.append(name).push_back('\0');
  const unsigned info = binding << 4 | type;
  Put(&symbols_, name_offset, 4);
  if (options_.is_64) {
    Put(&symbols_, info, 1);
    Put(&symbols_, visibility, 1);
    Put(&symbols_, section, 2);
    Put(&symbols_, value, 8);
    Put(&symbols_, size, 8);
  } else {
    Put(&symbols_, value, 4);
    Put(&symbols_, size, 4);
    Put(&symbols_, info, 1);
    Put(&symbols_, visibility, 1);
    Put(&symbols_, section, 2);
  }
}

std::string ElfBuilder::Note(std::string_view id) const {
  std::string note;
  Put(&note, 4, 4);
  Put(&note, id.size(), 4);
  Put(&note, NT_GNU_BUILD_ID, 4);
  note.append("GNU\0", 4).append(id);
  note.resize((note.size() + 3) / 4 * 4);
  return note;
}

void ElfBuilder::AddBuildId(std::string_view id) {
  AddSection(".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0, Note(id));
}

std::string ElfBuilder::FileHeader(uint64_t section_headers_at, size_t section_count) const {
  const bool wide = options_.is_64;
  std::string out(
      "\x7f"
      "ELF",
      4);
  out.push_back(wide ? ELFCLASS64 : ELFCLASS32);
  out.push_back(options_.big_endian ? ELFDATA2MSB : ELFDATA2LSB);
  out.push_back(EV_CURRENT);
  out.resize(EI_NIDENT);
  Put(&out, options_.type, 2);
  Put(&out, options_.machine, 2);
  Put(&out, EV_CURRENT, 4);
  PutWord(&out, 0);
  PutWord(&out, segments_.empty() ? 0 : (wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)));
  PutWord(&out, section_headers_at);
  Put(&out, 0, 4);
  Put(&out, wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), 2);
  Put(&out, wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), 2);
  Put(&out, segments_.size(), 2);
  Put(&out, wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), 2);
  Put(&out, section_count, 2);
  Put(&out, section_count - 1, 2);  // names come last
  return out;
}

std::string ElfBuilder::SegmentHeader(const Segment& segment) const {
  std::string out;
  Put(&out, segment.type, 4);
  if (options_.is_64) Put(&out, segment.flags, 4);
  PutWord(&out, segment.offset);
  PutWord(&out, segment.vaddr);
  PutWord(&out, segment.vaddr);
  PutWord(&out, segment.filesz);
  PutWord(&out, segment.memsz == 0 ? segment.filesz : segment.memsz);
  if (!options_.is_64) Put(&out, segment.flags, 4);
  PutWord(&out, segment.align);
  return out;
}

std::string ElfBuilder::SectionHeader(const Section& section, uint64_t name_offset, uint64_t offset) const {
  std::string out;
  Put(&out, name_offset, 4);
  Put(&out, section.type, 4);
  PutWord(&out, section.flags);
  PutWord(&out, section.addr);
  PutWord(&out, offset);
  PutWord(&out, section.size);
  Put(&out, section.link, 4);
  Put(&out, section.info, 4);
  PutWord(&out, 1);
  PutWord(&out, section.entsize);
  return out;
}

std::string ElfBuilder::Build() const {
  std::vector<Section> all = sections_;
  const auto append = [&all](std::string_view name, uint32_t type, std::string content) {
    Section section;
    section.name = name;
    section.type = type;
    section.size = content.size();
    section.content = std::move(content);
    all.push_back(section);
  };
  for (Section& section : all) {
    if (section.type == SHT_RELA && section.link == 0) section.link = static_cast<uint32_t>(sections_.size());
  }
  if (options_.symtab) {
    append(".symtab", SHT_SYMTAB, symbols_);
    all.back().link = static_cast<uint32_t>(all.size());
    append(".strtab", SHT_STRTAB, symbol_names_);
  }
  std::string names(1, '\0');
  std::vector<uint64_t> name_offsets;
  append(".shstrtab", SHT_STRTAB, "");
  for (const Section& section : all) {
    name_offsets.push_back(names.size());
    names.append(section.name).push_back('\0');
  }
  all.back().content = names;
  all.back().size = names.size();

  std::string body;
  for (const Segment& segment : segments_) body.append(SegmentHeader(segment));
  const uint64_t header_size = options_.is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
  std::string headers;
  for (size_t i = 0; i < all.size(); ++i) {
    headers.append(SectionHeader(all[i], name_offsets[i], header_size + body.size()));
    body.append(all[i].content);
    body.resize((body.size() + 15) / 16 * 16);
  }
  return FileHeader(header_size + body.size(), all.size()) + body + headers;
}

}  // namespace ksamp::testing
