// SPDX-License-Identifier: Apache-2.0
#include "lib/object/debug_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lib/object/dwarf_constants.h"
#include "test/support/dwarf_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::DwarfBuilder;
using ::ksamp::testing::DwarfBytes;
using ::ksamp::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two units of C: [0x1000, 0x1100) with an inlined call, and [0x2000, 0x2010), which shares the header file.
DwarfBuilder TwoUnits() {
  DwarfBuilder dwarf;
  dwarf.abbrev.Abbrev(1, kTagCompileUnit, true,
                      {{kAtName, kFormString},
                       {kAtCompDir, kFormString},
                       {kAtStmtList, kFormSecOffset},
                       {kAtLowPc, kFormAddr},
                       {kAtHighPc, kFormData4},
                       {kAtLanguage, kFormData1}});
  dwarf.abbrev.Abbrev(2, kTagSubprogram, true,
                      {{kAtName, kFormString}, {kAtLowPc, kFormAddr}, {kAtHighPc, kFormData4}});
  dwarf.abbrev.Abbrev(3, kTagInlinedSubroutine, false,
                      {{kAtAbstractOrigin, kFormRef4},
                       {kAtLowPc, kFormAddr},
                       {kAtHighPc, kFormData4},
                       {kAtCallFile, kFormData1},
                       {kAtCallLine, kFormData1}});
  dwarf.abbrev
      .Abbrev(4, kTagSubprogram, false,
              {{kAtName, kFormString}, {kAtDeclFile, kFormData1}, {kAtDeclLine, kFormData1}})
      .Uleb(0);
  const uint64_t first = dwarf.AddLineTable({"a.c", "h.h"}, DwarfBytes()
                                                                .SetAddress(0x1000)
                                                                .Row(0, 9)
                                                                .U8(4)
                                                                .Uleb(2)
                                                                .Row(0x10, -7)
                                                                .U8(4)
                                                                .Uleb(1)
                                                                .Row(0x10, 18)
                                                                .EndSequence(0xe0));
  const uint64_t second = dwarf.AddLineTable(
      {"b.c", "h.h"}, DwarfBytes().SetAddress(0x2000).U8(4).Uleb(2).Row(0, 4).EndSequence(0x10));
  DwarfBytes entries =
      DwarfBytes().Uleb(1).Text("a.c").Text("/src").U32(first).U64(0x1000).U32(0x100).U8(kLanguageC);
  const uint64_t abstract = DwarfBuilder::HeaderSize(4) + entries.size();
  entries.Uleb(4).Text("helper").U8(2).U8(2).Uleb(2).Text("work").U64(0x1000).U32(0x100);
  entries.Uleb(3).U32(abstract).U64(0x1010).U32(0x10).U8(1).U8(12).Uleb(0).Uleb(0);
  dwarf.AddUnit(4, entries);
  entries = DwarfBytes().Uleb(1).Text("b.c").Text("/src").U32(second).U64(0x2000).U32(0x10).U8(kLanguageC);
  dwarf.AddUnit(4, entries.Uleb(2).Text("other").U64(0x2000).U32(8).Uleb(0).Uleb(0));
  return dwarf;
}

std::vector<std::string> Texts(const SourceFrames& found, size_t address) {
  std::vector<std::string> texts;
  for (const SourceFrame& frame : found.Of(address)) {
    texts.push_back((frame.function == SourceFrame::kNone ? "?" : found.functions[frame.function].name) +
                    " " + (frame.file == SourceFrame::kNone ? "?" : found.files[frame.file]) + ":" +
                    std::to_string(frame.line));
  }
  return texts;
}

class DebugLinesThreads : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(, DebugLinesThreads, ::testing::Values(1, 4));

