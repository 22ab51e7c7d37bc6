// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/event_probe.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cerrno>

#include "lib/base/file_io.h"
#include "lib/event/attr_builder.h"
#include "test/support/capability.h"
#include "test/support/fake_perf_kernel.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::CanSample;
using ::ksamp::testing::FakePerfKernel;
using ::ksamp::testing::FakeRequest;

perf_event_attr Cycles() {
  EventSpec spec;
  spec.type = PERF_TYPE_HARDWARE;
  return BuildSamplingAttr(spec, {});
}

TEST(EventProbeTest, AnEventThatCountsAndDeliversWorks) {
  FakePerfKernel kernel;
  const ProbeResult result = ProbeEvent(kernel, Cycles(), {});
  EXPECT_EQ(result.outcome, ProbeOutcome::kWorks);
  EXPECT_GT(result.counts_per_second, 0);
  EXPECT_EQ(kernel.open_events(), 0u);  // Nothing stays open.
  ASSERT_EQ(kernel.requests().size(), 1u);
  EXPECT_EQ(kernel.requests()[0].pid, 0);  // The own thread.
}

TEST(EventProbeTest, ARefusalKeepsItsReason) {
  FakePerfKernel kernel;
  kernel.Refuse([](const FakeRequest&) { return true; }, ENOENT);
  const ProbeResult result = ProbeEvent(kernel, Cycles(), {});
  EXPECT_EQ(result.outcome, ProbeOutcome::kRefused);
  EXPECT_EQ(StatusErrno(result.refusal), ENOENT);
}

TEST(EventProbeTest, APmuThatOnlyPretendsIsFound) {
  FakePerfKernel counts_nothing;
  counts_nothing.CountNothing([](const FakeRequest&) { return true; });
  EXPECT_EQ(ProbeEvent(counts_nothing, Cycles(), {}).outcome, ProbeOutcome::kCountsNothing);
  FakePerfKernel never_interrupts;
  never_interrupts.DeliverNothing([](const FakeRequest&) { return true; });
  EXPECT_EQ(ProbeEvent(never_interrupts, Cycles(), {}).outcome, ProbeOutcome::kDeliversNothing);
}

TEST(EventProbeTest, AFullLockedMemoryIsARefusal) {
  FakePerfKernel kernel({.mlock_bytes = 0});
  EXPECT_EQ(ProbeEvent(kernel, Cycles(), {}).outcome, ProbeOutcome::kRefused);
}

TEST(EventProbeTest, TheThreadComesBackFromThePmusCpus) {
  cpu_set_t before, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  FakePerfKernel kernel;
  ProbeEvent(kernel, Cycles(), {0});
  ASSERT_EQ(sched_getaffinity(0, sizeof(after), &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(EventProbeTest, TheRealCpuClockWorks) {
  KSAMP_REQUIRE(CanSample());
  EventSpec spec;
  spec.type = PERF_TYPE_SOFTWARE;
  spec.config = PERF_COUNT_SW_CPU_CLOCK;
  const ProbeResult result = ProbeEvent(LinuxPerfKernel(), BuildSamplingAttr(spec, {}), {});
  EXPECT_EQ(result.outcome, ProbeOutcome::kWorks) << result.refusal;
}

}  // namespace
}  // namespace ksamp
