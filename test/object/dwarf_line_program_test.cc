// SPDX-License-Identifier: Apache-2.0
#include "lib/object/dwarf_line_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "test/support/dwarf_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::DwarfBuilder;
using ::ksamp::testing::DwarfBytes;
using ::testing::ElementsAre;

class DwarfLineProgramTest : public ::testing::Test {
 protected:
  DwarfLineProgramTest() {
    dwarf_.abbrev.Abbrev(1, kTagCompileUnit, false, {{kAtName, kFormString}, {kAtCompDir, kFormString}})
        .Uleb(0);
  }

  // Loads what was built, its unit being of that version.
  void Load(uint16_t version, std::string_view directory = "/src") {
    dwarf_.AddUnit(version, DwarfBytes().Uleb(1).Text("main.c").Text(directory));
    elf_.emplace(dwarf_.Elf());
    file_.emplace(*DwarfFile::Load(*elf_));
    DwarfAbbrevCache cache(&work_);
    reader_.emplace(*file_, file_->units()[0], cache.Get(*file_, file_->units()[0]));
  }

  // "file:line" of each address, "-" where there is none.
  std::vector<std::string> Places(const std::vector<uint64_t>& addresses, uint64_t offset = 0) {
    const DwarfLineProgram program(*reader_, offset);
    std::vector<DwarfPlace> places(addresses.size());
    program.Run(addresses, &work_, places);
    std::vector<std::string> texts;
    for (const DwarfPlace& place : places) {
      texts.push_back(place.known ? std::to_string(place.file) + ":" + std::to_string(place.line) : "-");
    }
    return texts;
  }

  DwarfBuilder dwarf_;
  std::optional<ElfImage> elf_;
  std::optional<DwarfFile> file_;
  std::optional<DwarfUnitReader> reader_;
  DwarfWork work_{1 << 20};
};

TEST_F(DwarfLineProgramTest, AnAddressBelongsToTheLastRowAtOrBeforeIt) {
  dwarf_.AddLineTable({"main.c", "a.h"}, DwarfBytes()
                                             .SetAddress(0x1000)
                                             .Row(0, 9)  // 0x1000 line 10
                                             .Row(4, 1)  // 0x1004 line 11
                                             .U8(4)
                                             .Uleb(2)           // file 2
                                             .Row(4, 20)        // 0x1008 line 31 …
                                             .Row(0, 1)         // … and then 32, which counts
                                             .EndSequence(8));  // 0x1010
  Load(4);
  EXPECT_THAT(Places({0xfff, 0x1000, 0x1003, 0x1004, 0x1007, 0x1008, 0x100f, 0x1010}),
              ElementsAre("-", "1:10", "1:10", "1:11", "1:11", "2:32", "2:32", "-"));
}

TEST_F(DwarfLineProgramTest, SpecialAndOtherOpcodes) {
  // line_base -5, line_range 14, opcode_base 13: opcode 13 + 14 * 3 + 7 advances 3 bytes and 2 lines.
  dwarf_.AddLineTable({"main.c"}, DwarfBytes()
                                      .SetAddress(0x1000)
                                      .U8(13 + 6)           // +0, +1: 2
                                      .U8(13 + 14 * 3 + 7)  // 0x1003: 4
                                      .U8(8)
                                      .U8(1)  // const_add_pc: +17: 0x1014
                                      .U8(9)
                                      .U16(0x100)
                                      .U8(1)  // fixed_advance_pc: 0x1114
                                      .U8(5)
                                      .Uleb(3)  // column
                                      .U8(6)
                                      .U8(7)
                                      .U8(10)
                                      .U8(11)  // is_stmt, basic block, prologue, epilogue
                                      .U8(12)
                                      .Uleb(1)  // isa
                                      .U8(0)
                                      .Uleb(3)
                                      .U8(4)
                                      .U16(9)  // discriminator
                                      .EndSequence(1));
  Load(4);
  EXPECT_THAT(Places({0x1000, 0x1002, 0x1003, 0x1013, 0x1014, 0x1113, 0x1114, 0x1115}),
              ElementsAre("1:2", "1:2", "1:4", "1:4", "1:4", "1:4", "1:4", "-"));
}

TEST_F(DwarfLineProgramTest, SequencesInAnyOrderAndThoseOfDroppedCode) {
  dwarf_.AddLineTable({"main.c"}, DwarfBytes()
                                      .SetAddress(0)
                                      .Row(0, 98)
                                      .EndSequence(0x9000)  // was dropped
                                      .SetAddress(0x3000)
                                      .Row(0, 2)
                                      .EndSequence(0x10)
                                      .SetAddress(0x1000)
                                      .Row(0, 0)
                                      .EndSequence(0x10)
                                      .SetAddress(0x1008)
                                      .Row(0, 50)
                                      .EndSequence(0x10));
  Load(4);
  EXPECT_THAT(Places({0x1000, 0x1008, 0x1010, 0x2000, 0x3000}),
              ElementsAre("1:1", "1:1", "1:51", "-", "1:3"));
}

