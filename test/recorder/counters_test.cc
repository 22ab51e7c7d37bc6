// SPDX-License-Identifier: Apache-2.0
#include "ksamp/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <set>

#include "ksamp/recorder.h"
#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "test/support/fake_perf_kernel.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::FakeEvent;
using ::ksamp::testing::FakeKernelOptions;
using ::ksamp::testing::FakePerfKernel;
using ::ksamp::testing::FakeRequest;
using ::ksamp::testing::StatusIs;
using ::ksamp::testing::TempTree;
using ::testing::_;
using ::testing::HasSubstr;
using ::testing::SizeIs;

bool IsHardware(const FakeRequest& request) {
  return request.attr.type == PERF_TYPE_HARDWARE;
}

struct CountersTest : ::testing::Test {
  void Machine(FakeKernelOptions options) {
    tree.Write("sys/devices/system/cpu/online",
               options.cpus == 1 ? "0\n" : StrCat("0-", options.cpus - 1, "\n"));
    kernel = std::make_unique<FakePerfKernel>(options);
  }
  CountOptions WholeMachine(const std::string& events) {
    CountOptions options;
    options.system_wide = true;
    options.events = {events};
    options.proc_root = tree.Path("proc");
    options.sys_root = tree.Path("sys");
    return options;
  }
  absl::StatusOr<CountResult> Count(const CountOptions& options) {
    absl::StatusOr<std::unique_ptr<Counters>> counters = Counters::Open(options, kernel.get());
    if (!counters.ok()) return counters.status();
    kernel->set_on_poll([&](int poll) {
      if (poll == 3) (*counters)->RequestStop();
    });
    return (*counters)->Run();
  }

  TempTree tree;
  std::unique_ptr<FakePerfKernel> kernel;
};

// The fake counts one when it is enabled (leaders), and one at each poll.
TEST_F(CountersTest, EveryCpuIsCountedAndSummed) {
  Machine({.cpus = 512, .samples_per_poll = 1});
  ASSERT_OK_AND_ASSIGN(const CountResult result,
                       Count(WholeMachine("cycles,{instructions,branches},page-faults")));
  ASSERT_THAT(result.events, SizeIs(4));
  for (const EventCount& event : result.events) {
    EXPECT_EQ(event.missing, "") << event.name;
    EXPECT_THAT(event.places, SizeIs(512));
    EXPECT_EQ(event.value, 512u * (event.name == "branches" ? 3 : 4)) << event.name;
    EXPECT_EQ(event.running, event.enabled);
  }
  EXPECT_EQ(result.events[1].name, "instructions");
  EXPECT_EQ(result.events[0].places[511].cpu, 511);
  EXPECT_EQ(kernel->open_events(), 0u);
}

TEST_F(CountersTest, MembersAreOpenedInTheGroupOfTheirLeader) {
  Machine({.cpus = 2});
  absl::StatusOr<std::unique_ptr<Counters>> counters =
      Counters::Open(WholeMachine("{cycles,instructions}"), kernel.get());
  ASSERT_OK(counters.status());
  std::map<int, FakeEvent> by_fd;
  for (const FakeEvent& event : kernel->events()) by_fd[event.fd] = event;
  ASSERT_THAT(by_fd, SizeIs(4));
  std::multiset<int> cpus_of_members;
  for (const auto& [fd, event] : by_fd) {
    EXPECT_EQ(event.request.attr.sample_period, 0u);
    if (event.request.attr.config == PERF_COUNT_HW_CPU_CYCLES) {
      EXPECT_EQ(event.leader_fd, -1);
      EXPECT_FALSE(event.enabled);
      continue;
    }
    ASSERT_TRUE(by_fd.contains(event.leader_fd));
    const FakeEvent& leader = by_fd[event.leader_fd];
    EXPECT_EQ(leader.request.attr.config, uint64_t{PERF_COUNT_HW_CPU_CYCLES});
    EXPECT_EQ(leader.request.cpu, event.request.cpu);
    EXPECT_TRUE(event.enabled);  // follows its leader
    cpus_of_members.insert(event.request.cpu);
  }
  EXPECT_THAT(cpus_of_members, ::testing::ElementsAre(0, 1));
}

