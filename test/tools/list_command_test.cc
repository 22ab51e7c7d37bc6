// SPDX-License-Identifier: Apache-2.0
// `ksamp list` in-process, on the fake kernel and a sysfs of the test's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "test/support/fake_perf_kernel.h"
#include "test/support/temp_tree.h"
#include "test/support/test_world.h"
#include "tools/command.h"

namespace ksamp {
namespace {

using ::ksamp::testing::FakePerfKernel;
using ::ksamp::testing::FakeRequest;
using ::ksamp::testing::TempTree;
using ::ksamp::testing::TestWorld;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct ListCommandTest : ::testing::Test {
  ListCommandTest() {
    tree.Write("sys/bus/event_source/devices/cpu/type", "4\n");
    tree.Write("sys/bus/event_source/devices/msr/type", "9\n");
    tree.Write("sys/bus/event_source/devices/msr/format/event", "config:0-63\n");
    tree.Write("sys/bus/event_source/devices/msr/events/tsc", "event=0x00\n");
    for (const char* name : {"sched/sched_switch", "sched/sched_wakeup", "irq/softirq_entry"})
      tree.Write("sys/kernel/tracing/events/" + std::string(name) + "/id", "300\n");
    test.world.kernel = &kernel;
    test.world.sys_root = tree.Path("sys");
    test.world.proc_root = tree.Path("proc");
  }
  int Run(std::vector<std::string> args = {}) {
    args.insert(args.begin(), "list");
    return RunKsamp(args, test.world);
  }
  void HasNoPmu() {
    kernel.Refuse(
        [](const FakeRequest& r) {
          return r.attr.type == PERF_TYPE_HARDWARE || r.attr.type == PERF_TYPE_HW_CACHE;
        },
        ENOENT);
  }

  TempTree tree;
  FakePerfKernel kernel;
  TestWorld test;
};

TEST_F(ListCommandTest, ShowsWhatOpensByKind) {
  EXPECT_EQ(Run(), kExitShown);
  const std::string out = test.out();
  EXPECT_THAT(out, StartsWith("hardware:\n  cycles                                CPU cycles, halted ones "
                              "excluded (also cpu-cycles)\n"));
  std::vector<size_t> places;
  for (const char* kind : {"hardware:\n", "\nsoftware:\n", "\ncache:\n", "\npmu:\n", "\noprofile:\n"})
    places.push_back(out.find(kind));
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
  EXPECT_NE(places.back(), std::string::npos);
  EXPECT_EQ(kernel.open_events(), 0u);
}

TEST_F(ListCommandTest, LeavesOutWhatTheKernelRefusesAndCountsIt) {
  HasNoPmu();
  EXPECT_EQ(Run(), kExitShown);
  EXPECT_THAT(test.out(), AllOf(StartsWith("software:\n"), HasSubstr("\n  cpu-clock "),
                                Not(HasSubstr("\n  cycles ")), Not(HasSubstr("CPU_CLK_UNHALTED")),
                                ContainsRegex("\n[0-9]+ more do not work here; --all shows them and why\n")));
}

TEST_F(ListCommandTest, AllTellsWhy) {
  HasNoPmu();
  EXPECT_EQ(Run({"--all", "hardware"}), kExitShown);
  EXPECT_THAT(test.out(),
              AllOf(ContainsRegex("\n  cycles +does not work: this machine has no hardware counters "
                                  "\\(a virtual machine\\?\\)\n"),
                    Not(HasSubstr("cpu-clock"))));
}

TEST_F(ListCommandTest, TellsWhatOnlyCounts) {
  kernel.Refuse([](const FakeRequest& r) { return r.attr.type == 9 && r.attr.sample_period != 0; }, EINVAL);
  EXPECT_EQ(Run({"pmu"}), kExitShown);
  EXPECT_EQ(test.out(),
            "pmu:\n  msr/tsc/                              event=0x00 (counts, cannot be sampled)\n");
}

TEST_F(ListCommandTest, TracepointsAreCountedAndNamedByPattern) {
  EXPECT_EQ(Run(), kExitShown);
  EXPECT_THAT(test.out(),
              AllOf(HasSubstr("3 tracepoints; --tracepoints or a pattern ('sched:*') names them\n"),
                    Not(HasSubstr("sched:sched_switch"))));
  EXPECT_EQ(Run({"sched:*"}), kExitShown);
  EXPECT_THAT(test.out(), HasSubstr("tracepoint:\n  sched:sched_switch\n  sched:sched_wakeup\n"));
}

TEST_F(ListCommandTest, APatternIsATextAGlobOrAKind) {
  EXPECT_EQ(Run({"L1-d*misses"}), kExitShown);
  const std::string glob = test.out();
  EXPECT_THAT(glob, AllOf(HasSubstr("L1-dcache-load-misses "), Not(HasSubstr("L1-dcache-loads"))));
  EXPECT_EQ(Run({"fault"}), kExitShown);
  EXPECT_THAT(test.out().substr(glob.size()),
              AllOf(StartsWith("software:\n"), HasSubstr("page-faults"), HasSubstr("alignment-faults"),
                    Not(HasSubstr("cpu-clock"))));
}

TEST_F(ListCommandTest, NothingFoundIsSaid) {
  EXPECT_EQ(Run({"no-such-event"}), kExitNothing);
  EXPECT_EQ(test.out(), "no event matches 'no-such-event'\n");
}

TEST_F(ListCommandTest, AllRefusedIsCountedAndNothingShown) {
  HasNoPmu();
  EXPECT_EQ(Run({"cycles"}), kExitNothing);
  EXPECT_THAT(test.out(), ContainsRegex("^[0-9]+ more do not work here; --all shows them and why\n$"));
}

TEST_F(ListCommandTest, WhereTheKernelIsForbiddenUserSpaceIsNamed) {
  tree.Write("proc/sys/kernel/perf_event_paranoid", "2\n");
  kernel.Refuse([](const FakeRequest& r) { return r.attr.exclude_kernel == 0; }, EACCES);
  EXPECT_EQ(Run({"cpu-clock"}), kExitShown);
  EXPECT_THAT(test.out(), HasSubstr("CPU clock (in user space only: :u)\n"));
}

TEST_F(ListCommandTest, NamesFromTheMachineAreEscaped) {
  tree.Write("sys/bus/event_source/devices/msr/events/a\033b", "event=0x01\n");
  EXPECT_EQ(Run({"--all", "pmu"}), kExitShown);
  EXPECT_THAT(test.out(), AllOf(HasSubstr("\\x1b"), Not(HasSubstr("\033"))));
}

}  // namespace
}  // namespace ksamp
