// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/event_opener.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "lib/base/file_io.h"
#include "lib/event/attr_builder.h"
#include "test/support/fake_perf_kernel.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::FakePerfKernel;
using ::ksamp::testing::FakeRequest;
using ::testing::Contains;
using ::testing::IsEmpty;

perf_event_attr TrackingAttr() {
  EventSpec spec;
  spec.type = PERF_TYPE_SOFTWARE;
  spec.config = PERF_COUNT_SW_CPU_CLOCK;
  AttrOptions options;
  options.track_side_records = true;
  return BuildSamplingAttr(spec, options);
}

TEST(EventOpenerTest, AKernelOfTodayGetsEveryWish) {
  FakePerfKernel kernel;
  perf_event_attr attr = TrackingAttr();
  std::vector<std::string_view> left_out;
  ASSERT_OK(OpenDegrading(kernel, attr, -1, 0, -1, &left_out));
  EXPECT_THAT(left_out, IsEmpty());
  EXPECT_TRUE(attr.build_id);
}

TEST(EventOpenerTest, AnOlderKernelIsAskedForLess) {
  FakePerfKernel kernel;  // 5.10: no build-ids, no LOST.
  kernel.Refuse(
      [](const FakeRequest& r) { return r.attr.build_id || (r.attr.read_format & PERF_FORMAT_LOST); },
      EINVAL);
  perf_event_attr attr = TrackingAttr();
  std::vector<std::string_view> left_out;
  ASSERT_OK(OpenDegrading(kernel, attr, -1, 0, -1, &left_out));
  EXPECT_THAT(left_out, ::testing::ElementsAre("read_format LOST", "build_id"));
  EXPECT_FALSE(attr.build_id);
  EXPECT_TRUE(attr.ksymbol);
  EXPECT_OK(kernel.Open(attr, -1, 1, -1));  // The same attr opens on the next CPU at once.
}

TEST(EventOpenerTest, AnOldKernelStillGivesMappings) {
  FakePerfKernel kernel;  // 3.10: nothing of all that.
  kernel.Refuse(
      [](const FakeRequest& r) {
        return r.attr.build_id || r.attr.ksymbol || r.attr.bpf_event || r.attr.comm_exec || r.attr.mmap2 ||
               (r.attr.read_format & PERF_FORMAT_LOST);
      },
      EINVAL);
  perf_event_attr attr = TrackingAttr();
  std::vector<std::string_view> left_out;
  ASSERT_OK(OpenDegrading(kernel, attr, -1, 0, -1, &left_out));
  EXPECT_THAT(left_out, Contains("mmap2"));
  EXPECT_TRUE(attr.mmap);
}

TEST(EventOpenerTest, WhenNothingHelpsTheFirstErrorAndTheAttrStay) {
  FakePerfKernel kernel;
  kernel.Refuse([](const FakeRequest& r) { return r.attr.precise_ip > 0; }, EOPNOTSUPP);
  perf_event_attr attr = TrackingAttr();
  attr.precise_ip = 1;
  std::vector<std::string_view> left_out;
  EXPECT_EQ(StatusErrno(OpenDegrading(kernel, attr, -1, 0, -1, &left_out).status()), EOPNOTSUPP);
  EXPECT_THAT(left_out, IsEmpty());
  EXPECT_TRUE(attr.build_id);
}

TEST(EventOpenerTest, ARefusalForAnotherReasonIsNotRetried) {
  FakePerfKernel kernel;
  int asked = 0;
  kernel.Refuse([&](const FakeRequest&) { return ++asked > 0; }, EACCES);
  perf_event_attr attr = TrackingAttr();
  std::vector<std::string_view> left_out;
  EXPECT_EQ(StatusErrno(OpenDegrading(kernel, attr, -1, 0, -1, &left_out).status()), EACCES);
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace ksamp