TEST_F(CountersTest, ACpuThatGoesOfflineIsLeftOutAndTold) {
  Machine({.cpus = 3, .samples_per_poll = 1});
  kernel->SetOffline(1);
  ASSERT_OK_AND_ASSIGN(const CountResult result, Count(WholeMachine("{cycles,instructions},page-faults")));
  for (const EventCount& event : result.events) {
    ASSERT_THAT(event.places, SizeIs(2)) << event.name;
    EXPECT_EQ(event.places[0].cpu, 0);
    EXPECT_EQ(event.places[1].cpu, 2);
    EXPECT_EQ(event.value, event.places[0].counted + event.places[1].counted);
  }
  EXPECT_THAT(result.notes, ::testing::ElementsAre("CPU 1 went offline and is not counted."));
}

TEST_F(CountersTest, AnEventThatIsNowhereKeepsTheKernelsReason) {
  Machine({.cpus = 2, .samples_per_poll = 1});
  kernel->Refuse(IsHardware, ENODEV);
  ASSERT_OK_AND_ASSIGN(const CountResult result, Count(WholeMachine("cycles,page-faults")));
  EXPECT_THAT(result.events[0].missing, HasSubstr("no hardware counters"));
  EXPECT_EQ(result.events[1].missing, "");
}

TEST_F(CountersTest, CountersThatTookTurnsAreScaled) {
  Machine({.cpus = 1, .samples_per_poll = 100, .running_percent = 25});
  ASSERT_OK_AND_ASSIGN(const CountResult result, Count(WholeMachine("cycles")));
  const EventCount& event = result.events.front();
  ASSERT_THAT(event.places, SizeIs(1));
  EXPECT_EQ(event.places[0].counted, 301u);
  EXPECT_EQ(event.value, 1208u);  // 301 * 301 / 75
  EXPECT_EQ(event.running.count(), 75);
  EXPECT_EQ(event.enabled.count(), 301);
}

TEST_F(CountersTest, AnEventNeverScheduledHasNoValue) {
  Machine({.cpus = 1, .samples_per_poll = 1, .running_percent = 0});
  ASSERT_OK_AND_ASSIGN(const CountResult result, Count(WholeMachine("cycles")));
  EXPECT_EQ(result.events.front().missing, "no hardware counter became free for it");
  EXPECT_TRUE(result.events.front().supported);
}

TEST_F(CountersTest, WhatTheMachineCannotCountDoesNotFailTheRest) {
  Machine({.cpus = 2, .samples_per_poll = 1});
  kernel->Refuse(IsHardware, ENOENT);
  ASSERT_OK_AND_ASSIGN(const CountResult result, Count(WholeMachine("cycles,page-faults,{instructions,cs}")));
  EXPECT_FALSE(result.events[0].supported);
  EXPECT_THAT(result.events[0].missing, HasSubstr("no hardware counters"));
  EXPECT_EQ(result.events[1].value, 2u * 4);
  EXPECT_FALSE(result.events[3].supported);
  EXPECT_EQ(result.events[3].missing, "the first event of its group, instructions, cannot be counted");
}

TEST_F(CountersTest, OnlyUnsupportedEventsAreAnAnswerToo) {
  Machine({.cpus = 2});
  kernel->Refuse(IsHardware, ENOENT);
  ASSERT_OK_AND_ASSIGN(const CountResult result, Count(WholeMachine("cycles")));
  EXPECT_FALSE(result.events[0].supported);
}

TEST_F(CountersTest, BeingForbiddenIsAFailureThatNamesTheCase) {
  Machine({.cpus = 2});
  tree.Write("proc/sys/kernel/perf_event_paranoid", "2\n");
  tree.Write("proc/self/status", "CapEff:\t0000000000000000\n");
  kernel->Refuse([](const FakeRequest&) { return true; }, EACCES);
  const absl::Status status = Count(WholeMachine("cycles,page-faults")).status();
  EXPECT_THAT(MessageOf(status), HasSubstr("perf_event_paranoid is 2"));
  EXPECT_EQ(FailureOf(status), OpenFailure::kParanoid);
}

