// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/counting_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::PerfDataBuilder;
using ::ksamp::testing::SampleAttr;
using ::ksamp::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(CountingPlanTest, ATimeRangeIsFromTheFirstSample) {
  PerfDataBuilder b;
  for (uint64_t time : {1500, 1000, 2000}) b.Sample({.pid = 1, .tid = 1, .time = time, .ip = 1});
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  const ProfileOptions options{.time = TimeRange{100, 600}};
  ASSERT_OK_AND_ASSIGN(const CountingPlan plan, PlanCounting(recording, options, 1));
  EXPECT_EQ(plan.begin_time, 1100u);
  EXPECT_EQ(plan.end_time, 1600u);
}

TEST(CountingPlanTest, WhatTheRecordingCannotAnswerIsRefused) {
  perf_event_attr attr = SampleAttr();
  attr.sample_type &= ~static_cast<uint64_t>(PERF_SAMPLE_CPU | PERF_SAMPLE_TIME | PERF_SAMPLE_TID);
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}, attr).Sample({.ip = 1});
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  const std::pair<ProfileOptions, std::string> cases[] = {
      {{.time = TimeRange{0, 1}}, "no times"},
      {{.cpus = {0}}, "no CPU"},
      {{.pids = {1}}, "no thread"},
      {{.comms = {"a"}}, "no thread"},
      {{.events = {"cycles"}}, "event cycles: not in"},
  };
  for (const auto& [options, reason] : cases)
    EXPECT_THAT(PlanCounting(recording, options, 1),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(reason)));
}

TEST(CountingPlanTest, TheFirstFilterThatTakesAThreadIsNamed) {
  PerfDataBuilder b;
  b.Sample({.pid = 1, .tid = 2, .time = 1, .ip = 1});
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  const std::pair<ProfileOptions, FilterCause> cases[] = {
      {{}, FilterCause::kCount},
      {{.cpus = {3}}, FilterCause::kCount},
      {{.cpus = {4}}, FilterCause::kCpu},
      {{.pids = {9}}, FilterCause::kPid},
      {{.tids = {1}}, FilterCause::kTid},
      {{.comms = {"x"}}, FilterCause::kComm},
      {{.comms = {":2"}}, FilterCause::kCount},
  };
  for (const auto& [options, cause] : cases) {
    ASSERT_OK_AND_ASSIGN(const CountingPlan plan, PlanCounting(recording, options, 1));
    EXPECT_EQ(plan.FilterOf(0, 3, 1, 2, nullptr), cause) << Text(cause);
  }
}

TEST(CountingPlanTest, TalliesAddUpToAConservation) {
  EventTally tally{.taken = 10, .counted = 6};
  tally.filtered[static_cast<size_t>(FilterCause::kCpu)] = 3;
  tally.dropped[static_cast<size_t>(DropCause::kMalformed)] = 1;
  Conservation sum;
  tally.AddTo(sum);
  tally.AddTo(sum);
  EXPECT_EQ(sum.taken, 20u);
  EXPECT_THAT(sum.filtered, ElementsAre(Pair("cpu", 6)));
  EXPECT_THAT(sum.dropped, ElementsAre(Pair("malformed record", 2)));
  EXPECT_TRUE(sum.Holds());
}

}  // namespace
}  // namespace ksamp
