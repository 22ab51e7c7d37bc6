// SPDX-License-Identifier: Apache-2.0
// The check command in-process, on the fake kernel and a tree of files.
#include <gtest/gtest.h>

#include <cerrno>

#include "test/support/fake_perf_kernel.h"
#include "test/support/status_matchers.h"
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
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct CheckCommandTest : ::testing::Test {
  CheckCommandTest() {
    tree.Write("sys/devices/system/cpu/online", "0-1\n");
    tree.Write("proc/cpuinfo", "cpu MHz : 2000.0\n");
    tree.Write("proc/kallsyms", "ffffffff81000000 T _text\n");
    tree.Write("proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n");
    test.world.proc_root = tree.Path("proc");
    test.world.sys_root = tree.Path("sys");
    test.world.kernel = &kernel;
  }
  void WithoutCounters() {
    kernel.Refuse([](const FakeRequest& r) { return r.attr.type == PERF_TYPE_HARDWARE; }, ENOENT);
  }

  TempTree tree;
  FakePerfKernel kernel{{.cpus = 2}};
  TestWorld test;
};

TEST_F(CheckCommandTest, OneLineEachAndWhatToDoBelow) {
  WithoutCounters();
  EXPECT_EQ(RunKsamp({"check"}, test.world), kExitDamaged);
  EXPECT_THAT(
      test.out(),
      AllOf(
          StartsWith(
              "degraded  event                 cpu-clock, every 250 689 ns\n"
              "                                cycles: this machine has no hardware counters for us (a "
              "virtual machine?); sampling the CPU clock by timer instead.\n"
              "degraded  interrupt             timer\n"),
          HasSubstr("\nOK        kernel_symbols        1 (kernel.kptr_restrict = unknown)\n"),
          HasSubstr(
              "\nmissing   tracefs               not mounted\n"
              "                                Tracepoints (-e sched:sched_switch) cannot be recorded; all "
              "else can.\n"
              "                                > As root: mount -t tracefs nodev /sys/kernel/tracing.\n"),
          EndsWith(
              "\n\n12 checks: 8 OK, 3 degraded, 1 missing. Samples can be taken, with the limits above.\n")));
  EXPECT_EQ(test.err(), "");
}

TEST_F(CheckCommandTest, WhereNothingCanBeSampledTheRefusalIsExplained) {
  tree.Write("proc/self/status", "Name:\tx\nCapEff:\t0\nSeccomp:\t0\n");
  tree.Write("proc/sys/kernel/perf_event_paranoid", "4\n");
  kernel.Refuse([](const FakeRequest&) { return true; }, EACCES);
  EXPECT_EQ(RunKsamp({"check"}, test.world), kExitNothing);
  EXPECT_THAT(
      test.out(),
      AllOf(StartsWith("missing   event                 open "), HasSubstr("kernel.perf_event_paranoid is 4"),
            HasSubstr("> As root: echo 1 > "), EndsWith(" missing. This machine cannot be sampled.\n")));
}

TEST_F(CheckCommandTest, Json) {
  WithoutCounters();
  EXPECT_EQ(RunKsamp({"check", "--json"}, test.world), kExitDamaged);
  EXPECT_THAT(
      test.out(),
      AllOf(StartsWith("{\"can_sample\":true,\n\"verdict\":\"degraded\",\n\"checks\":[\n{\"name\":\"event\","
                       "\"verdict\":"
                       "\"degraded\",\"found\":\"cpu-clock, every 250 689 ns\",\"meaning\":\"cycles: "),
            ContainsRegex("\n\\{\"name\":\"tracefs\",\"verdict\":\"missing\",\"found\":\"not "
                          "mounted\",\"meaning\":\"[^\"]+"
                          "\",\"remedy\":\"As root: mount [^\"]+\"\\},\n"),
            EndsWith("\"}]}\n")));
}

TEST_F(CheckCommandTest, TakesNoWords) {
  EXPECT_EQ(RunKsamp({"check", "everything"}, test.world), kExitUsage);
}

}  // namespace
}  // namespace ksamp
