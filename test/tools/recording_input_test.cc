// SPDX-License-Identifier: Apache-2.0
#include "tools/recording_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"
#include "test/support/test_world.h"

namespace ksamp {
namespace {

using ::ksamp::testing::PerfDataBuilder;
using ::ksamp::testing::StatusIs;
using ::ksamp::testing::TempTree;
using ::ksamp::testing::TestWorld;
using ::testing::HasSubstr;

TEST(RecordingInputTest, TimeRangesMayBeOpenAtOneEnd) {
  ASSERT_OK_AND_ASSIGN(const TimeRange both, ParseTimeRange("1.5,20s"));
  EXPECT_EQ(both.begin_ns, 1'500'000'000u);
  EXPECT_EQ(both.end_ns, 20'000'000'000u);
  ASSERT_OK_AND_ASSIGN(const TimeRange from, ParseTimeRange("7us,"));
  EXPECT_EQ(from.begin_ns, 7'000u);
  EXPECT_EQ(from.end_ns, TimeRange().end_ns);
  ASSERT_OK_AND_ASSIGN(const TimeRange until, ParseTimeRange(",20ms"));
  EXPECT_EQ(until.begin_ns, 0u);
  EXPECT_EQ(until.end_ns, 20'000'000u);
  EXPECT_THAT(ParseTimeRange("5"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no range")));
  EXPECT_THAT(ParseTimeRange("5,5"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("empty range")));
}

TEST(RecordingInputTest, AGivenFileMustExist) {
  const TempTree tree;
  TestWorld world;
  EXPECT_THAT(FindRecording(world.world, tree.Path("none.data")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none.data")));
  ASSERT_OK_AND_ASSIGN(const std::string input, FindRecording(world.world, "-"));
  EXPECT_EQ(input, "-");
}

TEST(RecordingInputTest, DamageIsSaidAFewTimesAtMost) {
  PerfDataBuilder b;
  b.Sample({.pid = 1, .tid = 1, .time = 1, .ip = 1}).Killed();
  TestWorld killed;
  ASSERT_OK_AND_ASSIGN(const Recording whole, b.Open());
  EXPECT_FALSE(WarnOfDamage(killed.world, whole));
  EXPECT_THAT(killed.err(), HasSubstr("did not finish; all it had written is here"));
  TestWorld cut;
  ASSERT_OK_AND_ASSIGN(const Recording damaged, b.Truncated(b.Bytes().size() - 8).Open());
  EXPECT_TRUE(WarnOfDamage(cut.world, damaged));
  EXPECT_THAT(cut.err(), HasSubstr("is damaged"));
}

}  // namespace
}  // namespace ksamp
