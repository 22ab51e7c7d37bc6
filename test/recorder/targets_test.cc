// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ksamp/recorder.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::IsOkAndHolds;
using ::ksamp::testing::StatusIs;
using ::ksamp::testing::TempTree;
using ::testing::ElementsAre;

TEST(TargetsTest, NamedCpusMustBeOnline) {
  TempTree tree;
  tree.Write("sys/devices/system/cpu/online", "0-1,4\n");
  EXPECT_THAT(TargetCpus("count", {}, tree.Path("sys")), IsOkAndHolds(ElementsAre(0, 1, 4)));
  EXPECT_THAT(TargetCpus("count", {4, 0}, tree.Path("sys")), IsOkAndHolds(ElementsAre(4, 0)));
  const absl::Status status = TargetCpus("count", {3}, tree.Path("sys")).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, "count CPU 3: it is not online (online: 0-1,4)"));
  EXPECT_EQ(FailureOf(status), OpenFailure::kNoSuchCpu);
}

TEST(TargetsTest, ProcessesStandForTheirThreads) {
  TempTree tree;
  for (const char* thread : {"10/task/10", "10/task/12", "20/task/20"})
    tree.Write(std::string("proc/") + thread + "/comm", "x\n");
  EXPECT_THAT(TargetThreads("record", {20, 10}, {12, 7}, tree.Path("proc")),
              IsOkAndHolds(ElementsAre(7, 10, 12, 20)));
  EXPECT_THAT(TargetThreads("record", {}, {}, "/no/such/folder"), IsOkAndHolds(ElementsAre()));
  const absl::Status status = TargetThreads("record", {30}, {}, tree.Path("proc")).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, "record process 30: there is no such process"));
  EXPECT_EQ(FailureOf(status), OpenFailure::kNoSuchProcess);
}

}  // namespace
}  // namespace ksamp
