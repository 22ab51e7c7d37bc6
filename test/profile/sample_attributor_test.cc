// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/sample_attributor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "lib/profile/recording_sweep.h"
#include "lib/profile/sample_walk.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::PerfDataBuilder;
using ::ksamp::testing::SampleAttr;

// A recording with its plan, and the samples' bytes.
struct Opened {
  explicit Opened(const PerfDataBuilder& builder)
      : recording(*builder.Open()),
        plan(*PlanCounting(recording, options, 1)),
        side(SweepSideRecords(recording, plan.timeless, plan.ReadFormats())) {
    plan.table = &side.table;
  }
  // Attributes all samples; how many it took.
  size_t AttributeAll(SampleAttributor& attributor) const {
    size_t taken = 0;
    for (const Recording::Chunk& chunk : recording.chunks())
      ForEachSample(chunk, [&](const std::byte* record, uint16_t size, uint16_t misc, uint64_t offset) {
        taken += attributor.Attribute(record, size, misc, offset) ? 1 : 0;
      });
    return taken;
  }

  ProfileOptions options;
  Recording recording;
  CountingPlan plan;
  SideRecordSweep side;
};

TEST(SampleAttributorTest, AChainBehindCounterValuesIsFoundToo) {
  perf_event_attr attr = SampleAttr(PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN);
  attr.read_format = 0;
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}, attr);
  b.Mmap({.pid = 10, .addr = 0x400000, .length = 0x1000, .path = "/bin/a"});
  b.Sample({.pid = 10,
            .tid = 10,
            .time = 1,
            .ip = 0x400010,
            .callchain = {static_cast<uint64_t>(-512), 0x400010, 0x400020}});
  const Opened opened(b);
  SampleAttributor attributor(opened.plan);
  ASSERT_EQ(opened.AttributeAll(attributor), 1u);
  ASSERT_EQ(attributor.frames().size(), 2u);
  EXPECT_EQ(attributor.frames()[0].address, 0x10u);
  EXPECT_EQ(attributor.frames()[1].address, 0x1fu);
  EXPECT_TRUE(attributor.frames()[1].is_return_address);
  EXPECT_EQ(attributor.comm(), ":10");
}

TEST(SampleAttributorTest, AChainLongerThanItsRecordIsDroppedAndTallied) {
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}, SampleAttr(PERF_SAMPLE_CALLCHAIN));
  b.Sample({.pid = 1, .tid = 1, .time = 1, .ip = 1, .callchain = {1, 2, 3}});
  const Opened opened(b);
  SampleAttributor attributor(opened.plan);
  for (const Recording::Chunk& chunk : opened.recording.chunks())
    ForEachSample(chunk, [&](const std::byte* record, uint16_t size, uint16_t misc, uint64_t offset) {
      alignas(8) std::byte copy[256];
      ASSERT_LE(size, sizeof(copy));
      std::memcpy(copy, record, size);
      const size_t at = opened.plan.events[0].layout.fixed_size();
      for (const uint64_t count : {uint64_t{4}, ~uint64_t{0}, uint64_t{1} << 61}) {
        std::memcpy(copy + at, &count, sizeof(count));
        EXPECT_FALSE(attributor.Attribute(copy, size, misc, offset)) << count;
      }
      EXPECT_FALSE(attributor.Attribute(copy, static_cast<uint16_t>(at), misc, offset));
    });
  EXPECT_EQ(attributor.tallies()[0].taken, 4u);
  EXPECT_EQ(attributor.tallies()[0].dropped[static_cast<size_t>(DropCause::kMalformed)], 4u);
}

TEST(SampleAttributorTest, SamplesOfNoEventAndOfGuestsAreToldApart) {
  PerfDataBuilder b;
  b.AddEvent("cycles", {7}).AddEvent("instructions", {8});
  b.Sample({.pid = 1, .tid = 1, .time = 1, .ip = 1, .id = 99});
  b.Sample({.pid = 1, .tid = 1, .time = 2, .ip = 5, .mode = CpuMode::kGuestKernel, .event = 1});
  const Opened opened(b);
  SampleAttributor attributor(opened.plan);
  ASSERT_EQ(opened.AttributeAll(attributor), 1u);
  EXPECT_EQ(attributor.event(), 1u);
  EXPECT_EQ(attributor.frames()[0].image, ReasonImage(UnresolvedReason::kGuest));
  EXPECT_EQ(attributor.tallies()[0].dropped[static_cast<size_t>(DropCause::kUnknownEvent)], 1u);
}

}  // namespace
}  // namespace ksamp
