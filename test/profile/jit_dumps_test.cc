// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ksamp/profile.h"
#include "lib/base/byte_reader.h"
#include "lib/base/compression.h"
#include "lib/base/str_cat.h"
#include "lib/perfdata/features.h"
#include "lib/perfdata/format.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kPath[] = "/tmp/jit-7.dump";
// old until 200, then new in its place.
constexpr char kFunctions[] =
    "jitdump 0x0 0x1 \n0x64 0x10000 0x100 0x100 old\n0xc8 0x10000 0x100 0x300 new\n";

testing::PerfDataBuilder Story(perf_event_attr attr) {
  testing::PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}, attr);
  b.Comm(7, 7, "jvm").Mmap({.pid = 7, .addr = 0x10000, .length = 0x10000, .path = "//anon", .time = 50});
  b.Mmap({.pid = 7, .addr = 0x90000, .length = 0x1000, .path = kPath, .time = 60});
  b.Mmap({.pid = 7, .addr = 0x90000, .length = 0x1000, .path = kPath, .time = 60});
  for (const uint64_t time : {110, 190, 210}) b.Sample({.pid = 7, .tid = 7, .time = time, .ip = 0x10010});
  // The runtime makes it executable anew: the code in it stays.
  b.Mmap({.pid = 7, .addr = 0x10000, .length = 0x10000, .path = "//anon", .time = 250});
  b.Sample({.pid = 7, .tid = 7, .time = 260, .ip = 0x10010});
  b.Sample({.pid = 7, .tid = 7, .time = 261, .ip = 0x10200});
  return b;
}

perf_event_attr MonotonicAttr() {
  perf_event_attr attr = testing::SampleAttr();
  attr.use_clockid = 1;
  attr.clockid = 1;
  return attr;
}

// "IMAGE/SYMBOL SAMPLES" of each.
std::vector<std::string> Rows(const Recording& recording, const ProfileOptions& options) {
  SymbolizerOptions symbols = SymbolizerOptionsFor(recording);
  symbols.live_machine = false;
  if (!options.jit_dumps.empty()) symbols.jit_dumps = options.jit_dumps;
  absl::StatusOr<Profile> profile = BuildProfile(recording, options);
  if (!profile.ok()) return {MessageOf(profile.status())};
  Symbolize(*profile, *Symbolizer::Create(symbols), options);
  EXPECT_TRUE(profile->Total().Holds());
  std::vector<std::string> rows;
  for (const ProfileEntry& entry : profile->entries) {
    const ProfileLocation& location = profile->locations[entry.location];
    const std::string name = location.symbol == kNone32 ? "-" : profile->symbols[location.symbol].name;
    rows.push_back(StrCat(profile->images[location.image].path, " ", name, " ", entry.counts.samples));
  }
  for (const std::string& note : profile->facts.notes) rows.push_back(note);
  return rows;
}

TEST(JitDumpsTest, AnAddressBelongsToTheFunctionOfItsTime) {
  ASSERT_OK_AND_ASSIGN(const Recording recording, Story(MonotonicAttr()).Open());
  EXPECT_THAT(Rows(recording, {.jit_dumps = {{7, kPath, kFunctions}}}),
              ElementsAre("//anon - 1", "/tmp/jit-7.dump old 2", "/tmp/jit-7.dump new 2"));
}

TEST(JitDumpsTest, WithAnotherClockTheMomentOfTheMappingIsTheBridge) {
  ASSERT_OK_AND_ASSIGN(const Recording recording, Story(testing::SampleAttr()).Open());
  // Opened at 1060 of the other clock, mapped at 60 of ours.
  EXPECT_THAT(Rows(recording, {.jit_dumps = {{7, kPath,
                                              "jitdump 0x424 0x1 \n0x44c 0x10000 0x100 0x100 old\n"
                                              "0x4b0 0x10000 0x100 0x300 new\n"}}}),
              ElementsAre("//anon - 1", "/tmp/jit-7.dump old 2", "/tmp/jit-7.dump new 2"));
}

TEST(JitDumpsTest, WithoutComparableTimesTheLastFunctionCountsAndThatIsTold) {
  ASSERT_OK_AND_ASSIGN(const Recording recording, Story(testing::SampleAttr()).Open());
  EXPECT_THAT(Rows(recording, {.jit_dumps = {{7, kPath,
                                              "jitdump 0x0 0x0 \n0x64 0x10000 0x100 0x100 old\n"
                                              "0xc8 0x10000 0x100 0x300 new\n"}}}),
              ElementsAre("//anon - 1", "/tmp/jit-7.dump new 4", HasSubstr("are of another clock")));
}

TEST(JitDumpsTest, TheRecordingsCopyIsUsedWithoutAsking) {
  testing::PerfDataBuilder b = Story(MonotonicAttr());
  b.Feature(perfdata::kKsampGeneratedCode,
            perfdata::EncodeCodeFiles(std::vector<perfdata::PackedCodeFile>{
                {CodeFileKind::kJitDump, 7, kPath, *CompressZstd(AsBytes(kFunctions), 1)}}));
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  EXPECT_THAT(Rows(recording, {}),
              ElementsAre("//anon - 1", "/tmp/jit-7.dump old 2", "/tmp/jit-7.dump new 2"));
  std::vector<std::string> notes;
  EXPECT_EQ(FindJitDumps(recording, {.live_machine = false}, &notes).size(), 1u);
  EXPECT_THAT(notes, IsEmpty());
}

TEST(JitDumpsTest, ADumpThatCannotBeReadIsTold) {
  ASSERT_OK_AND_ASSIGN(const Recording recording, Story(MonotonicAttr()).Open());
  std::vector<std::string> notes;
  EXPECT_THAT(FindJitDumps(recording, {.live_machine = false}, &notes), IsEmpty());
  EXPECT_THAT(notes, ElementsAre(HasSubstr("generated code of process 7: open /tmp/jit-7.dump")));
}

TEST(JitDumpsTest, AChildRunsItsParentsCodeAndAnExecEndsIt) {
  testing::PerfDataBuilder b = Story(MonotonicAttr());
  b.Fork(8, 7, 8, 7, 300);
  b.Sample({.pid = 8, .tid = 8, .time = 310, .ip = 0x10010});
  b.Comm(8, 8, "other", 320, true);
  b.Mmap({.pid = 8, .addr = 0x10000, .length = 0x1000, .path = "/bin/other", .time = 321});
  b.Sample({.pid = 8, .tid = 8, .time = 330, .ip = 0x10010});
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  EXPECT_THAT(Rows(recording, {.separate = {.library = false}, .jit_dumps = {{7, kPath, kFunctions}}}),
              ElementsAre("//anon - 1", "/bin/other - 1", "/tmp/jit-7.dump old 2", "/tmp/jit-7.dump new 3"));
}

TEST(JitDumpsTest, AFileMappedOverGeneratedCodeEndsIt) {
  testing::PerfDataBuilder b = Story(MonotonicAttr());
  b.Mmap({.pid = 7, .addr = 0x10000, .length = 0x1000, .path = "/lib/late.so", .time = 400});
  b.Sample({.pid = 7, .tid = 7, .time = 410, .ip = 0x10010});
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  EXPECT_THAT(
      Rows(recording, {.jit_dumps = {{7, kPath, kFunctions}}}),
      ElementsAre("//anon - 1", "/lib/late.so - 1", "/tmp/jit-7.dump old 2", "/tmp/jit-7.dump new 2"));
}

}  // namespace
}  // namespace ksamp
