// SPDX-License-Identifier: Apache-2.0
#include "lib/object/dwarf_names.h"

#include <gtest/gtest.h>

#include <string>

#include "test/support/dwarf_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::DwarfBuilder;
using ::ksamp::testing::DwarfBytes;

constexpr uint64_t kCxx = 0x21, kC = kLanguageC11;
enum : uint8_t { kEnd, kUnit, kNamespace, kClass, kNamed, kLinked, kSpecified, kOrigin, kFar, kType };

class DwarfNamesTest : public ::testing::Test {
 protected:
  DwarfNamesTest() {
    dwarf_.abbrev.Abbrev(kUnit, kTagCompileUnit, true, {{kAtLanguage, kFormData1}});
    dwarf_.abbrev.Abbrev(kNamespace, kTagNamespace, true, {{kAtSibling, kFormRef4}, {kAtName, kFormString}});
    dwarf_.abbrev.Abbrev(kClass, kTagClassType, true, {{kAtName, kFormString}});
    dwarf_.abbrev.Abbrev(kNamed, kTagSubprogram, false, {{kAtName, kFormString}});
    dwarf_.abbrev.Abbrev(kLinked, kTagSubprogram, false,
                         {{kAtName, kFormString}, {kAtLinkageName, kFormString}});
    dwarf_.abbrev.Abbrev(kSpecified, kTagSubprogram, false, {{kAtSpecification, kFormRef4}});
    dwarf_.abbrev.Abbrev(kOrigin, kTagInlinedSubroutine, false, {{kAtAbstractOrigin, kFormRef4}});
    dwarf_.abbrev.Abbrev(kFar, kTagInlinedSubroutine, false, {{kAtAbstractOrigin, kFormRefAddr}});
    dwarf_.abbrev.Abbrev(kType, kTagSubprogram, true, {{kAtSibling, kFormRef4}}).Uleb(0);
  }

  uint64_t Here() const { return DwarfBuilder::HeaderSize(4) + entries_.size(); }
  std::string NameOf(uint64_t offset, size_t unit = 0) {
    DwarfBuilder dwarf = dwarf_;
    dwarf.AddUnit(4, entries_);
    const ElfImage elf = dwarf.Elf();
    const DwarfFile file = *DwarfFile::Load(elf);
    DwarfWork work(1 << 20);
    DwarfAbbrevCache cache(&work);
    const DwarfUnitReader reader(file, file.units()[unit], cache.Get(file, file.units()[unit]));
    const DwarfLineProgram no_lines(reader, ~uint64_t{0});
    return DwarfNames(&cache, &work).Describe(reader, no_lines, offset).name;
  }

  DwarfBuilder dwarf_;
  DwarfBytes entries_;
};

TEST_F(DwarfNamesTest, LinkageNameOfTheDeclaration) {
  entries_.U8(kUnit).U8(kCxx);
  const uint64_t declaration = Here();
  entries_.U8(kLinked).Text("bar").Text("_ZN3foo3barEv");
  const uint64_t abstract = Here();
  entries_.U8(kSpecified).U32(declaration);
  const uint64_t inlined = Here();
  entries_.U8(kOrigin).U32(abstract).U8(kEnd);
  EXPECT_EQ(NameOf(declaration), "_ZN3foo3barEv");
  EXPECT_EQ(NameOf(abstract), "_ZN3foo3barEv");
  EXPECT_EQ(NameOf(inlined), "_ZN3foo3barEv");
}

TEST_F(DwarfNamesTest, PlainNamesGetTheirScopes) {
  entries_.U8(kUnit).U8(kCxx);
  entries_.U8(kType).U32(Here() + 4 + 2).U8(99).U8(99);  // stepped over
  entries_.U8(kNamespace).U32(0).Text("other").U8(kEnd);
  entries_.U8(kNamespace).U32(0).Text("outer");
  entries_.U8(kNamespace).U32(0).Text("");
  entries_.U8(kClass).Text("K");
  const uint64_t method = Here();
  entries_.U8(kNamed).Text("go").U8(kEnd).U8(kEnd).U8(kEnd);
  const uint64_t function = Here();
  entries_.U8(kNamed).Text("main");
  const uint64_t definition = Here();
  entries_.U8(kSpecified).U32(method).U8(kEnd);
  EXPECT_EQ(NameOf(method), "outer::(anonymous namespace)::K::go");
  EXPECT_EQ(NameOf(definition), "outer::(anonymous namespace)::K::go");
  EXPECT_EQ(NameOf(function), "main");
}

TEST_F(DwarfNamesTest, LanguagesWithoutScopes) {
  entries_.U8(kUnit).U8(kC).U8(kClass).Text("K");
  const uint64_t function = Here();
  entries_.U8(kNamed).Text("go").U8(kEnd).U8(kEnd);
  EXPECT_EQ(NameOf(function), "go");
}

TEST_F(DwarfNamesTest, InAnotherUnit) {
  const uint64_t target = DwarfBuilder::HeaderSize(4) + 2;
  dwarf_.AddUnit(4, DwarfBytes().U8(kUnit).U8(kC).U8(kNamed).Text("far").U8(kEnd));
  entries_.U8(kUnit).U8(kC);
  const uint64_t inlined = dwarf_.info.size() + Here();
  entries_.U8(kFar).U32(target).U8(kEnd);
  EXPECT_EQ(NameOf(inlined, 1), "far");
}

TEST_F(DwarfNamesTest, CirclesAndReferencesToNowhereHaveNoName) {
  entries_.U8(kUnit).U8(kCxx);
  const uint64_t circle = Here();
  entries_.U8(kOrigin).U32(circle);
  const uint64_t nowhere = Here();
  entries_.U8(kFar).U32(0x7fffffff);
  const uint64_t header = Here();
  entries_.U8(kOrigin).U32(2).U8(kEnd);
  EXPECT_EQ(NameOf(circle), "");
  EXPECT_EQ(NameOf(nowhere), "");
  EXPECT_EQ(NameOf(header), "");
}

}  // namespace
}  // namespace ksamp
