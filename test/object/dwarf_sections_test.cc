// SPDX-License-Identifier: Apache-2.0
#include "lib/object/dwarf_sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lib/base/byte_reader.h"
#include "lib/object/elf_symbols.h"
#include "test/support/dwarf_builder.h"
#include "test/support/elf_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::DwarfBuilder;
using ::ksamp::testing::DwarfBytes;
using ::ksamp::testing::ElfBuilder;
using ::ksamp::testing::StatusIs;
using ::testing::HasSubstr;

ElfImage Open(const ElfBuilder& builder) {
  const std::string bytes = builder.Build();
  const auto span = AsBytes(bytes);
  return *ElfImage::FromBytes({span.begin(), span.end()}, "made");
}

std::string BigEndian64(uint64_t value) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
  return bytes;
}

// A zlib stream of one stored block.
std::string Stored(const std::string& text) {
  const auto size = static_cast<uint16_t>(text.size());
  uint32_t a = 1, b = 0;
  for (const char c : text) {
    a = (a + static_cast<uint8_t>(c)) % 65521;
    b = (b + a) % 65521;
  }
  DwarfBytes head = DwarfBytes().U16(0x0178).U8(1).U16(size).U16(static_cast<uint16_t>(~size));
  return head.bytes() + text + BigEndian64(uint64_t{b} << 16 | a).substr(4);
}

TEST(DwarfSectionsTest, ViewsOfPlainSections) {
  DwarfBuilder dwarf;
  dwarf.info.Text("info");
  dwarf.abbrev.Text("abbrev");
  dwarf.str.Text("str");
  const ElfImage elf = dwarf.Elf();
  ASSERT_OK_AND_ASSIGN(const DwarfSections sections, DwarfSections::Load(elf, DwarfSections::Kind::kMain));
  EXPECT_EQ(AsText(sections.info), std::string_view("info", 5));
  EXPECT_EQ(AsText(sections.str), std::string_view("str", 4));
  EXPECT_EQ(sections.info.data(), elf.RawBytes(*elf.FindSection(".debug_info")).data()) << "not copied";
  EXPECT_TRUE(sections.ranges.empty());
  EXPECT_EQ(sections.size(), 5u + 7u + 4u);
}

TEST(DwarfSectionsTest, WithoutDebugInfo) {
  EXPECT_THAT(DwarfSections::Load(DwarfBuilder().Elf(), DwarfSections::Kind::kMain).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no .debug_info")));
  DwarfBuilder dwarf;
  dwarf.info.Text("info");
  dwarf.abbrev.Text("abbrev");
  EXPECT_THAT(DwarfSections::Load(dwarf.Elf(), DwarfSections::Kind::kSplit).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no .debug_info.dwo")));
}

TEST(DwarfSectionsTest, InflatesBothKindsOfCompression) {
  ElfBuilder elf;
  const std::string header = DwarfBytes().U32(ELFCOMPRESS_ZLIB).U32(0).U64(4).U64(1).bytes();
  elf.AddSection(".debug_info", SHT_PROGBITS, SHF_COMPRESSED, 0, header + Stored("info"));
  elf.AddSection(".zdebug_abbrev", SHT_PROGBITS, 0, 0, "ZLIB" + BigEndian64(6) + Stored("abbrev"));
  ASSERT_OK_AND_ASSIGN(const DwarfSections sections,
                       DwarfSections::Load(Open(elf), DwarfSections::Kind::kMain));
  EXPECT_EQ(AsText(sections.info), "info");
  EXPECT_EQ(AsText(sections.abbrev), "abbrev");
}

TEST(DwarfSectionsTest, DoesNotBelieveASizeThatTheBytesCannotHold) {
  for (const bool old : {false, true}) {
    ElfBuilder elf;
    const uint64_t size = uint64_t{400} << 20;
    const std::string header = DwarfBytes().U32(ELFCOMPRESS_ZLIB).U32(0).U64(size).U64(1).bytes();
    if (old) {
      elf.AddSection(".zdebug_info", SHT_PROGBITS, 0, 0, "ZLIB" + BigEndian64(size) + Stored("info"));
    } else {
      elf.AddSection(".debug_info", SHT_PROGBITS, SHF_COMPRESSED, 0, header + Stored("info"));
    }
    EXPECT_THAT(DwarfSections::Load(Open(elf), DwarfSections::Kind::kMain).status(),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("claim to hold")));
  }
}

TEST(DwarfSectionsTest, KnowsWhereCodeIs) {
  ElfBuilder elf;
  elf.AddCode(".text", 0x2000, 0x100);
  elf.AddCode(".init", 0x1000, 0x10);
  elf.AddSection(".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x3000, "data");
  elf.AddSection(".debug_info", SHT_PROGBITS, 0, 0, "info");
  elf.AddSection(".debug_abbrev", SHT_PROGBITS, 0, 0, "abbrev");
  ASSERT_OK_AND_ASSIGN(const DwarfSections sections,
                       DwarfSections::Load(Open(elf), DwarfSections::Kind::kMain));
  for (const uint64_t code : {0x1000, 0x100f, 0x2000, 0x20ff}) EXPECT_TRUE(sections.IsCode(code)) << code;
  for (const uint64_t none : {0, 0x1010, 0x2100, 0x3000}) EXPECT_FALSE(sections.IsCode(none)) << none;
}

TEST(DwarfSectionsTest, RelocatesWhatIsNotLinked) {
  ElfBuilder elf({.type = ET_REL});
  const uint16_t text = elf.AddCode(".text", 0, 0x100);
  const uint16_t str = elf.AddSection(".debug_str", SHT_PROGBITS, 0, 0, "abc");
  const uint16_t info = elf.AddSection(".debug_info", SHT_PROGBITS, 0, 0, std::string(16, '\0'));
  elf.AddSection(".debug_abbrev", SHT_PROGBITS, 0, 0, "abbrev");
  elf.AddSymbol("in_text", 0x10, 0, text, STT_SECTION, STB_LOCAL);
  elf.AddSymbol("in_str", 0, 0, str, STT_SECTION, STB_LOCAL);
  DwarfBytes relocations;
  const auto add = [&](uint64_t offset, uint64_t symbol, uint64_t type, uint64_t addend) {
    relocations.U64(offset).U64(symbol << 32 | type).U64(addend);
  };
  add(0, 1, R_X86_64_64, 4);
  add(8, 2, R_X86_64_32, 2);
  add(12, 1, R_X86_64_PC32, 2);  // no compiler puts that there
  add(15, 2, R_X86_64_32, 2);    // past the end
  add(0, 99, R_X86_64_NONE, 2);
  elf.AddRelocations(".rela.debug_info", info, relocations.bytes());
  ASSERT_OK_AND_ASSIGN(const DwarfSections sections,
                       DwarfSections::Load(Open(elf), DwarfSections::Kind::kMain));
  const DwarfBytes expected = DwarfBytes().U64(RelocatableAddress(text, 0x14)).U32(2).U32(0);
  EXPECT_EQ(AsText(sections.info), expected.bytes());
}

}  // namespace
}  // namespace ksamp
