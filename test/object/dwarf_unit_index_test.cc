// SPDX-License-Identifier: Apache-2.0
#include "lib/object/dwarf_unit_index.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "test/support/dwarf_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::DwarfBuilder;
using ::ksamp::testing::DwarfBytes;
using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;

// One unit for each list of ranges.
std::map<uint64_t, std::optional<uint32_t>> Ask(const std::vector<Ranges>& units,
                                                const std::vector<uint64_t>& addresses) {
  DwarfBuilder dwarf;
  dwarf.abbrev.Abbrev(1, kTagCompileUnit, false, {{kAtLowPc, kFormAddr}, {kAtRanges, kFormSecOffset}})
      .Uleb(0);
  for (const Ranges& ranges : units) {
    dwarf.AddUnit(4, DwarfBytes().Uleb(1).U64(0).U32(dwarf.ranges.size()));
    for (const auto& [low, high] : ranges) dwarf.ranges.U64(low).U64(high);
    dwarf.ranges.U64(0).U64(0);
  }
  const ElfImage elf = dwarf.Elf();
  const auto file = DwarfFile::Load(elf);
  EXPECT_THAT(file, testing::IsOk());
  DwarfWork work(1 << 20);
  const DwarfUnitIndex index = DwarfUnitIndex::Build(*file, &work);
  std::map<uint64_t, std::optional<uint32_t>> found;
  for (const uint64_t address : addresses) found[address] = index.Find(address);
  return found;
}

using Found = std::map<uint64_t, std::optional<uint32_t>>;

TEST(DwarfUnitIndexTest, RangesOfSeveralUnits) {
  const auto found = Ask({{{0x2000, 0x2100}, {0x1000, 0x1010}}, {{0x1010, 0x1020}}},
                         {0xfff, 0x1000, 0x100f, 0x1010, 0x101f, 0x1020, 0x20ff, 0x2100});
  EXPECT_EQ(found, (Found{{0xfff, {}},
                          {0x1000, 0},
                          {0x100f, 0},
                          {0x1010, 1},
                          {0x101f, 1},
                          {0x1020, {}},
                          {0x20ff, 0},
                          {0x2100, {}}}));
}

TEST(DwarfUnitIndexTest, WhatSeveralClaimIsTheFirstOnes) {
  const auto found = Ask({{{0x1020, 0x1030}}, {{0x1000, 0x1100}}, {{0x1028, 0x1040}}},
                         {0x1000, 0x1020, 0x102f, 0x1030, 0x10ff});
  EXPECT_EQ(found, (Found{{0x1000, 1}, {0x1020, 0}, {0x102f, 0}, {0x1030, 1}, {0x10ff, 1}}));
}

TEST(DwarfUnitIndexTest, DroppedCodeAndEmptyRangesAreNothing) {
  const auto found =
      Ask({{{0x1, 0x8000}, {0x1200, 0x1200}, {0x1300, 0x1000}}, {{0x1000, 0x1010}}}, {0x500, 0x1005, 0x1200});
  EXPECT_EQ(found, (Found{{0x500, {}}, {0x1005, 1}, {0x1200, {}}}));
}

TEST(DwarfUnitIndexTest, HighPcIsALengthOrAnAddress) {
  DwarfBuilder dwarf;
  dwarf.abbrev.Abbrev(1, kTagCompileUnit, false, {{kAtLowPc, kFormAddr}, {kAtHighPc, kFormData4}});
  dwarf.abbrev.Abbrev(2, kTagCompileUnit, false, {{kAtLowPc, kFormAddr}, {kAtHighPc, kFormAddr}});
  dwarf.abbrev.Abbrev(3, kTagPartialUnit, false, {{kAtLowPc, kFormAddr}, {kAtHighPc, kFormAddr}}).Uleb(0);
  dwarf.AddUnit(4, DwarfBytes().Uleb(3).U64(0x1000).U64(0x8000));
  dwarf.AddUnit(4, DwarfBytes().Uleb(1).U64(0x1000).U32(0x10));
  dwarf.AddUnit(4, DwarfBytes().Uleb(2).U64(0x2000).U64(0x2010));
  const ElfImage elf = dwarf.Elf();
  ASSERT_OK_AND_ASSIGN(const DwarfFile file, DwarfFile::Load(elf));
  DwarfWork work(1 << 20);
  const DwarfUnitIndex index = DwarfUnitIndex::Build(file, &work);
  EXPECT_EQ(index.Find(0x100f), 1u);
  EXPECT_EQ(index.Find(0x1010), std::nullopt);
  EXPECT_EQ(index.Find(0x200f), 2u);
  EXPECT_EQ(index.Find(0x2010), std::nullopt);
}

}  // namespace
}  // namespace ksamp
