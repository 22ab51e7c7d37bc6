// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/session.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <numeric>

#include "test/support/fake_perf_kernel.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::FakeEvent;
using ::ksamp::testing::FakePerfKernel;
using ::ksamp::testing::FakeRequest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PlannedEvent Planned(uint32_t type, uint64_t config, const char* name) {
  PlannedEvent event;
  event.spec.name = name;
  event.spec.type = type;
  event.spec.config = config;
  AttrOptions options;
  options.period = 250'689;
  event.attr = BuildSamplingAttr(event.spec, options);
  return event;
}

EventPlan CpuClockPlan() {
  EventPlan plan;
  plan.groups = {{Planned(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "cpu-clock")}};
  return plan;
}

std::vector<int> Cpus(int count) {
  std::vector<int> cpus(static_cast<size_t>(count));
  std::iota(cpus.begin(), cpus.end(), 0);
  return cpus;
}

SessionOptions OnCpus(int count) {
  SessionOptions options;
  options.cpus = Cpus(count);
  return options;
}

TEST(PerfSessionTest, OneRingPerCpuTakesEveryEvent) {
  FakePerfKernel kernel({.cpus = 2});
  ASSERT_OK_AND_ASSIGN(auto session, PerfSession::Open(kernel, CpuClockPlan(), OnCpus(2)));
  EXPECT_EQ(kernel.open_events(), 4u);  // the event and the tracking one, twice
  EXPECT_EQ(kernel.mapped_rings(), 2u);
  EXPECT_THAT(session->cpus(), ElementsAre(0, 1));
  const std::vector<WriterEvent> events = session->WriterEvents();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].name, "cpu-clock");
  EXPECT_EQ(events[0].ids.size(), 2u);
  EXPECT_FALSE(events[0].attr.mmap);
  EXPECT_EQ(events[1].name, "dummy:u");
  EXPECT_TRUE(events[1].attr.mmap2);
  EXPECT_TRUE(events[1].attr.exclude_kernel);  // opens without any right to the kernel
  EXPECT_EQ(session->EventOfId(events[1].ids[0]), 1);
  EXPECT_EQ(session->EventOfId(12345), -1);
  EXPECT_THAT(session->notes(), IsEmpty());
}

TEST(PerfSessionTest, TrackingIsEnabledApartAndBefore) {
  FakePerfKernel kernel({.cpus = 1});
  ASSERT_OK_AND_ASSIGN(auto session, PerfSession::Open(kernel, CpuClockPlan(), OnCpus(1)));
  const auto enabled = [&] {
    std::vector<bool> states;
    for (const FakeEvent& event : kernel.events()) states.push_back(event.enabled);
    return states;
  };
  EXPECT_THAT(enabled(), ElementsAre(false, false));
  ASSERT_OK(session->EnableTracking());
  EXPECT_THAT(enabled(), ElementsAre(false, true));
  ASSERT_OK(session->Enable());
  EXPECT_THAT(enabled(), ElementsAre(true, true));
  ASSERT_OK(session->Disable());
  EXPECT_THAT(enabled(), ElementsAre(false, false));
}

TEST(PerfSessionTest, ThreadsGetAnEventPerCpuAndShareItsRing) {
  FakePerfKernel kernel({.cpus = 2});
  SessionOptions options = OnCpus(2);
  options.tids = {100, 101, 102};
  ASSERT_OK_AND_ASSIGN(auto session, PerfSession::Open(kernel, CpuClockPlan(), options));
  EXPECT_EQ(kernel.open_events(), 2u * 3 * 2);
  EXPECT_EQ(session->rings().size(), 2u);
  for (const FakeRequest& request : kernel.requests()) {
    EXPECT_GE(request.cpu, 0);
    EXPECT_GE(request.pid, 100);
  }
}

TEST(PerfSessionTest, GroupsHangOnTheirLeaderAndFollowIt) {
  FakePerfKernel kernel({.cpus = 1});
  EventPlan plan;
  plan.groups = {{Planned(PERF_TYPE_HARDWARE, 0, "cycles"), Planned(PERF_TYPE_HARDWARE, 1, "instructions")}};
  ASSERT_OK_AND_ASSIGN(auto session, PerfSession::Open(kernel, plan, OnCpus(1)));
  ASSERT_EQ(kernel.requests().size(), 3u);
  EXPECT_EQ(kernel.requests()[0].group_fd, -1);
  EXPECT_GE(kernel.requests()[1].group_fd, 0);
  EXPECT_TRUE(kernel.requests()[0].attr.disabled);
  EXPECT_FALSE(kernel.requests()[1].attr.disabled);
  ASSERT_OK(session->Enable());
  EXPECT_TRUE(kernel.events()[1].enabled);
}

TEST(PerfSessionTest, HybridEventsStayOnTheirCpus) {
  FakePerfKernel kernel({.cpus = 4});
  EventPlan plan;
  plan.groups = {{Planned(PERF_TYPE_HARDWARE, 0, "cpu_core/cycles/")},
                 {Planned(PERF_TYPE_HARDWARE, 0, "cpu_atom/cycles/")}};
  plan.groups[0][0].cpus = {0, 1};
  plan.groups[1][0].cpus = {2, 3};
  ASSERT_OK_AND_ASSIGN(auto session, PerfSession::Open(kernel, plan, OnCpus(4)));
  const std::vector<WriterEvent> events = session->WriterEvents();
  EXPECT_EQ(events[0].ids.size(), 2u);
  EXPECT_EQ(events[1].ids.size(), 2u);
  EXPECT_EQ(events[2].ids.size(), 4u);  // mappings are told everywhere
  EXPECT_EQ(session->rings().size(), 4u);
}

