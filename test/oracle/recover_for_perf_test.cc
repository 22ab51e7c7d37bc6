// SPDX-License-Identifier: Apache-2.0
// Recordings whose recorder was killed, or that were cut short, after `ksamp recover`: perf reads them, and
// counts the samples that ksamp said it kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "test/support/built_tree.h"
#include "test/support/capability.h"
#include "test/support/run_command.h"
#include "test/support/temp_tree.h"

namespace ksamp::testing {
namespace {

using ::testing::HasSubstr;

// perf aborts where it finds no build-id in a mapping that another recorder asked one for (6.1 on 6.18), so
// it is told to look for none (-B); and it writes when its rings fill, so they are small (-m 8).

// Some seconds of work of many short processes, ended when the recorder is gone.
constexpr char kLoad[] =
    "i=0; while [ $i -lt 400 ] && kill -0 $recorder 2>/dev/null; do cat /proc/self/maps >/dev/null; "
    "i=$((i+1)); done; ";

struct Case {
  std::string name;
  std::string make;  // shell that makes r.data, unfinished
};

class RecoverForPerf : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    Recordings, RecoverForPerf,
    ::testing::Values(
        Case{"PerfKilled",
             std::string(
                 "perf record -q -B -a -m 8 -e cpu-clock -c 1000000 -o r.data & recorder=$!; sleep 1; ") +
                 kLoad + "kill -9 $recorder; wait $recorder 2>/dev/null; true"},
        Case{"KsampKilled", ToolPath() +
                                " record -a -e cpu-clock -c 1000000 -o r.data & recorder=$!; sleep 3; " +
                                kLoad + "kill -9 $recorder; wait $recorder 2>/dev/null; true"},
        Case{"CutShort",
             "perf record -q -B -a -e cpu-clock -c 1000000 -o whole.data -- sh -c 'sha256sum /usr/bin/perf; "
             "ls -lR /usr/share' >/dev/null && head -c $(($(stat -c %s whole.data) * 2 / 3 - 3)) whole.data "
             ">r.data"},
        Case{"TracepointsKilled",
             std::string(
                 "perf record -q -B -a -m 8 -e sched:sched_switch -o r.data & recorder=$!; sleep 1; ") +
                 kLoad + "kill -9 $recorder; wait $recorder 2>/dev/null; true"}),
    [](const auto& tested) { return tested.param.name; });

TEST_P(RecoverForPerf, PerfReadsIt) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  KSAMP_REQUIRE(HasTool("perf"));
  const TempTree tree;
  const CommandResult made = RunCommand(tree.root(), GetParam().make);
  ASSERT_EQ(made.exit_code, 0) << made;
  const CommandResult recovered = RunCommand(tree.root(), ToolPath() + " recover r.data");
  ASSERT_LE(recovered.exit_code, 1) << recovered;
  const CommandResult kept =
      RunCommand(tree.root(), ToolPath() + " dump --raw -i r.data.recovered | grep -c ' SAMPLE '");
  const size_t samples = std::stoul("0" + kept.out);
  ASSERT_GT(samples, 10u) << recovered;

  const CommandResult script =
      RunCommand(tree.root(), "perf script -F comm,time -i r.data.recovered | wc -l");
  EXPECT_EQ(std::stoul("0" + script.out), samples) << script << recovered;
  const CommandResult report = RunCommand(tree.root(), "perf report --stdio -n -i r.data.recovered");
  EXPECT_EQ(report.exit_code, 0) << report;
  EXPECT_THAT(report.out, HasSubstr("Overhead"));
}

}  // namespace
}  // namespace ksamp::testing
