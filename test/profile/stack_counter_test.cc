// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/stack_counter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "lib/base/str_cat.h"
#include "lib/profile/place_cache.h"
#include "lib/profile/recording_sweep.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::PerfDataBuilder;
using ::ksamp::testing::SampleAttr;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr uint64_t kKernel = static_cast<uint64_t>(-128), kUser = static_cast<uint64_t>(-512),
                   kDeferred = static_cast<uint64_t>(-640);
constexpr uint64_t kSyscall = 0xffffffff81000100;

PerfDataBuilder OneProcess(uint16_t max_stack = 0) {
  perf_event_attr attr = SampleAttr(PERF_SAMPLE_CALLCHAIN);
  attr.sample_max_stack = max_stack;
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}, attr);
  b.Mmap({.pid = 10, .addr = 0x400000, .length = 0x1000, .path = "/bin/a"});
  return b;
}

// "0x10 0x1f": addresses of the stack, the outermost first -> samples.
std::map<std::string, uint64_t> Stacks(const PerfDataBuilder& builder) {
  const Recording recording = *builder.Open();
  const ProfileOptions options;
  CountingPlan plan = *PlanCounting(recording, options, 1);
  const SideRecordSweep side = SweepSideRecords(recording, plan.timeless, plan.ReadFormats());
  plan.table = &side.table;
  StackCounter counter(plan);
  for (const Recording::Chunk& chunk : recording.chunks()) counter.CountChunk(chunk);
  std::map<std::string, uint64_t> stacks;
  for (const auto& [stack, counts] : counter.counts()) {
    std::string text;
    for (uint32_t n = stack.second; n != StackTree::kNoParent; n = counter.tree().nodes()[n].parent) {
      const StackTree::Node& node = counter.tree().nodes()[n];
      const bool cut = node.image == ReasonImage(UnresolvedReason::kStackTooDeep);
      text = StrCat(cut ? std::string("cut") : StrCat(Hex(node.address)), text.empty() ? "" : " ", text);
    }
    stacks[text] += counts.samples;
  }
  return stacks;
}

TEST(StackCounterTest, ReturnAddressesAreLookedUpOneByteBefore) {
  PerfDataBuilder b = OneProcess();
  for (int i = 0; i < 3; ++i)
    b.Sample({.pid = 10,
              .tid = 10,
              .time = 1,
              .ip = 0x400010,
              .callchain = {kUser, 0x400010, 0x400020, 0x400030}});
  b.Sample({.pid = 10, .tid = 10, .time = 2, .ip = 0x400011, .callchain = {kUser, 0x400011, 0x400020}});
  EXPECT_THAT(Stacks(b), ElementsAre(Pair("0x1f 0x11", 1), Pair("0x2f 0x1f 0x10", 3)));
}

TEST(StackCounterTest, WhereTheKernelWasEnteredIsNoReturnAddress) {
  PerfDataBuilder b = OneProcess();
  b.Sample({.pid = 10,
            .tid = 10,
            .time = 1,
            .ip = kSyscall,
            .mode = CpuMode::kKernel,
            .callchain = {kKernel, kSyscall, kSyscall + 0x10, kUser, 0x400010, 0x400020}});
  EXPECT_THAT(Stacks(b), ElementsAre(Pair("0x1f 0x10 0xffffffff8100010f 0xffffffff81000100", 1)));
}

TEST(StackCounterTest, WithoutAChainTheSampleIsAStackOfOne) {
  PerfDataBuilder b = OneProcess();
  b.Sample({.pid = 10, .tid = 10, .time = 1, .ip = 0x400010});
  b.Sample({.pid = 10, .tid = 10, .time = 2, .ip = 0x400010, .callchain = {kUser}});
  EXPECT_THAT(Stacks(b), ElementsAre(Pair("0x10", 2)));
}

TEST(StackCounterTest, TheSampleKnowsBetterThanItsChainWhereItWas) {
  PerfDataBuilder b = OneProcess();
  b.Sample({.pid = 10, .tid = 10, .time = 1, .ip = 0x400010, .callchain = {kUser, 0x400014, 0x400020}});
  // The kernel's part was not recorded.
  b.Sample({.pid = 10,
            .tid = 10,
            .time = 2,
            .ip = kSyscall,
            .mode = CpuMode::kKernel,
            .callchain = {kUser, 0x400014, 0x400020}});
  EXPECT_THAT(Stacks(b), ElementsAre(Pair("0x1f 0x10", 1), Pair("0x1f 0x14 0xffffffff81000100", 1)));
}

TEST(StackCounterTest, TheCookieOfADeferredChainIsNoFrame) {
  PerfDataBuilder b = OneProcess();
  b.Sample({.pid = 10,
            .tid = 10,
            .time = 1,
            .ip = kSyscall,
            .mode = CpuMode::kKernel,
            .callchain = {kKernel, kSyscall, kDeferred, 0x400010}});
  EXPECT_THAT(Stacks(b), ElementsAre(Pair("0xffffffff81000100", 1)));
}

TEST(StackCounterTest, AStackOfTheRecordedDepthIsToldToGoOn) {
  PerfDataBuilder b = OneProcess(3);
  b.Sample(
      {.pid = 10, .tid = 10, .time = 1, .ip = 0x400010, .callchain = {kUser, 0x400010, 0x400020, 0x400030}});
  b.Sample({.pid = 10, .tid = 10, .time = 2, .ip = 0x400010, .callchain = {kUser, 0x400010, 0x400020}});
  EXPECT_THAT(Stacks(b), ElementsAre(Pair("0x1f 0x10", 1), Pair("cut 0x2f 0x1f 0x10", 1)));
}

TEST(StackCounterTest, TheKernelsDefaultDepthHoldsWhereTheRecordingNamesNone) {
  PerfDataBuilder b = OneProcess();
  for (const size_t frames : {size_t{126}, size_t{127}}) {
    std::vector<uint64_t> chain(frames + 1, 0x400020);
    chain[0] = kUser;
    chain[1] = 0x400010;
    b.Sample({.pid = 10, .tid = 10, .time = 1, .ip = 0x400010, .callchain = chain});
  }
  const std::map<std::string, uint64_t> stacks = Stacks(b);
  ASSERT_EQ(stacks.size(), 2u);
  EXPECT_TRUE(stacks.rbegin()->first.starts_with("cut 0x1f"));
  EXPECT_TRUE(stacks.begin()->first.starts_with("0x1f"));
}

}  // namespace
}  // namespace ksamp