TEST(PerfSessionTest, OfflineCpusAreSkippedAndTold) {
  FakePerfKernel kernel({.cpus = 4});
  kernel.SetOffline(2);
  ASSERT_OK_AND_ASSIGN(auto session, PerfSession::Open(kernel, CpuClockPlan(), OnCpus(4)));
  EXPECT_THAT(session->cpus(), ElementsAre(0, 1, 3));
  EXPECT_THAT(session->notes(), ElementsAre("CPU 2 is offline and not recorded."));
}

TEST(PerfSessionTest, WithoutAnyCpuNothingIsRecorded) {
  FakePerfKernel kernel({.cpus = 1});
  kernel.SetOffline(0);
  EXPECT_EQ(FailureOf(PerfSession::Open(kernel, CpuClockPlan(), OnCpus(1)).status()),
            OpenFailure::kNoSuchCpu);
}

TEST(PerfSessionTest, AThreadThatEndedIsSkippedAllOfThemAreAnError) {
  FakePerfKernel kernel({.cpus = 1});
  kernel.Refuse([](const FakeRequest& r) { return r.pid == 101; }, ESRCH);
  SessionOptions options = OnCpus(1);
  options.tids = {100, 101};
  EXPECT_OK(PerfSession::Open(kernel, CpuClockPlan(), options));
  options.tids = {101};
  EXPECT_EQ(FailureOf(PerfSession::Open(kernel, CpuClockPlan(), options).status()),
            OpenFailure::kNoSuchProcess);
}

TEST(PerfSessionTest, TooManyFilesSaysHowMany) {
  FakePerfKernel kernel({.cpus = 8, .max_events = 5});
  const absl::Status status = PerfSession::Open(kernel, CpuClockPlan(), OnCpus(8)).status();
  EXPECT_EQ(FailureOf(status), OpenFailure::kTooManyFiles);
  EXPECT_THAT(std::string(status.message()), HasSubstr("it takes 80 open files"));
}

TEST(PerfSessionTest, TheLargestRingsThatFitAreTakenAndTold) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  FakePerfKernel kernel({.cpus = 4, .mlock_bytes = 4 * (64 * 1024 + page)});
  SessionOptions options = OnCpus(4);
  options.ring_bytes = 512 << 10;
  ASSERT_OK_AND_ASSIGN(auto session, PerfSession::Open(kernel, CpuClockPlan(), options));
  EXPECT_EQ(session->rings().size(), 4u);
  for (const PerfSession::Ring& ring : session->rings()) EXPECT_EQ(ring.reader.capacity(), 64u << 10);
  EXPECT_THAT(session->notes(), ElementsAre(HasSubstr("rings of 64 KiB per CPU instead of 512")));
}

TEST(PerfSessionTest, NoRoomForAnyRingIsTheMlockLimit) {
  FakePerfKernel kernel({.cpus = 1, .mlock_bytes = 100});
  EXPECT_EQ(FailureOf(PerfSession::Open(kernel, CpuClockPlan(), OnCpus(1)).status()),
            OpenFailure::kMlockLimit);
}

TEST(PerfSessionTest, AnOldKernelIsAskedForLessOnceAndForAllCpus) {
  FakePerfKernel kernel({.cpus = 2});
  kernel.Refuse([](const FakeRequest& r) { return r.attr.build_id != 0; }, EINVAL);
  ASSERT_OK_AND_ASSIGN(auto session, PerfSession::Open(kernel, CpuClockPlan(), OnCpus(2)));
  EXPECT_FALSE(session->WriterEvents().back().attr.build_id);
  EXPECT_EQ(kernel.open_events(), 4u);
}

TEST(PerfSessionTest, FiveHundredCpusAndFourEvents) {
  FakePerfKernel kernel({.cpus = 512});
  EventPlan plan;
  for (uint64_t config = 0; config < 4; ++config)
    plan.groups.push_back({Planned(PERF_TYPE_HARDWARE, config, "event")});
  SessionOptions options = OnCpus(512);
  options.ring_bytes = 4096;
  ASSERT_OK_AND_ASSIGN(auto session, PerfSession::Open(kernel, plan, options));
  EXPECT_EQ(kernel.open_events(), 5u * 512);
  EXPECT_EQ(session->rings().size(), 512u);
  session.reset();
  EXPECT_EQ(kernel.open_events(), 0u);
  EXPECT_EQ(kernel.mapped_bytes(), 0u);
}

TEST(PerfSessionTest, KnowsWhatTheRingsHadNoRoomFor) {
  FakePerfKernel kernel({.cpus = 1});
  SessionOptions options = OnCpus(1);
  options.ring_bytes = 4096;
  ASSERT_OK_AND_ASSIGN(auto session, PerfSession::Open(kernel, CpuClockPlan(), options));
  ASSERT_OK(session->Enable());
  while (kernel.PushSample(0, 1, 1)) {
  }
  kernel.PushSample(0, 1, 1);
  EXPECT_THAT(session->ReadLost(), ElementsAre(2u, 0u));
}

TEST(RingBytesForTest, HoldsAQuarterOfASecond) {
  EventPlan plan = CpuClockPlan();
  EXPECT_EQ(RingBytesFor(plan), 128u << 10);
  plan.groups[0][0].attr.sample_period = 20'000;  // 50 kHz
  EXPECT_EQ(RingBytesFor(plan), 1024u << 10);
  plan.groups[0][0].attr.sample_period = 1'000;
  EXPECT_EQ(RingBytesFor(plan), 4096u << 10);
  plan.groups = {{Planned(PERF_TYPE_TRACEPOINT, 315, "sched:sched_switch")}};
  EXPECT_EQ(RingBytesFor(plan), 1024u << 10);
}

}  // namespace
}  // namespace ksamp
