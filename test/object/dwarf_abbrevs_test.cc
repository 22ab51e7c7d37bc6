// SPDX-License-Identifier: Apache-2.0
#include "lib/object/dwarf_abbrevs.h"

#include <gtest/gtest.h>

#include "lib/base/byte_reader.h"
#include "lib/object/dwarf_constants.h"
#include "test/support/dwarf_builder.h"

namespace ksamp {
namespace {

using ::ksamp::testing::DwarfBytes;

constexpr DwarfEncoding kV5 = {.version = 5, .address_size = 8, .offset_size = 4};

DwarfAbbrevs Parse(const DwarfBytes& bytes) {
  return DwarfAbbrevs::Parse(DwarfCursor(AsBytes(bytes.bytes()), 0, false), kV5);
}

TEST(DwarfAbbrevsTest, KnowsSizesAndSiblings) {
  DwarfBytes bytes;
  bytes.Abbrev(1, kTagSubprogram, true,
               {{kAtLowPc, kFormAddr}, {kAtSibling, kFormRef4}, {kAtName, kFormStrp}});
  bytes.Abbrev(2, kTagSubprogram, true, {{kAtName, kFormString}, {kAtSibling, kFormRef4}});
  bytes.Abbrev(3, kTagLexicalBlock, false, {{kAtSibling, kFormRef4}, {kAtHighPc, kFormUdata}}).Uleb(0);
  const DwarfAbbrevs abbrevs = Parse(bytes);
  const DwarfAbbrev* fixed = abbrevs.Find(1);
  ASSERT_NE(fixed, nullptr);
  EXPECT_EQ(fixed->size, 16);
  EXPECT_EQ(fixed->sibling_at, 8);
  EXPECT_TRUE(fixed->has_children);
  const DwarfAbbrev* variable = abbrevs.Find(2);
  ASSERT_NE(variable, nullptr);
  EXPECT_EQ(variable->size, DwarfAbbrev::kVariable);
  EXPECT_EQ(variable->sibling_at, DwarfAbbrev::kVariable) << "it stands behind a text of unknown length";
  EXPECT_EQ(abbrevs.AttributesOf(*variable).size(), 2u);
  EXPECT_EQ(abbrevs.Find(3)->sibling_at, 0);
  EXPECT_EQ(abbrevs.Find(3)->size, DwarfAbbrev::kVariable);
  EXPECT_EQ(abbrevs.Find(0), nullptr);
  EXPECT_EQ(abbrevs.Find(4), nullptr);
}

TEST(DwarfAbbrevsTest, CodesInAnyOrder) {
  DwarfBytes bytes;
  bytes.Abbrev(70, kTagSubprogram, true, {}).Abbrev(3, kTagNamespace, true, {});
  bytes.Abbrev(~uint64_t{0}, kTagModule, true, {}).Uleb(0);
  const DwarfAbbrevs abbrevs = Parse(bytes);
  EXPECT_EQ(abbrevs.Find(70)->tag, kTagSubprogram);
  EXPECT_EQ(abbrevs.Find(3)->tag, kTagNamespace);
  EXPECT_EQ(abbrevs.Find(~uint64_t{0})->tag, kTagModule);
  EXPECT_EQ(abbrevs.Find(1), nullptr);
}

TEST(DwarfAbbrevsTest, OneOfThemAlone) {
  DwarfBytes bytes;
  bytes.Abbrev(1, kTagNamespace, true, {}).Uleb(2).Uleb(kTagNamespace).U8(0);
  bytes.Uleb(kAtName).Uleb(kFormImplicitConst).Sleb(-300).Uleb(0).Uleb(0);
  bytes.Abbrev(3, kTagCompileUnit, true, {{kAtName, kFormData4}}).Abbrev(4, kTagModule, true, {}).Uleb(0);
  const DwarfCursor at(AsBytes(bytes.bytes()), 0, false);
  const DwarfAbbrevs abbrevs = DwarfAbbrevs::ParseOnly(3, at, kV5);
  ASSERT_NE(abbrevs.Find(3), nullptr);
  EXPECT_EQ(abbrevs.Find(3)->tag, kTagCompileUnit);
  EXPECT_EQ(abbrevs.Find(3)->size, 4);
  EXPECT_EQ(abbrevs.Find(1), nullptr);
  EXPECT_EQ(abbrevs.Find(4), nullptr);
  EXPECT_LT(abbrevs.bytes_read(), bytes.size());
  EXPECT_EQ(DwarfAbbrevs::ParseOnly(9, at, kV5).Find(9), nullptr);
}

TEST(DwarfAbbrevsTest, StaticLinksTellOfNestedFunctions) {
  EXPECT_FALSE(Parse(DwarfBytes().Abbrev(1, kTagSubprogram, true, {{kAtName, kFormStrp}}).Uleb(0))
                   .has_nested_functions());
  EXPECT_TRUE(Parse(DwarfBytes().Abbrev(1, kTagSubprogram, true, {{kAtStaticLink, kFormExprloc}}).Uleb(0))
                  .has_nested_functions());
}

TEST(DwarfAbbrevsTest, KeepsWhatStandsBeforeADamage) {
  DwarfBytes bytes;
  bytes.Abbrev(1, kTagCompileUnit, true, {}).Uleb(2).Uleb(kTagNamespace).U8(1).Uleb(kAtName);
  const DwarfAbbrevs abbrevs = Parse(bytes);
  EXPECT_NE(abbrevs.Find(1), nullptr);
  EXPECT_EQ(abbrevs.Find(2), nullptr);
}

struct FormCase {
  uint16_t form;
  DwarfBytes value;
};

TEST(DwarfAbbrevsTest, StepsOverEveryForm) {
  const DwarfBytes block = DwarfBytes().U16(0x1111).U8(1);
  const FormCase cases[] = {
      {kFormAddr, DwarfBytes().U64(1)},
      {kFormBlock1, DwarfBytes().U8(3).Append(block)},
      {kFormBlock2, DwarfBytes().U16(3).Append(block)},
      {kFormBlock4, DwarfBytes().U32(3).Append(block)},
      {kFormBlock, DwarfBytes().Uleb(3).Append(block)},
      {kFormExprloc, DwarfBytes().Uleb(3).Append(block)},
      {kFormData1, DwarfBytes().U8(1)},
      {kFormData2, DwarfBytes().U16(1)},
      {kFormData4, DwarfBytes().U32(1)},
      {kFormData8, DwarfBytes().U64(1)},
      {kFormData16, DwarfBytes().U64(1).U64(2)},
      {kFormString, DwarfBytes().Text("text")},
      {kFormSdata, DwarfBytes().Sleb(-1000)},
      {kFormUdata, DwarfBytes().Uleb(1000)},
      {kFormStrp, DwarfBytes().U32(1)},
      {kFormLineStrp, DwarfBytes().U32(1)},
      {kFormSecOffset, DwarfBytes().U32(1)},
      {kFormRefAddr, DwarfBytes().U32(1)},
      {kFormRef1, DwarfBytes().U8(1)},
      {kFormRef2, DwarfBytes().U16(1)},
      {kFormRef4, DwarfBytes().U32(1)},
      {kFormRef8, DwarfBytes().U64(1)},
      {kFormRefUdata, DwarfBytes().Uleb(1000)},
      {kFormRefSig8, DwarfBytes().U64(1)},
      {kFormFlag, DwarfBytes().U8(1)},
      {kFormFlagPresent, DwarfBytes()},
      {kFormImplicitConst, DwarfBytes()},
      {kFormStrx, DwarfBytes().Uleb(300)},
      {kFormStrx3, DwarfBytes().U16(1).U8(0)},
      {kFormAddrx4, DwarfBytes().U32(1)},
      {kFormRnglistx, DwarfBytes().Uleb(300)},
      {kFormLoclistx, DwarfBytes().Uleb(300)},
      {kFormGnuAddrIndex, DwarfBytes().Uleb(300)},
      {kFormGnuStrIndex, DwarfBytes().Uleb(300)},
      {kFormGnuRefAlt, DwarfBytes().U32(1)},
      {kFormGnuStrpAlt, DwarfBytes().U32(1)},
      {kFormIndirect, DwarfBytes().Uleb(kFormData2).U16(7)},
      {kFormIndirect, DwarfBytes().Uleb(kFormIndirect).Uleb(kFormString).Text("x")},
  };
  for (const FormCase& c : cases) {
    DwarfCursor at(AsBytes(c.value.bytes()), 0, false);
    SkipForm(&at, c.form, kV5);
    EXPECT_TRUE(at.ok() && at.at_end()) << "form " << c.form;
    const uint16_t size = FixedSizeOf(c.form, kV5);
    EXPECT_TRUE(size == DwarfAbbrev::kVariable || size == c.value.size()) << "form " << c.form;
  }
}

TEST(DwarfAbbrevsTest, AnUnknownFormFails) {
  for (const uint16_t form : {uint16_t{0}, uint16_t{0x7f}, uint16_t{0x1fff}}) {
    const std::string bytes(8, '\x01');
    DwarfCursor at(AsBytes(bytes), 0, false);
    SkipForm(&at, form, kV5);
    EXPECT_FALSE(at.ok());
  }
  const std::string endless(64, static_cast<char>(kFormIndirect));
  DwarfCursor at(AsBytes(endless), 0, false);
  SkipForm(&at, kFormIndirect, kV5);
  EXPECT_FALSE(at.ok());
}

}  // namespace
}  // namespace ksamp