TEST_F(DwarfLineProgramTest, RowsThatGoBack) {
  dwarf_.AddLineTable({"main.c"},
                      DwarfBytes().SetAddress(0x1010).Row(0, 0).SetAddress(0x1000).Row(0, 1).EndSequence(8));
  Load(4);
  EXPECT_THAT(Places({0x1000, 0x1007, 0x1008, 0x1010}), ElementsAre("1:2", "1:2", "-", "-"));
}

TEST_F(DwarfLineProgramTest, PathsOfVersion4) {
  DwarfBytes header;
  header.U8(1).U8(1).U8(1).U8(0).U8(1).U8(1);
  header.Text("/usr/include").Text("sub").U8(0);
  header.Text("main.c").Uleb(0).Uleb(0).Uleb(0).Text("stdio.h").Uleb(1).Uleb(0).Uleb(0);
  header.Text("x.h").Uleb(2).Uleb(0).Uleb(0).Text("/abs.h").Uleb(2).Uleb(0).Uleb(0);
  header.Text("far.h").Uleb(77).Uleb(0).Uleb(0).U8(0);
  dwarf_.line.U32(2 + 4 + header.size() + 1).U16(4).U32(header.size()).Append(header).U8(1);
  Load(4);
  const DwarfLineProgram program(*reader_, 0);
  std::vector<std::string> paths;
  for (uint64_t i = 0; i < 7; ++i) paths.push_back(program.PathOf(i));
  EXPECT_THAT(paths, ElementsAre("/src/main.c", "/src/main.c", "/usr/include/stdio.h", "/src/sub/x.h",
                                 "/abs.h", "/src/far.h", ""));
}

TEST_F(DwarfLineProgramTest, TablesOfVersion5) {
  dwarf_.line_str.Text("/src").Text("sub").Text("main.c");
  DwarfBytes header;
  header.U8(1).U8(1).U8(1).U8(0).U8(1).U8(10);
  for (int i = 1; i < 10; ++i) header.U8(0);
  header.U8(1).Uleb(kLinePath).Uleb(kFormLineStrp).Uleb(2).U32(0).U32(5);
  header.U8(3).Uleb(kLinePath).Uleb(kFormLineStrp).Uleb(kLineDirectoryIndex).Uleb(kFormUdata);
  header.Uleb(5).Uleb(kFormData16).Uleb(2);  // and an MD5
  header.U32(9).Uleb(0).U64(0).U64(0).U32(9).Uleb(1).U64(0).U64(0);
  dwarf_.line.U32(2 + 2 + 4 + header.size() + 1).U16(5).U8(8).U8(0).U32(header.size()).Append(header).U8(1);
  Load(5, "/src");
  const DwarfLineProgram program(*reader_, 0);
  EXPECT_EQ(program.PathOf(0), "/src/main.c");
  EXPECT_EQ(program.PathOf(1), "/src/sub/main.c");
  EXPECT_EQ(program.PathOf(2), "");
}

TEST_F(DwarfLineProgramTest, DamagedHeadersGiveNothing) {
  dwarf_.line.U32(100).U16(4).U32(50);  // ends past the section
  const uint64_t second = dwarf_.line.size();
  dwarf_.line.U32(20)
      .U16(4)
      .U32(~uint64_t{0})
      .Append(DwarfBytes().U64(0).U64(0));  // header longer than its unit
  const uint64_t third = dwarf_.line.size();
  // Entries of no bytes, as many as a number can hold.
  DwarfBytes header;
  header.U8(1).U8(1).U8(1).U8(0).U8(1).U8(1).U8(0).Uleb(~uint64_t{0}).U8(0).Uleb(0);
  dwarf_.line.U32(2 + 2 + 4 + header.size()).U16(5).U8(8).U8(0).U32(header.size()).Append(header);
  Load(5);
  for (const uint64_t offset : {uint64_t{0}, second, third, ~uint64_t{0}}) {
    EXPECT_THAT(Places({0x1000}, offset), ElementsAre("-")) << offset;
    EXPECT_EQ(DwarfLineProgram(*reader_, offset).PathOf(0), "") << offset;
  }
}

TEST_F(DwarfLineProgramTest, WorkEndsAProgramThatCoversEverythingAgainAndAgain) {
  DwarfBytes program;
  for (int i = 0; i < 100; ++i) program.SetAddress(0x1000).Row(0, 1).EndSequence(0x7000);
  dwarf_.AddLineTable({"main.c"}, program);
  Load(4);
  std::vector<uint64_t> addresses;
  for (uint64_t i = 0; i < 1000; ++i) addresses.push_back(0x1000 + i);
  std::vector<DwarfPlace> places(addresses.size());
  DwarfWork little(program.size() + 5000);
  DwarfLineProgram(*reader_, 0).Run(addresses, &little, places);
  EXPECT_TRUE(little.spent());
  EXPECT_TRUE(places[0].known);
}

}  // namespace
}  // namespace ksamp
