// SPDX-License-Identifier: Apache-2.0
#include "lib/symbol/source_lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/object/dwarf_constants.h"
#include "test/support/dwarf_builder.h"
#include "test/support/elf_builder.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::DwarfBuilder;
using ::ksamp::testing::DwarfBytes;
using ::ksamp::testing::ElfBuilder;
using ::ksamp::testing::TempTree;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// work() at 0x1000, with one call of helper() inlined at 0x1010.
DwarfBuilder Program() {
  DwarfBuilder dwarf;
  dwarf.abbrev.Abbrev(1, kTagCompileUnit, true,
                      {{kAtCompDir, kFormString},
                       {kAtStmtList, kFormSecOffset},
                       {kAtLowPc, kFormAddr},
                       {kAtHighPc, kFormData4},
                       {kAtLanguage, kFormData1}});
  dwarf.abbrev.Abbrev(2, kTagSubprogram, true,
                      {{kAtName, kFormString}, {kAtLowPc, kFormAddr}, {kAtHighPc, kFormData4}});
  dwarf.abbrev
      .Abbrev(3, kTagInlinedSubroutine, false,
              {{kAtName, kFormString},
               {kAtLowPc, kFormAddr},
               {kAtHighPc, kFormData4},
               {kAtCallFile, kFormData1},
               {kAtCallLine, kFormData1}})
      .Uleb(0);
  const uint64_t lines =
      dwarf.AddLineTable({"a.c"}, DwarfBytes().SetAddress(0x1000).Row(0, 9).Row(0x10, -7).EndSequence(0x10));
  DwarfBytes entries = DwarfBytes().Uleb(1).Text("/src").U32(lines).U64(0x1000).U32(0x100).U8(kLanguageC);
  entries.Uleb(2).Text("work").U64(0x1000).U32(0x20);
  entries.Uleb(3).Text("helper").U64(0x1010).U32(0x10).U8(1).U8(12).Uleb(0).Uleb(0);
  dwarf.AddUnit(4, entries);
  return dwarf;
}

class SourceLookupTest : public ::testing::Test {
 protected:
  ImageSymbols Ask(const ElfImage& elf, const std::string& path, SourceDetail detail,
                   std::vector<uint64_t> addresses) {
    options_.source = detail;
    ImageSymbols found;
    found.symbols = {{.name = "work", .start = 0x1000, .size = 0x20}, {.name = "far", .start = 0x8000}};
    const std::vector<uint64_t> starts = {0x1000, 0x8000};
    SourceLookup(options_).AddTo(elf, path, addresses, starts, &found);
    return found;
  }

  const TempTree tree_;
  SymbolizerOptions options_;
};

TEST_F(SourceLookupTest, SymbolsAlone) {
  const ElfImage elf = Program().Elf();
  const ImageSymbols found = Ask(elf, "prog", SourceDetail::kSymbols, {0x1000});
  EXPECT_EQ(found.symbols[0].file, "/src/a.c");
  EXPECT_EQ(found.symbols[0].line, 10u);
  EXPECT_EQ(found.symbols[1].file, "");
  EXPECT_THAT(found.source.Of(0), IsEmpty());
  EXPECT_THAT(found.notes, IsEmpty());
}

TEST_F(SourceLookupTest, AddressesInTheOrderAsked) {
  const ElfImage elf = Program().Elf();
  const ImageSymbols found =
      Ask(elf, "prog", SourceDetail::kInlined, {0x1018, SourceLookup::kNowhere, 0x1000, 0x1018});
  EXPECT_EQ(found.symbols[0].line, 10u) << "symbols too";
  ASSERT_EQ(found.source.Of(0).size(), 2u);
  EXPECT_EQ(found.source.functions[found.source.Of(0)[0].function].name, "helper");
  EXPECT_EQ(found.source.Of(0)[0].line, 3u);
  EXPECT_EQ(found.source.Of(0)[1].line, 12u);
  EXPECT_THAT(found.source.Of(1), IsEmpty());
  ASSERT_EQ(found.source.Of(2).size(), 1u);
  EXPECT_EQ(found.source.Of(2)[0].line, 10u);
  EXPECT_EQ(found.source.Of(3).size(), 2u);
}

TEST_F(SourceLookupTest, LinesWithoutCalls) {
  const ElfImage elf = Program().Elf();
  const ImageSymbols found = Ask(elf, "prog", SourceDetail::kLines, {0x1018});
  ASSERT_EQ(found.source.Of(0).size(), 1u);
  EXPECT_EQ(found.source.Of(0)[0].line, 3u);
  EXPECT_EQ(found.source.Of(0)[0].function, SourceFrame::kNone);
}

TEST_F(SourceLookupTest, FromTheDebugFile) {
  ElfBuilder stripped;
  stripped.AddCode(".text", 0x1000, 0x8000);
  stripped.AddBuildId("aabb");
  tree_.Write("prog", stripped.Build());
  ElfBuilder debug;
  debug.AddCode(".text", 0x1000, 0x8000);
  debug.AddBuildId("aabb");
  Program().AddTo(&debug);
  tree_.Write("debug/.build-id/61/616262.debug", debug.Build());
  options_.debug_dirs = {tree_.Path("debug")};
  const auto elf = ElfImage::Open(tree_.Path("prog"));
  ASSERT_TRUE(elf.ok());
  EXPECT_EQ(Ask(*elf, tree_.Path("prog"), SourceDetail::kSymbols, {}).symbols[0].line, 10u);
}

TEST_F(SourceLookupTest, SaysWhyThereAreNone) {
  const ElfImage without = DwarfBuilder().Elf();
  EXPECT_THAT(Ask(without, "/bin/prog", SourceDetail::kLines, {0x1000}).notes,
              Contains(HasSubstr("no debug info for /bin/prog")));
  EXPECT_FALSE(SourceLookup(SymbolizerOptions()).wanted());
}

}  // namespace
}  // namespace ksamp
