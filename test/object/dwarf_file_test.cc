// SPDX-License-Identifier: Apache-2.0
#include "lib/object/dwarf_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "test/support/dwarf_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::DwarfBuilder;
using ::ksamp::testing::DwarfBytes;
using ::testing::ElementsAre;
using ::testing::Pair;

DwarfUnitReader ReaderOf(const DwarfFile& file, size_t unit = 0) {
  static DwarfWork work(1 << 20);
  DwarfAbbrevCache cache(&work);
  return {file, file.units()[unit], cache.Get(file, file.units()[unit])};
}

std::vector<std::pair<uint64_t, uint64_t>> RootRanges(const DwarfUnitReader& reader) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  DwarfWork work(1 << 20);
  const DwarfUnitRoot& root = reader.root();
  reader.ForEachRange({root.low, root.high, root.ranges}, &work,
                      [&](uint64_t low, uint64_t high) { ranges.emplace_back(low, high); });
  return ranges;
}

TEST(DwarfFileTest, FindsUnitsOfAllVersions) {
  DwarfBuilder dwarf;
  dwarf.abbrev.Abbrev(1, kTagCompileUnit, false, {{kAtName, kFormString}}).Uleb(0);
  const DwarfBytes root = DwarfBytes().Uleb(1).Text("a.c");
  for (uint16_t version = 2; version <= 5; ++version) dwarf.AddUnit(version, root);
  // The 64-bit format, a type unit, and a version from the future, which is left out.
  dwarf.info.U32(0xffffffff).U64(2 + 8 + 1 + root.size()).U16(4).U64(0).U8(8).Append(root);
  dwarf.info.U32(2 + 2 + 4 + 8 + 4 + root.size()).U16(5).U8(2).U8(8).U32(0).U64(0x1234).U32(0).Append(root);
  dwarf.AddUnit(6, root);
  const ElfImage elf = dwarf.Elf();
  ASSERT_OK_AND_ASSIGN(const DwarfFile file, DwarfFile::Load(elf));
  ASSERT_EQ(file.units().size(), 6u);
  for (size_t i = 0; i < file.units().size(); ++i) {
    const DwarfUnitReader reader = ReaderOf(file, i);
    ASSERT_TRUE(reader.ok()) << i;
    EXPECT_EQ(reader.root().name, "a.c") << i;
    EXPECT_EQ(file.UnitAt(file.units()[i].first_entry), &file.units()[i]);
    EXPECT_EQ(file.UnitAt(file.units()[i].begin), nullptr) << "a header is no entry";
  }
  EXPECT_EQ(file.units()[4].encoding.offset_size, 8);
  EXPECT_EQ(file.units()[5].type, kUnitType);
  EXPECT_EQ(file.UnitAt(1 << 20), nullptr);
}

TEST(DwarfFileTest, StopsAtAUnitThatIsLongerThanTheSection) {
  DwarfBuilder dwarf;
  dwarf.abbrev.Abbrev(1, kTagCompileUnit, false, {}).Uleb(0);
  dwarf.AddUnit(5, DwarfBytes().Uleb(1));
  dwarf.info.U32(1000).U16(5).U8(1).U8(8).U32(0).U8(1);
  const ElfImage elf = dwarf.Elf();
  ASSERT_OK_AND_ASSIGN(const DwarfFile file, DwarfFile::Load(elf));
  EXPECT_EQ(file.units().size(), 1u);
}

