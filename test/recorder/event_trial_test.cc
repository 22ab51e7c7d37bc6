// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cerrno>

#include "ksamp/recorder.h"
#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "test/support/fake_perf_kernel.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::FakePerfKernel;
using ::ksamp::testing::FakeRequest;
using ::ksamp::testing::IsOk;
using ::ksamp::testing::TempTree;
using ::testing::HasSubstr;

struct EventTrialTest : ::testing::Test {
  EventTrialTest() {
    event.name = "cycles";
    event.type = PERF_TYPE_HARDWARE;
  }
  EventTrial Try() { return TryEvent(event, &kernel, tree.Path("proc")); }

  TempTree tree;
  FakePerfKernel kernel;
  EventSpec event;
};

TEST_F(EventTrialTest, AnEventThatSamplesCountsToo) {
  const EventTrial trial = Try();
  EXPECT_THAT(trial.sampling, IsOk());
  EXPECT_THAT(trial.counting, IsOk());
  EXPECT_FALSE(trial.user_space_only);
  EXPECT_EQ(kernel.open_events(), 0u);
  ASSERT_EQ(kernel.requests().size(), 1u);
  EXPECT_EQ(kernel.requests()[0].pid, 0);
  EXPECT_EQ(kernel.requests()[0].attr.disabled, 1u);
}

TEST_F(EventTrialTest, ACounterWithoutInterruptCannotSample) {
  kernel.Refuse([](const FakeRequest& r) { return r.attr.sample_period != 0; }, EOPNOTSUPP);
  const EventTrial trial = Try();
  EXPECT_THAT(trial.counting, IsOk());
  EXPECT_THAT(MessageOf(trial.sampling), HasSubstr("open cycles: it can be counted but not sampled"));
  EXPECT_EQ(FailureOf(trial.sampling), OpenFailure::kNotSupported);
}

TEST_F(EventTrialTest, ARefusalNamesTheEventAndTheCause) {
  kernel.Refuse([](const FakeRequest&) { return true; }, ENOENT);
  const EventTrial trial = Try();
  EXPECT_THAT(MessageOf(trial.counting), HasSubstr("open cycles: this machine has no hardware counters"));
  EXPECT_EQ(FailureOf(trial.counting), OpenFailure::kNoPmu);
}

TEST_F(EventTrialTest, APmuOfAPackageIsAskedOnItsCpu) {
  event.type = 21;
  event.cpus = "1,9";
  kernel.Refuse([](const FakeRequest& r) { return r.cpu != 1 || r.attr.sample_period != 0; }, EINVAL);
  EXPECT_THAT(Try().counting, IsOk());
  ASSERT_EQ(kernel.requests().size(), 1u);
  EXPECT_EQ(kernel.requests()[0].pid, -1);
}

TEST_F(EventTrialTest, WhereTheKernelIsForbiddenUserSpaceIsTried) {
  tree.Write("proc/sys/kernel/perf_event_paranoid", "2\n");
  kernel.Refuse([](const FakeRequest& r) { return r.attr.exclude_kernel == 0; }, EACCES);
  const EventTrial trial = Try();
  EXPECT_THAT(trial.sampling, IsOk());
  EXPECT_TRUE(trial.user_space_only);
}

TEST_F(EventTrialTest, WhereNothingIsAllowedTheReasonIsTheFirstOne) {
  tree.Write("proc/sys/kernel/perf_event_paranoid", "3\n");
  kernel.Refuse([](const FakeRequest&) { return true; }, EACCES);
  const EventTrial trial = Try();
  EXPECT_EQ(FailureOf(trial.counting), OpenFailure::kParanoid);
  EXPECT_FALSE(trial.user_space_only);
}

}  // namespace
}  // namespace ksamp
