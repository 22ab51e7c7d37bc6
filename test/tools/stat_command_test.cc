// SPDX-License-Identifier: Apache-2.0
// The stat command in-process, on the fake kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "lib/base/file_io.h"
#include "test/support/fake_perf_kernel.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"
#include "tools/command.h"

namespace ksamp {
namespace {

using ::ksamp::testing::FakePerfKernel;
using ::ksamp::testing::FakeRequest;
using ::ksamp::testing::IsOkAndHolds;
using ::ksamp::testing::TempTree;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

struct StatCommandTest : ::testing::Test {
  StatCommandTest() {
    tree.Write("sys/devices/system/cpu/online", "0-1\n");
    world.out = &out;
    world.err = &err;
    world.kernel = &kernel;
    world.proc_root = tree.Path("proc");
    world.sys_root = tree.Path("sys");
    world.getenv = [](const std::string&) { return std::nullopt; };
    kernel.set_samples_per_poll(2);
  }
  int Run(std::vector<std::string> args) {
    args.insert(args.begin(), "stat");
    return RunKsamp(args, world);
  }

  TempTree tree;
  FakePerfKernel kernel{{.cpus = 2}};
  std::ostringstream out, err;
  World world;
};

TEST_F(StatCommandTest, TheDefaultSetOfTheWholeMachine) {
  EXPECT_EQ(Run({"-a", "--duration", "30ms"}), 0);
  EXPECT_THAT(
      err.str(),
      AllOf(HasSubstr(" Counts of the whole machine:\n"), HasSubstr(" msec cpu-clock "),
            HasSubstr(" context-switches "), HasSubstr(" cpu-migrations "), HasSubstr(" page-faults "),
            HasSubstr(" cycles "), HasSubstr(" insn per cycle"), HasSubstr(" branches "),
            HasSubstr("% of all branches"), ContainsRegex("\n +0\\.[0-9]+ seconds time elapsed\n")));
  EXPECT_EQ(out.str(), "");
}

TEST_F(StatCommandTest, AMachineWithoutCountersSaysSoOnce) {
  kernel.Refuse([](const FakeRequest& r) { return r.attr.type == PERF_TYPE_HARDWARE; }, ENOENT);
  EXPECT_EQ(Run({"-a", "--duration", "10ms"}), 0);
  EXPECT_THAT(err.str(),
              AllOf(HasSubstr("<not supported>      cycles\n"),
                    HasSubstr("ksamp: cycles, instructions, branches, branch-misses: this machine has no "
                              "hardware counters")));
}

TEST_F(StatCommandTest, TheCommandsStatusIsHandedOn) {
  EXPECT_EQ(Run({"-e", "page-faults", "--", "sh", "-c", "exit 7"}), 7);
  EXPECT_THAT(err.str(), AllOf(HasSubstr(" Counts of 'sh -c exit 7':\n"), HasSubstr(" seconds user\n"),
                               HasSubstr(" seconds sys\n")));
  EXPECT_EQ(Run({"--", "sh", "-c", "kill -9 $$"}), 128 + 9);
  EXPECT_EQ(Run({"no-such-program-anywhere"}), 127);
  EXPECT_EQ(Run({tree.Write("plain.txt", "x")}), 126);
  EXPECT_EQ(Run({"-a", "--duration", "20ms", "sleep", "60"}), 0);
}

TEST_F(StatCommandTest, WhatCannotMeanAnythingIsAUsageError) {
  EXPECT_EQ(Run({}), kExitUsage);
  EXPECT_THAT(err.str(), HasSubstr("nothing to count"));
  EXPECT_EQ(Run({"-r", "3", "-a"}), kExitUsage);
  EXPECT_EQ(Run({"-A", "true"}), kExitUsage);
  EXPECT_EQ(Run({"--csv", "--json", "true"}), kExitUsage);
  EXPECT_EQ(Run({"--append", "true"}), kExitUsage);
  EXPECT_EQ(Run({"-I", "1", "-a"}), kExitUsage);
}

TEST_F(StatCommandTest, SeveralRunsGiveTheSpread) {
  EXPECT_EQ(Run({"-r", "3", "-e", "task-clock", "-a", "true"}), 0);
  EXPECT_THAT(err.str(), AllOf(HasSubstr("(3 runs):\n"), HasSubstr("seconds time elapsed  ( +- ")));
}

TEST_F(StatCommandTest, IntervalsAndCpusAreLinesOfTheirOwn) {
  EXPECT_EQ(Run({"-a", "-A", "-I", "10", "--duration", "55ms", "-e", "page-faults"}), 0);
  EXPECT_THAT(err.str(), ContainsRegex("\n +0\\.0[0-9]+ CPU1 +[0-9]+      page-faults\n"));
}

TEST_F(StatCommandTest, RunsThatTheDurationEndsGoOnToTheLast) {
  EXPECT_EQ(Run({"-r", "3", "--duration", "20ms", "-e", "page-faults", "-a", "sleep", "60"}), 0);
  EXPECT_THAT(err.str(), HasSubstr("(3 runs):\n"));
}

TEST_F(StatCommandTest, ARowOfRunsThatWasCutShortSaysSo) {
  EXPECT_EQ(Run({"-r", "3", "-e", "page-faults", "-a", "sh", "-c", "kill -INT $$"}), 128 + 2);
  EXPECT_THAT(err.str(), HasSubstr("ksamp: stopped after 1 of 3 runs.\n"));
}

TEST_F(StatCommandTest, TheIntervalsAddUpToTheWhole) {
  EXPECT_EQ(Run({"-a", "-I", "10", "--duration", "55ms", "-e", "page-faults", "--csv", "-o", "-"}), 0);
  std::istringstream lines(out.str());
  uint64_t sum = 0, whole = 0, intervals = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t name = line.find(",page-faults,,,");
    if (name == std::string::npos) continue;
    const uint64_t value = std::stoull(line.substr(name + 15));
    if (name == 0) {
      whole = value;
    } else {
      sum += value;
      ++intervals;
    }
  }
  EXPECT_GE(intervals, 2u);
  EXPECT_GT(whole, 0u);
  EXPECT_EQ(sum, whole);
}

TEST_F(StatCommandTest, TheFileIsOursAndNoLinkIsFollowed) {
  const std::string file = tree.Path("x.txt"), link = tree.Path("link");
  EXPECT_EQ(Run({"-a", "--duration", "10ms", "-e", "cs", "-o", file}), 0);
  struct stat info = {};
  ASSERT_EQ(stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(symlink(file.c_str(), link.c_str()), 0);
  EXPECT_EQ(Run({"-a", "--duration", "10ms", "-e", "cs", "-o", link}), kExitOwnFailure);
  EXPECT_EQ(Run({"-a", "--duration", "10ms", "-e", "cs", "-o", link, "--append"}), kExitOwnFailure);
}

TEST_F(StatCommandTest, CsvAndJsonGoWhereTheyAreAskedTo) {
  EXPECT_EQ(Run({"-a", "--duration", "10ms", "-e", "page-faults", "--csv", "-o", tree.Path("x.csv")}), 0);
  EXPECT_THAT(ReadFile(tree.Path("x.csv")), IsOkAndHolds(AllOf(HasSubstr("time,event,cpu,tid,value"),
                                                               ContainsRegex("\n,page-faults,,,[0-9]+,"))));
  EXPECT_EQ(Run({"-a", "--duration", "10ms", "-e", "cs", "--csv", "-o", tree.Path("x.csv"), "--append"}), 0);
  EXPECT_THAT(ReadFile(tree.Path("x.csv")),
              IsOkAndHolds(AllOf(HasSubstr(",page-faults,"), HasSubstr(",cs,"))));
  EXPECT_EQ(Run({"-a", "--duration", "10ms", "-e", "page-faults", "--json", "-o", "-"}), 0);
  EXPECT_THAT(
      out.str(),
      ContainsRegex("^\\{\"runs\":1,\"elapsed_ns\":[0-9]+,\"events\":\\[\\{\"event\":\"page-faults\""));
  EXPECT_EQ(err.str(), "");
  EXPECT_EQ(Run({"-a", "--duration", "10ms", "-o", "/no/such/folder/x"}), kExitOwnFailure);
  EXPECT_THAT(err.str(), HasSubstr("ksamp: create /no/such/folder/x: "));
}

}  // namespace
}  // namespace ksamp
