// SPDX-License-Identifier: Apache-2.0
// The dump command in-process, on recordings made to order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/support/perf_data_builder.h"
#include "test/support/temp_tree.h"
#include "test/support/test_world.h"
#include "tools/command.h"

namespace ksamp {
namespace {

using ::ksamp::testing::PerfDataBuilder;
using ::ksamp::testing::TempTree;
using ::ksamp::testing::TestWorld;
using ::testing::HasSubstr;
using ::testing::StartsWith;

PerfDataBuilder TwoThreads() {
  PerfDataBuilder b;
  b.Comm(10, 10, "a").Comm(20, 20, "b");
  b.Sample({.pid = 20, .tid = 20, .time = 2'000'000'000, .ip = 0x20, .cpu = 1});
  b.Sample({.pid = 10, .tid = 10, .time = 1'000'000'000, .ip = 0x10});
  return b;
}

struct DumpCommandTest : ::testing::Test {
  int Run(const PerfDataBuilder& builder, std::vector<std::string> args) {
    args.insert(args.begin(), {"dump", "-i", builder.WriteTo(tree.Path("x.data"))});
    return RunKsamp(args, world.world);
  }
  TempTree tree;
  TestWorld world;
};

constexpr char kOfA[] =
    "               a    10 [000]     1.000000:    1000000 cpu-clock:                10 [unknown] "
    "([unknown])\n";
constexpr char kOfB[] =
    "               b    20 [001]     2.000000:    1000000 cpu-clock:                20 [unknown] "
    "([unknown])\n";

TEST_F(DumpCommandTest, SamplesInOrderOfTime) {
  EXPECT_EQ(Run(TwoThreads(), {}), kExitShown);
  EXPECT_EQ(world.out(), std::string(kOfA) + kOfB);
  EXPECT_EQ(world.err(), "");
}

TEST_F(DumpCommandTest, FiltersSelect) {
  EXPECT_EQ(Run(TwoThreads(), {"--comm=b", "--cpu=1", "--time=0.5,2"}), kExitShown);
  EXPECT_EQ(world.out(), kOfB);
}

TEST_F(DumpCommandTest, NothingSelectedIsSaid) {
  EXPECT_EQ(Run(TwoThreads(), {"--pid=99"}), kExitNothing);
  EXPECT_EQ(world.out(), "");
  EXPECT_THAT(world.err(), HasSubstr("no samples selected (2 samples in "));
}

TEST_F(DumpCommandTest, RawIsEveryRecordAndTakesNoFilters) {
  EXPECT_EQ(Run(TwoThreads(), {"--raw"}), kExitShown);
  EXPECT_THAT(world.out(), StartsWith("0x"));
  EXPECT_THAT(world.out(), HasSubstr(" COMM "));
  TestWorld refused;
  EXPECT_EQ(RunKsamp({"dump", "-i", tree.Path("x.data"), "--raw", "--pid=10"}, refused.world), kExitUsage);
  EXPECT_THAT(refused.err(), HasSubstr("--raw"));
}

TEST_F(DumpCommandTest, DamageIsToldAndTheRestShown) {
  PerfDataBuilder b = TwoThreads().Killed();
  EXPECT_EQ(Run(b.Truncated(b.Bytes().size() - 8), {}), kExitDamaged);
  EXPECT_EQ(world.out(), kOfB);
  EXPECT_THAT(world.err(), HasSubstr("is damaged"));
}

TEST_F(DumpCommandTest, AFileThatIsNoneIsAnError) {
  EXPECT_EQ(RunKsamp({"dump", "-i", tree.Path("none")}, world.world), kExitNothing);
  EXPECT_THAT(world.err(), HasSubstr("none"));
}

}  // namespace
}  // namespace ksamp
