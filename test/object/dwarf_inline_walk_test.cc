// SPDX-License-Identifier: Apache-2.0
#include "lib/object/dwarf_inline_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "test/support/dwarf_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::DwarfBuilder;
using ::ksamp::testing::DwarfBytes;
using ::testing::ElementsAre;

// Abbreviations of all cases.
enum : uint8_t {
  kEnd,
  kUnit,
  kFunction,
  kInlined,
  kBlock,
  kStructure,
  kDeclaration,
  kLeaf,
  kFunctionWithSibling
};

class DwarfInlineWalkTest : public ::testing::Test {
 protected:
  DwarfInlineWalkTest() {
    dwarf_.abbrev.Abbrev(kUnit, kTagCompileUnit, true, {});
    dwarf_.abbrev.Abbrev(kFunction, kTagSubprogram, true, {{kAtLowPc, kFormAddr}, {kAtHighPc, kFormData4}});
    dwarf_.abbrev.Abbrev(kInlined, kTagInlinedSubroutine, true,
                         {{kAtLowPc, kFormAddr},
                          {kAtHighPc, kFormData4},
                          {kAtCallFile, kFormData1},
                          {kAtCallLine, kFormData1}});
    dwarf_.abbrev.Abbrev(kBlock, kTagLexicalBlock, true, {{kAtName, kFormString}});
    dwarf_.abbrev.Abbrev(kStructure, kTagStructureType, true, {{kAtSibling, kFormRef4}});
    dwarf_.abbrev.Abbrev(kDeclaration, kTagSubprogram, true, {});
    dwarf_.abbrev.Abbrev(kLeaf, kTagSubprogram, false, {{kAtLowPc, kFormAddr}, {kAtHighPc, kFormData4}});
    dwarf_.abbrev.Abbrev(kFunctionWithSibling, kTagSubprogram, true,
                         {{kAtLowPc, kFormAddr}, {kAtHighPc, kFormData4}, {kAtSibling, kFormRef4}});
    dwarf_.abbrev.Uleb(0);
  }

  // Offset in the unit of what comes next.
  uint64_t Here() const { return DwarfBuilder::HeaderSize(4) + entries_.size(); }
  DwarfBytes& Function(std::string_view name, uint64_t low, uint64_t size) {
    names_[Here()] = name;
    return entries_.U8(kFunction).U64(low).U32(size);
  }
  DwarfBytes& Inlined(std::string_view name, uint64_t low, uint64_t size, uint64_t line) {
    names_[Here()] = name;
    return entries_.U8(kInlined).U64(low).U32(size).U8(1).U8(line);
  }
  DwarfBytes& End() { return entries_.U8(kEnd); }

  // "inner@line<outer" of each address, "-" for nothing.
  std::vector<std::string> Ask(const std::vector<uint64_t>& addresses, uint64_t work = 1 << 20) {
    DwarfBuilder dwarf = dwarf_;
    dwarf.AddUnit(4, entries_);
    const ElfImage elf = dwarf.Elf();
    const DwarfFile file = *DwarfFile::Load(elf);
    DwarfWork work_left(work);
    DwarfAbbrevCache cache(&work_left);
    const DwarfUnitReader reader(file, file.units()[0], cache.Get(file, file.units()[0]));
    const InlinedCalls found = FindInlinedCalls(reader, addresses, &work_left);
    std::vector<std::string> texts;
    for (uint32_t at : found.innermost) {
      std::string text;
      for (; at != InlinedCalls::kNone; at = found.calls[at].outer) {
        const InlinedCalls::Call& call = found.calls[at];
        text += names_[call.entry];
        if (call.outer != InlinedCalls::kNone) text += "@" + std::to_string(call.line) + "<";
      }
      texts.push_back(text.empty() ? "-" : text);
    }
    return texts;
  }

  DwarfBuilder dwarf_;
  DwarfBytes entries_ = DwarfBytes().U8(kUnit);
  std::map<uint64_t, std::string> names_;
};

TEST_F(DwarfInlineWalkTest, CallsNestAndEndWhereTheirCodeEnds) {
  Function("f", 0x1000, 0x100);
  Inlined("a", 0x1010, 0x40, 5);
  Inlined("b", 0x1020, 0x10, 6);
  End();
  End();
  Inlined("c", 0x1080, 0x10, 7);
  End();
  End();
  Function("g", 0x1100, 0x10);
  End();
  End();
  EXPECT_THAT(Ask({0xfff, 0x1000, 0x1010, 0x1020, 0x1030, 0x1050, 0x1080, 0x1090, 0x10ff, 0x1100, 0x1110}),
              ElementsAre("-", "f", "a@5<f", "b@6<a@5<f", "a@5<f", "f", "c@7<f", "f", "f", "g", "-"));
}

