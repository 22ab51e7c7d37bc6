// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/sample_counter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

#include "lib/base/byte_writer.h"
#include "lib/profile/sample_walk.h"
#include "test/support/perf_data_builder.h"

namespace ksamp {
namespace {

using ::testing::ElementsAre;

class SampleCounterTest : public ::testing::Test {
 protected:
  SampleCounterTest() : table_(MakeTable()) {
    attr_ = testing::SampleAttr();
    CountedEvent event;
    event.layout = *SampleLayout::FromAttr({reinterpret_cast<const std::byte*>(&attr_), sizeof(attr_)});
    event.has_ip = event.has_thread = event.has_cpu = event.has_period = true;
    plan_.table = &table_;
    plan_.options = &options_;
    plan_.events.push_back(event);
  }
  static ProcessTable MakeTable() {
    ProcessTable::Builder builder;
    Record record;
    MmapRecord map;
    map.mode = CpuMode::kUser;
    map.pid = map.tid = 1;
    map.addr = 0x1000;
    map.length = 0x1000;
    map.path = "/bin/a";
    record.body = map;
    builder.Add(0, record);
    return std::move(builder).Build();
  }
  // identifier, ip, pid, tid, time, cpu, res, period: the layout of SampleAttr().
  void PutSample(uint64_t ip, uint16_t size = 56) {
    out_.Put(perf_event_header{.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .size = size});
    out_.Put<uint64_t>(7);
    out_.Put<uint64_t>(ip);
    out_.Put<uint32_t>(1);
    out_.Put<uint32_t>(1);
    out_.Put<uint64_t>(100);
    out_.Put<uint64_t>(0);
    out_.Put<uint64_t>(10);
  }
  void PutOther(uint32_t type, std::vector<uint64_t> payload) {
    out_.Put(
        perf_event_header{.type = type, .misc = 0, .size = static_cast<uint16_t>(8 + payload.size() * 8)});
    for (const uint64_t value : payload) out_.Put(value);
  }

  perf_event_attr attr_;
  ProcessTable table_;
  ProfileOptions options_;
  CountingPlan plan_;
  ByteWriter out_;
};

TEST_F(SampleCounterTest, CountsWholeSamplesAndLeavesTheRest) {
  ASSERT_EQ(plan_.events[0].layout.fixed_size(), 56u);
  PutSample(0x1010);
  PutOther(PERF_RECORD_LOST, {1, 2});
  PutSample(0x1010);
  PutSample(0x1020);
  SampleCounter counter(plan_);
  counter.CountChunk({.bytes = out_.bytes(), .offset = 104});
  ASSERT_EQ(counter.tallies().size(), 1u);
  EXPECT_EQ(counter.tallies()[0].taken, 3u);
  EXPECT_EQ(counter.tallies()[0].counted, 3u);
  uint64_t samples = 0, period = 0;
  counter.table().ForEach([&](const CountedAddress& entry) {
    samples += entry.counts.samples;
    period += entry.counts.period;
  });
  EXPECT_EQ(counter.table().size(), 2u);
  EXPECT_EQ(samples, 3u);
  EXPECT_EQ(period, 30u);
  EXPECT_EQ(counter.key_numbers().Name(counter.key_numbers().keys()[0].app), "a");
}

// Where a thread was last is remembered; that must not answer for another address.
TEST_F(SampleCounterTest, WhatWasMappedAtTheLastAddressIsNotTakenForTheNext) {
  for (const uint64_t ip : {0x1010, 0x9000, 0x1020, 0x1fff, 0x2000, 0x1030}) PutSample(ip);
  SampleCounter counter(plan_);
  counter.CountChunk({.bytes = out_.bytes(), .offset = 0});
  std::map<uint64_t, uint32_t> image_of;
  counter.table().ForEach([&](const CountedAddress& entry) { image_of[entry.address] = entry.image; });
  const uint32_t none = ReasonImage(UnresolvedReason::kNoMapping);
  const std::map<uint64_t, uint32_t> expected = {{0x10, 0},  {0x20, 0},      {0x30, 0},
                                                 {0xfff, 0}, {0x2000, none}, {0x9000, none}};
  EXPECT_EQ(image_of, expected);
}

TEST_F(SampleCounterTest, NeverLeavesTheChunk) {
  PutSample(0x1010);
  PutSample(0x1010, 400);  // promises more than there is
  SampleCounter counter(plan_);
  counter.CountChunk({.bytes = out_.bytes(), .offset = 0});
  EXPECT_EQ(counter.tallies()[0].taken, 1u);
  counter.CountChunk({.bytes = out_.bytes().first(5), .offset = 0});
  counter.CountChunk({});
  EXPECT_EQ(counter.tallies()[0].taken, 1u);
}

TEST_F(SampleCounterTest, WalkStepsOverBytesOutsideARecordsSize) {
  std::vector<uint64_t> offsets;
  const auto walk = [&] {
    offsets.clear();
    ForEachSample({.bytes = out_.bytes(), .offset = 1000},
                  [&](const std::byte*, uint16_t, uint16_t, uint64_t offset) { offsets.push_back(offset); });
  };
  PutOther(71, {16, 0, 0, 0, 0});  // AUXTRACE of 16 bytes, which look like a sample
  out_.Put(perf_event_header{.type = PERF_RECORD_SAMPLE, .misc = 0, .size = 16});
  out_.Put<uint64_t>(0);
  PutSample(0x1010);
  walk();
  EXPECT_THAT(offsets, ElementsAre(1000 + 48 + 16));
  PutOther(66, {12});  // TRACING_DATA of 12 bytes, padded to 16
  out_.PutZeros(16);
  PutSample(0x1010);
  walk();
  EXPECT_THAT(offsets, ElementsAre(1000 + 64, 1000 + 64 + 56 + 16 + 16));
  PutOther(71, {~uint64_t{0}});  // longer than everything
  PutSample(0x1010);
  walk();
  EXPECT_EQ(offsets.size(), 2u);
}

}  // namespace
}  // namespace ksamp
