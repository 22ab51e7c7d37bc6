// SPDX-License-Identifier: Apache-2.0
#include "test/support/dwarf_builder.h"

#include <cstdlib>

#include "lib/base/byte_reader.h"
#include "lib/object/dwarf_constants.h"

namespace ksamp::testing {

DwarfBytes& DwarfBytes::Number(uint64_t value, size_t width) {
  for (size_t i = 0; i < width; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
  return *this;
}

DwarfBytes& DwarfBytes::Uleb(uint64_t value) {
  for (; value >= 0x80; value >>= 7) U8((value & 0x7f) | 0x80);
  return U8(value);
}

DwarfBytes& DwarfBytes::Sleb(int64_t value) {
  for (; value < -64 || value > 63; value >>= 7) U8((static_cast<uint64_t>(value) & 0x7f) | 0x80);
  return U8(static_cast<uint64_t>(value) & 0x7f);
}

DwarfBytes& DwarfBytes::Text(std::string_view text) {
  bytes_.append(text).push_back('\0');
  return *this;
}

DwarfBytes& DwarfBytes::Append(const DwarfBytes& other) {
  bytes_ += other.bytes_;
  return *this;
}

DwarfBytes& DwarfBytes::Abbrev(uint64_t code, uint16_t tag, bool children,
                               std::initializer_list<std::pair<uint16_t, uint16_t>> attributes) {
  Uleb(code).Uleb(tag).U8(children ? 1 : 0);
  for (const auto& [name, form] : attributes) Uleb(name).Uleb(form);
  return Uleb(0).Uleb(0);
}

DwarfBytes& DwarfBytes::SetAddress(uint64_t address) {
  return U8(0).Uleb(9).U8(2).U64(address);
}
DwarfBytes& DwarfBytes::Row(uint64_t advance, int64_t line_advance) {
  return U8(2).Uleb(advance).U8(3).Sleb(line_advance).U8(1);
}
DwarfBytes& DwarfBytes::EndSequence(uint64_t advance) {
  return U8(2).Uleb(advance).U8(0).Uleb(1).U8(1);
}

uint64_t DwarfBuilder::AddUnit(uint16_t version, const DwarfBytes& entries, uint64_t abbrevs) {
  const uint64_t begin = info.size();
  info.U32(HeaderSize(version) - 4 + entries.size()).U16(version);
  if (version >= 5) {
    info.U8(1).U8(8).U32(abbrevs);
  } else {
    info.U32(abbrevs).U8(8);
  }
  info.Append(entries);
  return begin;
}

uint64_t DwarfBuilder::AddLineTable(const std::vector<std::string_view>& files, const DwarfBytes& program) {
  DwarfBytes header;  // from minimum_instruction_length on
  header.U8(1).U8(1).U8(1).U8(static_cast<uint8_t>(-5)).U8(14).U8(13);
  for (const int operands : {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}) header.U8(static_cast<uint64_t>(operands));
  header.U8(0);
  for (const std::string_view file : files) header.Text(file).Uleb(0).Uleb(0).Uleb(0);
  header.U8(0);
  const uint64_t begin = line.size();
  line.U32(2 + 4 + header.size() + program.size()).U16(4).U32(header.size()).Append(header).Append(program);
  return begin;
}

DwarfBuilder DwarfBuilder::OneLine(uint64_t begin, uint64_t size, std::string_view file, uint64_t line) {
  DwarfBuilder dwarf;
  dwarf.abbrev
      .Abbrev(1, kTagCompileUnit, false,
              {{kAtCompDir, kFormString},
               {kAtStmtList, kFormSecOffset},
               {kAtLowPc, kFormAddr},
               {kAtHighPc, kFormData8},
               {kAtLanguage, kFormData1}})
      .Uleb(0);
  const uint64_t table = dwarf.AddLineTable(
      {file}, DwarfBytes().SetAddress(begin).Row(0, static_cast<int64_t>(line) - 1).EndSequence(size));
  dwarf.AddUnit(4, DwarfBytes().Uleb(1).Text("/src").U32(table).U64(begin).U64(size).U8(kLanguageC));
  return dwarf;
}

void DwarfBuilder::AddTo(ElfBuilder* elf) const {
  const std::pair<const char*, const DwarfBytes&> sections[] = {
      {".debug_info", info}, {".debug_abbrev", abbrev},     {".debug_line", line},
      {".debug_str", str},   {".debug_line_str", line_str}, {".debug_str_offsets", str_offsets},
      {".debug_addr", addr}, {".debug_ranges", ranges},     {".debug_rnglists", rnglists}};
  for (const auto& [name, content] : sections) {
    if (content.size() != 0) elf->AddSection(name, SHT_PROGBITS, 0, 0, content.bytes());
  }
}

std::string DwarfBuilder::Bytes() const {
  ElfBuilder elf;
  elf.AddCode(".text", 0x1000, 0x8000);
  AddTo(&elf);
  return elf.Build();
}

ElfImage DwarfBuilder::Elf() const {
  const std::string bytes = Bytes();
  const auto span = AsBytes(bytes);
  absl::StatusOr<ElfImage> elf = ElfImage::FromBytes({span.begin(), span.end()}, "made");
  if (!elf.ok()) std::abort();  // the builder's own mistake
  return *std::move(elf);
}

}  // namespace ksamp::testing