TEST_F(CountersTest, TooManyFilesIsAFailureToo) {
  Machine({.cpus = 4, .max_events = 3});
  const absl::Status status = Count(WholeMachine("cycles")).status();
  EXPECT_EQ(FailureOf(status), OpenFailure::kTooManyFiles) << status;
}

TEST_F(CountersTest, ACommandOfAUserWithoutRightsIsCountedInUserSpace) {
  Machine({.cpus = 1});
  tree.Write("proc/sys/kernel/perf_event_paranoid", "2\n");
  tree.Write("proc/self/status", "CapEff:\t0000000000000000\n");
  kernel->Refuse([](const FakeRequest& r) { return r.attr.exclude_kernel == 0; }, EACCES);
  CountOptions options = WholeMachine("cycles");
  options.system_wide = false;
  options.command = {"true"};
  ASSERT_OK_AND_ASSIGN(const CountResult result, Count(options));
  EXPECT_EQ(result.events[0].name, "cycles:u");
  ASSERT_THAT(result.notes, SizeIs(1));
  EXPECT_THAT(result.notes[0], HasSubstr("user space only"));
  EXPECT_EQ(kernel->requests().back().attr.enable_on_exec, 1u);
  EXPECT_EQ(kernel->requests().back().attr.inherit, 1u);
}

TEST_F(CountersTest, AnOfflineCpuAndAMissingProcessAreTold) {
  Machine({.cpus = 2});
  CountOptions options = WholeMachine("cycles");
  options.system_wide = false;
  options.cpus = {7};
  EXPECT_THAT(Count(options).status(), StatusIs(_, HasSubstr("count CPU 7: it is not online (online: 0-1)")));
  options.cpus.clear();
  tree.Write("proc/self/status", "");
  options.pids = {4711};
  const absl::Status status = Count(options).status();
  EXPECT_THAT(status, StatusIs(_, HasSubstr("count process 4711: there is no such process")));
  EXPECT_EQ(FailureOf(status), OpenFailure::kNoSuchProcess);
}

TEST_F(CountersTest, TargetsExcludeEachOther) {
  Machine({.cpus = 2});
  CountOptions options = WholeMachine("cycles");
  options.tids = {getpid()};
  EXPECT_THAT(Count(options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("exclude each other")));
}

TEST_F(CountersTest, TheCommandsStatusComesBack) {
  Machine({.cpus = 1});
  CountOptions options = WholeMachine("page-faults");
  options.command = {"sh", "-c", "exit 7"};
  absl::StatusOr<std::unique_ptr<Counters>> counters = Counters::Open(options, kernel.get());
  ASSERT_OK(counters.status());
  ASSERT_OK_AND_ASSIGN(const CountResult result, (*counters)->Run());
  EXPECT_EQ(result.command_status, 7 << 8);
  options.command = {"/no/such/program"};
  EXPECT_EQ(FailureOf(Counters::Open(options, kernel.get()).status()), OpenFailure::kCommandNotFound);
}

TEST_F(CountersTest, IntervalsComeWhileItCounts) {
  Machine({.cpus = 1, .samples_per_poll = 1});
  CountOptions options = WholeMachine("cycles");
  options.interval = std::chrono::milliseconds(5);
  options.duration = std::chrono::milliseconds(60);
  absl::StatusOr<std::unique_ptr<Counters>> counters = Counters::Open(options, kernel.get());
  ASSERT_OK(counters.status());
  std::vector<uint64_t> values;
  ASSERT_OK_AND_ASSIGN(const CountResult result, (*counters)->Run([&](const CountResult& so_far) {
    values.push_back(so_far.events[0].value);
  }));
  ASSERT_GE(values.size(), 3u);
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  EXPECT_LT(values.front(), values.back());
  EXPECT_EQ(result.events[0].value, values.back());  // the last call is the end
}

}  // namespace
}  // namespace ksamp
