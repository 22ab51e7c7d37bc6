// SPDX-License-Identifier: Apache-2.0
// The record command in-process, on the fake kernel.
#include <gtest/gtest.h>

#include <cerrno>
#include <sstream>

#include "ksamp/perf_data.h"
#include "test/support/fake_perf_kernel.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"
#include "tools/command.h"

namespace ksamp {
namespace {

using ::ksamp::testing::FakePerfKernel;
using ::ksamp::testing::FakeRequest;
using ::ksamp::testing::TempTree;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

struct RecordCommandTest : ::testing::Test {
  RecordCommandTest() {
    tree.Write("sys/devices/system/cpu/online", "0-1\n");
    tree.Write("proc/cpuinfo", "cpu MHz : 2000.0\n");
    world.out = &out;
    world.err = &err;
    world.kernel = &kernel;
    world.proc_root = tree.Path("proc");
    world.sys_root = tree.Path("sys");
    world.getenv = [](const std::string&) { return std::nullopt; };
    kernel.set_samples_per_poll(2);
  }
  int Run(std::vector<std::string> args) {
    args.insert(args.begin(), {"record", "--no-kernel-symbols", "-o", file});
    return RunKsamp(args, world);
  }

  TempTree tree;
  std::string file = tree.Path("x.data");
  FakePerfKernel kernel{{.cpus = 2}};
  std::ostringstream out, err;
  World world;
};

TEST_F(RecordCommandTest, TheLastLineSaysWhatHappened) {
  EXPECT_EQ(Run({"-a", "--duration", "30ms"}), 0);
  EXPECT_THAT(
      err.str(),
      ContainsRegex("ksamp: [0-9 ]+ samples in 0\\.0 s on 2 CPUs \\(cycles, every [0-9 ]+ events\\), 0 "
                    "lost; .*x\\.data [0-9.]+ .?B; ksamp used [0-9.]+ % of one CPU\\.\n"));
  ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(file));
  EXPECT_GT(recording.counts().samples, 0u);
}

TEST_F(RecordCommandTest, WhatIsDegradedIsToldBefore) {
  kernel.Refuse([](const FakeRequest& r) { return r.attr.type == PERF_TYPE_HARDWARE; }, ENOENT);
  EXPECT_EQ(Run({"-a", "--duration", "10ms"}), 0);
  EXPECT_THAT(err.str(),
              AllOf(HasSubstr("ksamp: cycles: this machine has no hardware counters for us (a virtual "
                              "machine?); sampling the CPU clock by timer instead.\n       Kernel code that"),
                    HasSubstr("(cpu-clock, every 250 689 ns)")));
}

TEST_F(RecordCommandTest, QuietSaysNothing) {
  EXPECT_EQ(Run({"-q", "-a", "--duration", "10ms"}), 0);
  EXPECT_EQ(err.str(), "");
}

TEST_F(RecordCommandTest, TheCommandsStatusIsHandedOn) {
  EXPECT_EQ(Run({"-a", "sh", "-c", "exit 7"}), 7);
  EXPECT_EQ(Run({"-a", "--", "sh", "-c", "kill -9 $$"}), 128 + 9);
  EXPECT_EQ(Run({"no-such-program-anywhere"}), 127);
  EXPECT_EQ(Run({tree.Write("plain.txt", "x")}), 126);
}

TEST_F(RecordCommandTest, TheEndThatWasAskedForIsNoFailureOfTheCommand) {
  EXPECT_EQ(Run({"-a", "--duration", "30ms", "sleep", "60"}), 0);
  EXPECT_EQ(Run({"-a", "--max-size", "1K", "sleep", "60"}), 0);
}

TEST_F(RecordCommandTest, WithoutTracefsTheRemedyIsToMountIt) {
  EXPECT_EQ(Run({"-a", "-e", "sched:sched_switch", "--duration", "10ms"}), kExitNothing);
  EXPECT_THAT(err.str(), AllOf(HasSubstr("tracefs is not mounted"), HasSubstr("mount -t tracefs")));
}

TEST_F(RecordCommandTest, ARefusalExplainsItself) {
  kernel.Refuse([](const FakeRequest&) { return true; }, EACCES);
  tree.Write("proc/sys/kernel/perf_event_paranoid", "2\n");
  EXPECT_EQ(Run({"-a", "--duration", "1"}), kExitNothing);
  EXPECT_THAT(err.str(), AllOf(HasSubstr("perf_event_paranoid is 2"), HasSubstr("As root: ")));
  EXPECT_EQ(Run({"-a", "true"}), kExitOwnFailure);
}

TEST_F(RecordCommandTest, BadValuesAreUsageErrors) {
  EXPECT_EQ(Run({}), kExitUsage);
  EXPECT_EQ(Run({"-C", "x", "true"}), kExitUsage);
  EXPECT_EQ(Run({"-a", "--duration", "soon"}), kExitUsage);
  EXPECT_EQ(Run({"-a", "--max-size", "much"}), kExitUsage);
  EXPECT_EQ(Run({"-a", "--nmi-watchdog=maybe"}), kExitUsage);
}

TEST_F(RecordCommandTest, OptionsReachTheKernel) {
  EXPECT_EQ(Run({"-ga", "-F", "99", "-k", "monotonic", "--duration", "10ms"}), 0);
  bool seen = false;
  for (const FakeRequest& r : kernel.requests()) {
    seen |= r.pid == -1 && r.attr.freq && r.attr.sample_freq == 99 &&
            (r.attr.sample_type & PERF_SAMPLE_CALLCHAIN) && r.attr.use_clockid;
  }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace ksamp
