// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/recording_facts.h"

#include <gtest/gtest.h>

#include <ctime>

#include "lib/perfdata/features.h"
#include "lib/perfdata/format.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::IsOkAndHolds;

TEST(RecordingFactsTest, DescribesMachineCommandAndLosses) {
  const RecordingOrigin origin{
      .machine = {"box7", "6.1.0", "x86_64", "AMD EPYC", "AuthenticAMD,25,1,1", 24680, 4, 2},
      .command_line = {"ksamp", "record", "-a"}};
  RecordingDescription description;
  description.first_sample_time = 10;
  description.last_sample_time = 20;
  description.meta = {{"event.wish", "cycles"}};
  description.counters = {{"lost.kernel", 3}};
  FeatureMap features = DescribeOrigin(origin);
  features.merge(DescribeRecording(description));
  EXPECT_THAT(perfdata::DecodeString(features.at(perfdata::kHostname), false), IsOkAndHolds("box7"));
  EXPECT_THAT(perfdata::DecodeString(features.at(perfdata::kCpuId), false),
              IsOkAndHolds("AuthenticAMD,25,1,1"));
  EXPECT_THAT(perfdata::DecodeCommandLine(features.at(perfdata::kCmdline), false),
              IsOkAndHolds(::testing::ElementsAre("ksamp", "record", "-a")));
  ASSERT_OK_AND_ASSIGN(const perfdata::SampleTimes times,
                       perfdata::DecodeSampleTimes(features.at(perfdata::kSampleTime), false));
  EXPECT_EQ(times.first, 10u);
  EXPECT_EQ(times.last, 20u);
  EXPECT_EQ(perfdata::DecodeMeta(features.at(perfdata::kKsampMeta)).at("event.wish"), "cycles");
  EXPECT_EQ(perfdata::DecodeCounters(features.at(perfdata::kKsampCounters)).at("lost.kernel"), 3u);
  EXPECT_FALSE(features.contains(perfdata::kClockData));
}

TEST(RecordingFactsTest, WithoutSamplesThereAreNoTimes) {
  EXPECT_FALSE(DescribeRecording({}).contains(perfdata::kSampleTime));
}

TEST(RecordingFactsTest, AChosenClockCanBeDated) {
  RecordingOrigin origin;
  origin.clock = ReadClockMoment(CLOCK_MONOTONIC);
  const FeatureMap features = DescribeOrigin(origin);
  ASSERT_OK_AND_ASSIGN(const perfdata::ClockData clock,
                       perfdata::DecodeClockData(features.at(perfdata::kClockData), false));
  EXPECT_EQ(clock.clockid, static_cast<uint32_t>(CLOCK_MONOTONIC));
  EXPECT_GT(clock.clock_ns, 0u);
  EXPECT_GT(clock.wall_ns, clock.clock_ns);
}

TEST(ClockIdTest, KnowsTheNamesPeopleUse) {
  EXPECT_THAT(ParseClockId("monotonic"), IsOkAndHolds(CLOCK_MONOTONIC));
  EXPECT_THAT(ParseClockId("mono"), IsOkAndHolds(CLOCK_MONOTONIC));
  EXPECT_THAT(ParseClockId("CLOCK_MONOTONIC_RAW"), IsOkAndHolds(CLOCK_MONOTONIC_RAW));
  EXPECT_THAT(ParseClockId("1"), IsOkAndHolds(CLOCK_MONOTONIC));
  EXPECT_FALSE(ParseClockId("sundial").ok());
}

}  // namespace
}  // namespace ksamp
