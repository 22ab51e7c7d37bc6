// SPDX-License-Identifier: Apache-2.0
// ksamp stat against work of known size, and against perf stat on the same program.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "test/support/built_tree.h"
#include "test/support/capability.h"
#include "test/support/run_command.h"
#include "test/support/temp_tree.h"

namespace ksamp::testing {
namespace {

// 1000 pages touched, 200 sleeps, and some work on the CPU; a child of the same.
constexpr char kProgram[] = R"(
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void work(void) {
  char* pages = mmap(0, 1000 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(pages, 1000 * 4096, MADV_NOHUGEPAGE);
  for (int i = 0; i < 1000; ++i) pages[i * 4096] = 1;
  struct timespec pause = {0, 100000};
  for (int i = 0; i < 200; ++i) nanosleep(&pause, 0);
  clock_t end = clock() + CLOCKS_PER_SEC / 5;
  while (clock() < end) {}
}
int main(void) {
  work();
  if (fork() == 0) { work(); _exit(0); }
  wait(0);
  return 0;
}
)";

class StatVsPerf : public ::testing::Test {
 protected:
  void SetUp() override {
    KSAMP_REQUIRE(CanSample());
    tree_.Write("program.c", kProgram);
    const CommandResult built =
        RunCommand(tree_.root(), ShellQuoted(CCompiler()) + " -O1 -o program program.c");
    ASSERT_EQ(built.exit_code, 0) << built;
  }

  // event -> value, of lines with the event in column `name` and the value in column `value`.
  std::map<std::string, double> Columns(const std::string& text, size_t name, size_t value) {
    std::map<std::string, double> found;
    for (const std::string& line : Lines(text)) {
      std::vector<std::string> fields(1);
      for (const char c : line) {
        if (c == ',') {
          fields.emplace_back();
        } else {
          fields.back() += c;
        }
      }
      if (fields.size() > std::max(name, value))
        found[fields[name]] = std::strtod(fields[value].c_str(), nullptr);
    }
    return found;
  }
  std::map<std::string, double> ByKsamp(const std::string& options) {
    const CommandResult run = RunCommand(
        tree_.root(),
        "'" + ToolPath() + "' stat --csv -o - -e task-clock,page-faults,context-switches " + options);
    EXPECT_EQ(run.exit_code, 0) << run;
    return Columns(run.out, 1, 4);
  }

  TempTree tree_;
};

TEST_F(StatVsPerf, KnownWorkIsCounted) {
  std::map<std::string, double> counted = ByKsamp("-- ./program");
  EXPECT_GE(counted["page-faults"], 2000);
  EXPECT_LT(counted["page-faults"], 2000 + 500);
  EXPECT_GE(counted["context-switches"], 400);
  EXPECT_GE(counted["task-clock"], 0.4e9);
  EXPECT_LT(counted["task-clock"], 0.8e9);
  // Without the child, half of it.
  counted = ByKsamp("-i -- ./program");
  EXPECT_GE(counted["page-faults"], 1000);
  EXPECT_LT(counted["page-faults"], 1000 + 300);
}

TEST_F(StatVsPerf, PerfCountsTheSame) {
  KSAMP_REQUIRE(HasTool("perf"));
  std::map<std::string, double> ksamp = ByKsamp("-- ./program");
  const CommandResult run = RunCommand(
      tree_.root(),
      "perf stat -x, -o perf.csv -e task-clock,page-faults,context-switches ./program; cat perf.csv");
  ASSERT_EQ(run.exit_code, 0) << run;
  std::map<std::string, double> perf = Columns(run.out, 2, 0);
  EXPECT_NEAR(ksamp["page-faults"], perf["page-faults"], 30);
  EXPECT_NEAR(ksamp["context-switches"], perf["context-switches"], 100);  // others preempt it now and then
  EXPECT_NEAR(ksamp["task-clock"] / 1e6, perf["task-clock"], 100);
}

TEST_F(StatVsPerf, AProcessIsCountedUntilItsEnd) {
  const CommandResult run = RunCommand(tree_.root(), "{ sh -c 'sleep 0.4; exec ./program' & '" + ToolPath() +
                                                         "' stat --csv -o - -e page-faults -p $!; }");
  ASSERT_EQ(run.exit_code, 0) << run;
  EXPECT_GE(Columns(run.out, 1, 4)["page-faults"], 2000);
}

TEST_F(StatVsPerf, CtrlCPrintsWhatWasCountedUntilThen) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  const CommandResult run = RunCommand(tree_.root(), "timeout --preserve-status -s INT 0.7 '" + ToolPath() +
                                                         "' stat --csv -o - -e cpu-clock -a");
  EXPECT_EQ(run.exit_code, 0) << run;
  EXPECT_GE(Columns(run.out, 1, 4)["cpu-clock"], 0.1e9) << run;
}

}  // namespace
}  // namespace ksamp::testing