TEST_F(DwarfInlineWalkTest, LooksThroughBlocksAndPastUnwantedFunctions) {
  Function("unwanted", 0x2000, 0x100);
  Inlined("in_unwanted", 0x2000, 0x100, 1);
  End();
  End();
  names_[Here()] = "with_sibling";
  const uint64_t at = Here();
  entries_.U8(kFunctionWithSibling).U64(0x3000).U32(0x10).U32(at + 1 + 8 + 4 + 4 + 3);
  entries_.U8(99).U8(99).U8(99);  // never read
  Function("f", 0x1000, 0x100);
  entries_.U8(kBlock).Text("block");
  Inlined("a", 0x1000, 0x10, 3);
  End();
  End();
  End();
  End();
  EXPECT_THAT(Ask({0x1000, 0x1020}), ElementsAre("a@3<f", "f"));
}

TEST_F(DwarfInlineWalkTest, TheLastOfOverlappingCallsIsTheInnermost) {
  Function("f", 0x1000, 0x100);
  Inlined("first", 0x1000, 0x20, 1);
  End();
  Inlined("second", 0x1010, 0x20, 2);
  End();
  // Code outside of what holds it: as compilers split calls.
  Inlined("outer", 0x1040, 0x10, 3);
  Inlined("inner", 0x1060, 0x10, 4);
  End();
  End();
  End();
  End();
  EXPECT_THAT(Ask({0x1000, 0x1010, 0x1040, 0x1060}),
              ElementsAre("first@1<f", "second@2<f", "outer@3<f", "inner@4<outer@3<f"));
}

TEST_F(DwarfInlineWalkTest, FunctionsInTypesAndInOtherFunctions) {
  entries_.U8(kStructure).U32(0);  // a sibling that leads nowhere
  Function("method", 0x1000, 0x10);
  End();
  End();
  Function("outer", 0x2000, 0x100);
  Function("nested", 0x3000, 0x10);
  Inlined("call", 0x3000, 0x4, 9);
  End();
  End();
  End();
  entries_.U8(kDeclaration);
  names_[Here()] = "leaf";
  entries_.U8(kLeaf).U64(0x4000).U32(4);
  End();
  End();
  EXPECT_THAT(Ask({0x1000, 0x2000, 0x3000, 0x3004, 0x4000}),
              ElementsAre("method", "outer", "call@9<nested", "nested", "leaf"));
}

TEST_F(DwarfInlineWalkTest, SiblingsThatLeadBackDoNotCircle) {
  entries_.U8(kStructure).U32(DwarfBuilder::HeaderSize(4));
  End();
  names_[Here()] = "f";
  entries_.U8(kFunctionWithSibling).U64(0x5000).U32(4).U32(1);
  End();
  Function("g", 0x1000, 0x10);
  End();
  End();
  EXPECT_THAT(Ask({0x1000}), ElementsAre("g"));
}

TEST_F(DwarfInlineWalkTest, DepthIsBounded) {
  Function("f", 0x1000, 0x100);
  for (int i = 0; i < 100'000; ++i) Inlined("x", 0x1000, 0x100, 1);
  const std::vector<std::string> found = Ask({0x1000}, 1 << 30);
  EXPECT_EQ(found[0].substr(found[0].size() - 5), "x@1<f") << found[0].size();
  EXPECT_LT(found[0].size(), 4000u);
}

TEST_F(DwarfInlineWalkTest, EndsAtDamage) {
  Function("f", 0x1000, 0x100);
  entries_.U8(77);  // no such abbreviation
  Inlined("never", 0x1000, 0x100, 1);
  EXPECT_THAT(Ask({0x1000}), ElementsAre("f"));
}

TEST_F(DwarfInlineWalkTest, WorkEndsIt) {
  for (int i = 0; i < 1000; ++i) {
    Function("f", 0x1000, 0x1000);
    End();
  }
  std::vector<uint64_t> addresses;
  for (uint64_t i = 0; i < 1000; ++i) addresses.push_back(0x1000 + i);
  EXPECT_EQ(Ask(addresses, 60'000).size(), 1000u);
}

}  // namespace
}  // namespace ksamp
