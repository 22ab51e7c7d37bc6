// SPDX-License-Identifier: Apache-2.0
#include "lib/symbol/recorded_machine.h"

#include <gtest/gtest.h>

#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

struct Case {
  const char* name;
  bool live;
  const char* hostname;
  const char* release;
  bool may_be, is;
};

class RecordedMachineTest : public ::testing::TestWithParam<Case> {};

TEST_P(RecordedMachineTest, IsToldByHostNameAndRelease) {
  const Case& c = GetParam();
  testing::TempTree proc;
  proc.Write("sys/kernel/hostname", "router\n");
  proc.Write("sys/kernel/osrelease", "6.1.0\n");
  SymbolizerOptions options;
  options.live_machine = c.live;
  options.proc_root = proc.root();
  options.kernel.hostname = c.hostname;
  options.kernel.os_release = c.release;
  EXPECT_EQ(MayBeRecordedMachine(options), c.may_be);
  EXPECT_EQ(IsRecordedMachine(options), c.is);
}

INSTANTIATE_TEST_SUITE_P(Cases, RecordedMachineTest,
                         ::testing::Values(Case{"Same", true, "router", "6.1.0", true, true},
                                           Case{"OtherHost", true, "laptop", "6.1.0", false, false},
                                           Case{"OtherKernel", true, "router", "5.4.0", false, false},
                                           Case{"NothingRecorded", true, "", "", true, false},
                                           Case{"OnlyReleaseRecorded", true, "", "6.1.0", true, false},
                                           Case{"NotLive", false, "router", "6.1.0", false, false}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace ksamp
