// SPDX-License-Identifier: Apache-2.0
// Code that a program generated while it ran keeps its names: after the program, its file and its container
// are gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "lib/base/str_cat.h"
#include "test/support/built_tree.h"
#include "test/support/capability.h"
#include "test/support/run_command.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::CanSampleSystemWide;
using ::ksamp::testing::CCompiler;
using ::ksamp::testing::CommandResult;
using ::ksamp::testing::CsvFields;
using ::ksamp::testing::HasTool;
using ::ksamp::testing::IsRoot;
using ::ksamp::testing::Lines;
using ::ksamp::testing::RunCommand;
using ::ksamp::testing::SourceDir;
using ::ksamp::testing::TempTree;
using ::ksamp::testing::ToolPath;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

class GeneratedCodeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    KSAMP_REQUIRE(CanSampleSystemWide());
    KSAMP_REQUIRE(IsRoot());  // for /proc/PID/root
    const CommandResult built = RunCommand(
        tree_.root(), StrCat(CCompiler(), " -O1 -o gen ", SourceDir(), "/test/fixtures/generated_code.c"));
    ASSERT_EQ(built.exit_code, 0) << built;
  }
  CommandResult Run(const std::string& line) { return RunCommand(tree_.root(), line); }
  std::string Record(const std::string& words) {
    return StrCat(ToolPath(), " record -q -e cpu-clock -o x.data ", words);
  }
  // "SYMBOL SAMPLES" of the program.
  CommandResult Report(const std::string& words = "") {
    return Run(StrCat(ToolPath(), " report -l --csv -i x.data ", words, " | grep anon"));
  }
  TempTree tree_;
};

// A process with numbers and a /tmp of its own, which are gone when it ends. The program is opened before its
// folder disappears below the new /tmp.
std::string InContainer(const std::string& words) {
  return StrCat(
      "unshare -m -p -f --kill-child --mount-proc sh -c 'exec 9< gen && mount -t tmpfs none /tmp && ",
      "exec /proc/self/fd/9 ", words, "'");
}

TEST_F(GeneratedCodeTest, NamesOutliveTheProcessAndItsMap) {
  const CommandResult recorded = Run(Record("sh -c './gen map 200000000 & wait $!; rm /tmp/perf-$!.map'"));
  ASSERT_EQ(recorded.exit_code, 0) << recorded;
  const CommandResult report = Report();
  EXPECT_THAT(report.out, HasSubstr(",hot_function of app.js:12,"));
  EXPECT_THAT(report.out, HasSubstr(",cool_function,"));
}

TEST_F(GeneratedCodeTest, NamesOutliveTheContainer) {
  KSAMP_REQUIRE(HasTool("unshare"));
  const CommandResult recorded = Run(Record(StrCat("-a ", InContainer("map 200000000"))));
  ASSERT_EQ(recorded.exit_code, 0) << recorded;
  EXPECT_THAT(Report().out, HasSubstr(",hot_function of app.js:12,"));
}

TEST_F(GeneratedCodeTest, ARunningProcessInAContainerIsAskedWhenReporting) {
  KSAMP_REQUIRE(HasTool("unshare"));
  KSAMP_REQUIRE(HasTool("perf"));
  // perf copies no maps into its recording, so the names come from the process that lingers.
  const CommandResult report =
      Run(StrCat("{ (exec ", InContainer("map 700000000 30"), ") & job=$!; sleep 0.2; ",
                 "perf record -q -B -a -e cpu-clock -c 250689 -o x.data sleep 0.7; ", ToolPath(),
                 " report -l --csv -i x.data | grep anon; kill -KILL $job; }"));
  EXPECT_THAT(report.out, HasSubstr(",hot_function of app.js:12,")) << report;
}

TEST_F(GeneratedCodeTest, AJitdumpTellsFunctionsApartByTime) {
  for (const char* clock : {"", "--clockid monotonic "}) {
    const CommandResult recorded = Run(Record(StrCat(clock, "./gen dump-move 100000000 && rm jit-*.dump")));
    ASSERT_EQ(recorded.exit_code, 0) << recorded;
    std::map<std::string, double> samples;
    const CommandResult report = Run(StrCat(ToolPath(), " report -l --csv -i x.data | grep jit-"));
    for (const std::string& line : Lines(report.out)) {
      const std::vector<std::string> fields = CsvFields(line);
      samples[fields.at(7)] = std::stod(fields.at(8));
    }
    EXPECT_THAT(samples,
                ElementsAre(Pair("new_function of app.js:12", Gt(200)), Pair("old_function", Gt(40))))
        << report;
    // Six runs of the one, one of the other.
    EXPECT_NEAR(samples["old_function"] / samples["new_function of app.js:12"], 1.0 / 6, 0.1);
    EXPECT_EQ(Run(StrCat(ToolPath(), " report --notes -i x.data | grep 'another clock'")).out, "");
  }
}

TEST_F(GeneratedCodeTest, WithoutAMapTheProcessIsNamedWithTheReason) {
  ASSERT_EQ(Run(Record("./gen none 60000000")).exit_code, 0);
  const CommandResult report = Report();
  EXPECT_THAT(report.out, HasSubstr("anon (tgid:"));
  EXPECT_THAT(report.out, HasSubstr(",[unresolved: anonymous memory without a perf-PID.map],"));
  EXPECT_THAT(report.out, Not(HasSubstr("hot_function")));
}

TEST_F(GeneratedCodeTest, PerfReadsARecordingThatHoldsMaps) {
  KSAMP_REQUIRE(HasTool("perf"));
  ASSERT_EQ(Run(Record("sh -c './gen map 60000000 & wait $!; rm /tmp/perf-$!.map'")).exit_code, 0);
  const CommandResult report = Run("perf report --stdio -i x.data 2>&1 >/dev/null");
  EXPECT_EQ(report.exit_code, 0) << report;
  EXPECT_EQ(report.out, "");
}

}  // namespace
}  // namespace ksamp