TEST_P(DebugLinesThreads, LinesAndInlinedCallsOfSeveralUnits) {
  const ElfImage elf = TwoUnits().Elf();
  ASSERT_OK_AND_ASSIGN(const DebugLines lines, DebugLines::Open(elf, "made", {}));
  const std::vector<uint64_t> addresses = {0x10, 0x1000, 0x1010, 0x1020, 0x1fff, 0x2000, 0x2008};
  const SourceFrames found = lines.Find(addresses, {.inlined = true, .threads = GetParam()});
  EXPECT_THAT(Texts(found, 0), IsEmpty());
  EXPECT_THAT(Texts(found, 1), ElementsAre("work /src/a.c:10"));
  EXPECT_THAT(Texts(found, 2), ElementsAre("helper /src/h.h:3", "work /src/a.c:12"));
  EXPECT_THAT(Texts(found, 3), ElementsAre("work /src/a.c:21"));
  EXPECT_THAT(Texts(found, 4), IsEmpty());
  EXPECT_THAT(Texts(found, 5), ElementsAre("other /src/h.h:5"));
  EXPECT_THAT(Texts(found, 6), ElementsAre("? /src/h.h:5")) << "a line, but no function";
  EXPECT_THAT(found.files, ElementsAre("/src/a.c", "/src/h.h")) << "each once, by address";
  ASSERT_EQ(found.functions.size(), 3u);
  EXPECT_EQ(found.functions[1].name, "helper");
  EXPECT_EQ(found.functions[1].line, 2u) << "where it is declared";
  EXPECT_EQ(found.files[found.functions[1].file], "/src/h.h");
  EXPECT_THAT(found.notes, IsEmpty());
}

TEST(DebugLinesTest, LinesAlone) {
  const ElfImage elf = TwoUnits().Elf();
  ASSERT_OK_AND_ASSIGN(const DebugLines lines, DebugLines::Open(elf, "made", {}));
  const std::vector<uint64_t> addresses = {0x1010, 0x2000};
  const SourceFrames found = lines.Find(addresses, {.inlined = false});
  EXPECT_THAT(Texts(found, 0), ElementsAre("? /src/h.h:3"));
  EXPECT_THAT(Texts(found, 1), ElementsAre("? /src/h.h:5"));
  EXPECT_THAT(found.functions, IsEmpty());
}

TEST(DebugLinesTest, NothingAsked) {
  const ElfImage elf = TwoUnits().Elf();
  ASSERT_OK_AND_ASSIGN(const DebugLines lines, DebugLines::Open(elf, "made", {}));
  const SourceFrames found = lines.Find({}, {});
  EXPECT_THAT(found.frames, IsEmpty());
  EXPECT_THAT(found.first, ElementsAre(0));
}

TEST(DebugLinesTest, WithoutDebugInfo) {
  const ElfImage elf = DwarfBuilder().Elf();
  EXPECT_THAT(DebugLines::Open(elf, "made", {}).status(),
              StatusIs(absl::StatusCode::kNotFound, ::testing::HasSubstr("no .debug_info")));
}

// Every prefix of every section, and every byte changed: an answer, whatever it is.
TEST(DebugLinesTest, DamageAnywhere) {
  const DwarfBuilder whole = TwoUnits();
  const std::vector<uint64_t> addresses = {0x1000, 0x1010, 0x2000};
  size_t answers = 0;
  for (DwarfBytes DwarfBuilder::*section :
       {&DwarfBuilder::info, &DwarfBuilder::abbrev, &DwarfBuilder::line}) {
    const std::string& bytes = (whole.*section).bytes();
    for (size_t at = 0; at < bytes.size(); ++at) {
      for (const int change : {-1, 0, 0x7f, 0x80, 0xff}) {
        std::string damaged = bytes;
        if (change < 0) {
          damaged.resize(at);
        } else {
          damaged[at] = static_cast<char>(change);
        }
        DwarfBuilder made = whole;
        made.*section = DwarfBytes();
        for (const char c : damaged) (made.*section).U8(static_cast<uint8_t>(c));
        const ElfImage elf = made.Elf();
        const auto lines = DebugLines::Open(elf, "made", {});
        if (!lines.ok()) continue;
        const SourceFrames found = lines->Find(addresses, {});
        ASSERT_EQ(found.first.size(), addresses.size() + 1);
        ++answers;
      }
    }
  }
  EXPECT_GT(answers, 1000u);
}

}  // namespace
}  // namespace ksamp