TEST(DwarfFileTest, TextsAndAddressesByIndexWhereTheBaseComesLater) {
  DwarfBuilder dwarf;
  dwarf.str.Text("zero").Text("name").Text("dir");
  dwarf.str_offsets.U32(12).U16(5).U16(0).U32(5).U32(10);
  dwarf.addr.U32(12).U16(5).U8(8).U8(0).U64(0x1000).U64(0x2000);
  dwarf.abbrev
      .Abbrev(1, kTagCompileUnit, false,
              {{kAtName, kFormStrx1},
               {kAtCompDir, kFormStrx},
               {kAtLowPc, kFormAddrx1},
               {kAtHighPc, kFormUdata},
               {kAtStrOffsetsBase, kFormSecOffset},
               {kAtAddrBase, kFormSecOffset}})
      .Uleb(0);
  dwarf.AddUnit(5, DwarfBytes().Uleb(1).U8(0).Uleb(1).U8(1).Uleb(0x30).U32(8).U32(8));
  const ElfImage elf = dwarf.Elf();
  ASSERT_OK_AND_ASSIGN(const DwarfFile file, DwarfFile::Load(elf));
  const DwarfUnitReader reader = ReaderOf(file);
  EXPECT_EQ(reader.root().name, "name");
  EXPECT_EQ(reader.root().directory, "dir");
  EXPECT_EQ(reader.root().low_pc, 0x2000u);
  EXPECT_THAT(RootRanges(reader), ElementsAre(Pair(0x2000, 0x2030)));
}

TEST(DwarfFileTest, IndicesOutsideOfTheirTables) {
  DwarfBuilder dwarf;
  dwarf.str_offsets.U32(12).U16(5).U16(0).U32(1 << 30);
  dwarf.abbrev
      .Abbrev(1, kTagCompileUnit, false,
              {{kAtName, kFormStrx},
               {kAtCompDir, kFormStrx},
               {kAtLowPc, kFormAddrx},
               {kAtHighPc, kFormUdata},
               {kAtStrOffsetsBase, kFormSecOffset}})
      .Uleb(0);
  dwarf.AddUnit(5, DwarfBytes().Uleb(1).Uleb(0).Uleb(~uint64_t{0}).Uleb(1).Uleb(1).U32(8));
  const ElfImage elf = dwarf.Elf();
  ASSERT_OK_AND_ASSIGN(const DwarfFile file, DwarfFile::Load(elf));
  const DwarfUnitReader reader = ReaderOf(file);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.root().name, "");
  EXPECT_EQ(reader.root().directory, "");
  EXPECT_THAT(RootRanges(reader), ElementsAre());
}

TEST(DwarfFileTest, OldRanges) {
  DwarfBuilder dwarf;
  dwarf.ranges.U64(0x10).U64(0x20).U64(~uint64_t{0}).U64(0x5000).U64(1).U64(2).U64(0).U64(0).U64(7).U64(8);
  dwarf.abbrev.Abbrev(1, kTagCompileUnit, false, {{kAtLowPc, kFormAddr}, {kAtRanges, kFormSecOffset}})
      .Uleb(0);
  dwarf.AddUnit(4, DwarfBytes().Uleb(1).U64(0x1000).U32(0));
  const ElfImage elf = dwarf.Elf();
  ASSERT_OK_AND_ASSIGN(const DwarfFile file, DwarfFile::Load(elf));
  EXPECT_THAT(RootRanges(ReaderOf(file)), ElementsAre(Pair(0x1010, 0x1020), Pair(0x5001, 0x5002)));
}

