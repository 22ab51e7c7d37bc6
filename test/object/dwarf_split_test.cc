// SPDX-License-Identifier: Apache-2.0
#include "lib/object/dwarf_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/support/dwarf_builder.h"
#include "test/support/elf_builder.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::DwarfBuilder;
using ::ksamp::testing::DwarfBytes;
using ::ksamp::testing::ElfBuilder;
using ::ksamp::testing::TempTree;

DwarfBytes UnitOf(uint8_t type, uint64_t id, const DwarfBytes& entries) {
  return DwarfBytes().U32(16 + entries.size()).U16(5).U8(type).U8(8).U32(0).U64(id).Append(entries);
}

// A split unit that names itself.
std::string SplitFile(uint64_t id, std::string_view name) {
  DwarfBytes abbrev;
  abbrev.Abbrev(1, kTagCompileUnit, false, {{kAtName, kFormString}}).Uleb(0);
  ElfBuilder elf;
  elf.AddSection(".debug_info.dwo", SHT_PROGBITS, 0, 0,
                 UnitOf(kUnitSplitCompile, id, DwarfBytes().Uleb(1).Text(name)).bytes());
  elf.AddSection(".debug_abbrev.dwo", SHT_PROGBITS, 0, 0, abbrev.bytes());
  return elf.Build();
}

// Two such units, with an index of a hash table of 4 slots.
std::string Package(uint64_t first, uint64_t second) {
  DwarfBytes abbrev;
  abbrev.Abbrev(1, kTagCompileUnit, false, {{kAtName, kFormString}}).Uleb(0);
  const DwarfBytes a = UnitOf(kUnitSplitCompile, first, DwarfBytes().Uleb(1).Text("first"));
  const DwarfBytes b = UnitOf(kUnitSplitCompile, second, DwarfBytes().Uleb(1).Text("second"));
  uint64_t ids[4] = {}, rows[4] = {};
  const auto add = [&](uint64_t id, uint64_t row) {
    uint64_t slot = id & 3;
    while (rows[slot] != 0) slot = (slot + ((id >> 32 & 3) | 1)) & 3;
    ids[slot] = id;
    rows[slot] = row;
  };
  add(first, 1);
  add(second, 2);
  DwarfBytes index = DwarfBytes().U16(5).U16(0).U32(2).U32(2).U32(4);
  for (const uint64_t id : ids) index.U64(id);
  for (const uint64_t row : rows) index.U32(row);
  index.U32(1).U32(3);                       // .debug_info, .debug_abbrev
  index.U32(0).U32(0).U32(a.size()).U32(0);  // offsets
  index.U32(a.size()).U32(abbrev.size()).U32(b.size()).U32(abbrev.size());
  ElfBuilder elf;
  elf.AddSection(".debug_info.dwo", SHT_PROGBITS, 0, 0, DwarfBytes(a).Append(b).bytes());
  elf.AddSection(".debug_abbrev.dwo", SHT_PROGBITS, 0, 0, abbrev.bytes());
  elf.AddSection(".debug_cu_index", SHT_PROGBITS, 0, 0, index.bytes());
  return elf.Build();
}

class DwarfSplitTest : public ::testing::Test {
 protected:
  // The name the split unit says it has; "" where none is found.
  std::string Find(uint64_t id, std::string_view name, std::string_view directory) {
    DwarfBuilder dwarf;
    dwarf.abbrev.Abbrev(1, kTagSkeletonUnit, false, {{kAtDwoName, kFormString}, {kAtCompDir, kFormString}})
        .Uleb(0);
    dwarf.info.Append(UnitOf(kUnitSkeleton, id, DwarfBytes().Uleb(1).Text(name).Text(directory)));
    const ElfImage elf = dwarf.Elf();
    const DwarfFile file = *DwarfFile::Load(elf);
    DwarfWork work(1 << 20);
    DwarfAbbrevCache cache(&work);
    const DwarfUnitReader skeleton(file, file.units()[0], cache.Get(file, file.units()[0]));
    const DwarfSplitFiles split(tree_.Path("bin/prog"));
    const std::optional<DwarfSplitUnit> found = split.Find(skeleton);
    if (!found) return "";
    const DwarfUnitReader reader(found->file, found->unit(), cache.Get(found->file, found->unit()),
                                 &skeleton);
    return std::string(reader.root().name);
  }
  const TempTree tree_;
};

TEST_F(DwarfSplitTest, WhereTheCompilerWroteItOrBesideTheProgram) {
  tree_.Write("build/a.dwo", SplitFile(7, "built"));
  tree_.Write("bin/sub/b.dwo", SplitFile(8, "beside"));
  tree_.Write("bin/c.dwo", SplitFile(9, "moved"));
  EXPECT_EQ(Find(7, "a.dwo", tree_.Path("build")), "built");
  EXPECT_EQ(Find(7, tree_.Path("build/a.dwo"), "/nowhere"), "built");
  EXPECT_EQ(Find(8, "sub/b.dwo", "/nowhere"), "beside");
  EXPECT_EQ(Find(9, "sub/c.dwo", "/nowhere"), "moved");
  EXPECT_EQ(Find(9, "d.dwo", "/nowhere"), "");
}

TEST_F(DwarfSplitTest, AnotherBuildsIsNotTaken) {
  tree_.Write("build/a.dwo", SplitFile(7, "built"));
  EXPECT_EQ(Find(6, "a.dwo", tree_.Path("build")), "");
}

TEST_F(DwarfSplitTest, UnitsOfAPackage) {
  // Both want the same slot, so the second steps on.
  const uint64_t first = 0x1'0000'0002, second = 0x3'0000'0002;
  tree_.Write("bin/prog.dwp", Package(first, second));
  EXPECT_EQ(Find(first, "a.dwo", "/nowhere"), "first");
  EXPECT_EQ(Find(second, "b.dwo", "/nowhere"), "second");
  EXPECT_EQ(Find(5, "c.dwo", "/nowhere"), "");
}

TEST_F(DwarfSplitTest, DamagedPackages) {
  const std::string whole = Package(2, 3);
  const ElfImage elf = *ElfImage::FromBytes({reinterpret_cast<const std::byte*>(whole.data()),
                                             reinterpret_cast<const std::byte*>(whole.data()) + whole.size()},
                                            "whole");
  const ElfSection& index = *elf.FindSection(".debug_cu_index");
  for (size_t at = 0; at < index.size; ++at) {
    std::string damaged = whole;
    damaged[index.offset + at] = '\xff';
    tree_.Write("bin/prog.dwp", damaged);
    EXPECT_THAT(Find(2, "a.dwo", "/nowhere"), ::testing::AnyOf("", "first"));
  }
}

}  // namespace
}  // namespace ksamp
