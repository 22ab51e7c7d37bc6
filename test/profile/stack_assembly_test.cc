// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/stack_assembly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "lib/profile/recording_sweep.h"
#include "test/profile/profile_rows.h"
#include "test/profile/stack_rows.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::ExpectConserved;
using ::ksamp::testing::ExpectStacksMatchEntries;
using ::ksamp::testing::PerfDataBuilder;
using ::ksamp::testing::SampleAttr;
using ::ksamp::testing::StackRowsOf;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr uint64_t kUser = static_cast<uint64_t>(-512);
constexpr size_t kSamples = 3000;

// Random walks through three functions of two programs.
PerfDataBuilder Walks() {
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}, SampleAttr(PERF_SAMPLE_CALLCHAIN));
  for (const uint32_t pid : {10u, 20u})
    b.Mmap({.pid = pid, .addr = 0x400000, .length = 0x1000, .path = pid == 10 ? "/bin/a" : "/bin/b"});
  std::mt19937 random(4711);
  for (size_t i = 0; i < kSamples; ++i) {
    std::vector<uint64_t> chain = {kUser};
    for (size_t depth = 1 + random() % 6; depth > 0; --depth) chain.push_back(0x400010 + random() % 3 * 0x10);
    const uint32_t pid = random() % 2 == 0 ? 10 : 20;
    b.Sample({.pid = pid, .tid = pid, .time = i, .ip = chain[1], .callchain = chain});
  }
  return b;
}

// As several threads would: sample by sample to one counter or another.
Profile Assembled(const Recording& recording, size_t counters) {
  const ProfileOptions options;
  CountingPlan plan = *PlanCounting(recording, options, 1);
  const SideRecordSweep side = SweepSideRecords(recording, plan.timeless, plan.ReadFormats());
  plan.table = &side.table;
  std::vector<std::unique_ptr<StackCounter>> all;
  for (size_t i = 0; i < counters; ++i) all.push_back(std::make_unique<StackCounter>(plan));
  size_t next = 0;
  for (const Recording::Chunk& chunk : recording.chunks())
    ForEachSample(chunk, [&](const std::byte* record, uint16_t size, uint16_t, uint64_t offset) {
      all[next++ % counters]->CountChunk({.bytes = {record, size}, .offset = offset});
    });
  Profile profile;
  profile.events = {{.name = "cpu-clock", .note = {}}};
  AssembleStacks(all, side.table, profile);
  return profile;
}

TEST(StackAssemblyTest, IsTheSameWhateverTheNumberOfCounters) {
  const Recording recording = *Walks().Open();
  const Profile one = Assembled(recording, 1), three = Assembled(recording, 3);
  ExpectConserved(one, kSamples);
  ExpectStacksMatchEntries(one);
  const auto nodes = [](const Profile& profile) {
    std::vector<std::pair<uint32_t, uint32_t>> list;
    for (const StackNode& node : profile.stack_nodes) list.emplace_back(node.parent, node.location);
    return list;
  };
  const auto stacks = [](const Profile& profile) {
    std::vector<std::tuple<uint32_t, uint32_t, uint64_t>> list;
    for (const StackEntry& stack : profile.stacks)
      list.emplace_back(stack.key, stack.node, stack.counts.samples);
    return list;
  };
  EXPECT_EQ(nodes(one), nodes(three));
  EXPECT_EQ(stacks(one), stacks(three));
  EXPECT_EQ(testing::RowsOf(one), testing::RowsOf(three));
}

TEST(StackAssemblyTest, FramesThatAreNoLeafAreLocationsWithoutAnEntry) {
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}, SampleAttr(PERF_SAMPLE_CALLCHAIN));
  b.Mmap({.pid = 10, .addr = 0x400000, .length = 0x1000, .path = "/bin/a"});
  b.Sample({.pid = 10, .tid = 10, .time = 1, .ip = 0x400010, .callchain = {kUser, 0x400010, 0x400020}});
  b.Sample({.pid = 10, .tid = 10, .time = 2, .ip = 0x400010, .callchain = {kUser, 0x400010, 0x9000}});
  const Profile profile = Assembled(*b.Open(), 1);
  ExpectStacksMatchEntries(profile);
  EXPECT_THAT(StackRowsOf(profile),
              ElementsAre(Pair("[unknown]+0x8fff;a+0x10", 1), Pair("a+0x1f;a+0x10", 1)));
  EXPECT_EQ(profile.locations.size(), 3u);
  EXPECT_EQ(profile.entries.size(), 1u);
}

}  // namespace
}  // namespace ksamp