TEST(DwarfFileTest, EveryKindOfNewRange) {
  DwarfBuilder dwarf;
  dwarf.addr.U64(0x1000).U64(0x2000);
  dwarf.rnglists.U32(0).U16(5).U8(8).U8(0).U32(1).U32(4);  // header, one offset
  dwarf.rnglists.U8(kRangeOffsetPair).Uleb(1).Uleb(2);
  dwarf.rnglists.U8(kRangeBaseAddress).U64(0x3000).U8(kRangeOffsetPair).Uleb(0).Uleb(0x10);
  dwarf.rnglists.U8(kRangeBaseAddressx).Uleb(1).U8(kRangeOffsetPair).Uleb(0).Uleb(0x10);
  dwarf.rnglists.U8(kRangeStartEnd).U64(0x4000).U64(0x4001);
  dwarf.rnglists.U8(kRangeStartLength).U64(0x5000).Uleb(3);
  dwarf.rnglists.U8(kRangeStartxLength).Uleb(0).Uleb(4).U8(kRangeStartxEndx).Uleb(0).Uleb(1);
  dwarf.rnglists.U8(kRangeStartxLength).Uleb(99).Uleb(4);  // no such address
  dwarf.rnglists.U8(kRangeEndOfList).U8(kRangeStartLength).U64(0x9000).Uleb(3);
  dwarf.abbrev
      .Abbrev(1, kTagCompileUnit, false,
              {{kAtRanges, kFormRnglistx}, {kAtLowPc, kFormAddr}, {kAtRnglistsBase, kFormSecOffset}})
      .Uleb(0);
  dwarf.AddUnit(5, DwarfBytes().Uleb(1).Uleb(0).U64(0x7000).U32(12));
  const ElfImage elf = dwarf.Elf();
  ASSERT_OK_AND_ASSIGN(const DwarfFile file, DwarfFile::Load(elf));
  EXPECT_THAT(
      RootRanges(ReaderOf(file)),
      ElementsAre(Pair(0x7001, 0x7002), Pair(0x3000, 0x3010), Pair(0x2000, 0x2010), Pair(0x4000, 0x4001),
                  Pair(0x5000, 0x5003), Pair(0x1000, 0x1004), Pair(0x1000, 0x2000)));
}

TEST(DwarfFileTest, ReferencesLeadIntoTheFileDwzMade) {
  DwarfBuilder shared;
  shared.info.U8(0);
  shared.abbrev.U8(0);
  shared.str.Text("there");
  const ElfImage shared_elf = shared.Elf();
  ASSERT_OK_AND_ASSIGN(const DwarfFile alternate, DwarfFile::Load(shared_elf));
  DwarfBuilder dwarf;
  dwarf.abbrev.Abbrev(1, kTagCompileUnit, false, {{kAtName, kFormGnuStrpAlt}}).Uleb(0);
  dwarf.AddUnit(4, DwarfBytes().Uleb(1).U32(0));
  const ElfImage elf = dwarf.Elf();
  ASSERT_OK_AND_ASSIGN(DwarfFile file, DwarfFile::Load(elf));
  EXPECT_EQ(ReaderOf(file).root().name, "") << "the other file is not there";
  EXPECT_FALSE(ReaderOf(file).ReferenceOf({.form = kFormGnuRefAlt, .number = 5, .text = {}}));
  file.set_alternate(&alternate);
  const DwarfUnitReader reader = ReaderOf(file);
  EXPECT_EQ(reader.root().name, "there");
  EXPECT_EQ(reader.ReferenceOf({.form = kFormGnuRefAlt, .number = 5, .text = {}}),
            (DwarfReference{&alternate, 5}));
  EXPECT_EQ(reader.ReferenceOf({.form = kFormRef4, .number = 5, .text = {}}), (DwarfReference{&file, 5}));
}

TEST(DwarfFileTest, WorkEndsAnEndlessList) {
  DwarfBuilder dwarf;
  for (int i = 0; i < 1000; ++i) dwarf.ranges.U64(1).U64(2);
  dwarf.abbrev.Abbrev(1, kTagCompileUnit, false, {{kAtLowPc, kFormAddr}, {kAtRanges, kFormSecOffset}})
      .Uleb(0);
  dwarf.AddUnit(4, DwarfBytes().Uleb(1).U64(0x1000).U32(0));
  const ElfImage elf = dwarf.Elf();
  ASSERT_OK_AND_ASSIGN(const DwarfFile file, DwarfFile::Load(elf));
  const DwarfUnitReader reader = ReaderOf(file);
  DwarfWork work(10);
  int calls = 0;
  reader.ForEachRange({{}, {}, reader.root().ranges}, &work, [&](uint64_t, uint64_t) { ++calls; });
  EXPECT_EQ(calls, 9);
  EXPECT_TRUE(work.spent());
}

}  // namespace
}  // namespace ksamp
