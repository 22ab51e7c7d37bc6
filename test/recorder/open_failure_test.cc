// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/open_failure.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "lib/base/file_io.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::TempTree;
using ::testing::HasSubstr;

perf_event_attr AttrOf(uint32_t type, uint64_t period = 1000) {
  perf_event_attr attr = {};
  attr.type = type;
  attr.sample_period = period;
  return attr;
}

struct Cell {
  const char* what;
  int error;
  perf_event_attr attr;
  OpenCircumstances around;
  OpenFailure failure;
  const char* cause;  // part of it
};

std::vector<Cell> Cells() {
  const perf_event_attr hardware = AttrOf(PERF_TYPE_HARDWARE), software = AttrOf(PERF_TYPE_SOFTWARE),
                        tracepoint = AttrOf(PERF_TYPE_TRACEPOINT);
  perf_event_attr user_only = software, precise = hardware, fast = software, counting = hardware;
  user_only.exclude_kernel = 1;
  precise.precise_ip = 2;
  fast.freq = 1;
  fast.sample_freq = 200'000;
  counting.sample_period = 0;
  using F = OpenFailure;
  return {
      {"paranoid 3", EACCES, user_only, {.paranoid = 3}, F::kParanoid, "paranoid is 3"},
      {"whole CPUs", EACCES, user_only, {.whole_cpus = true, .paranoid = 1}, F::kParanoid, "whole CPUs"},
      {"tracepoint", EACCES, tracepoint, {.paranoid = 0}, F::kParanoid, "tracepoints"},
      {"kernel", EACCES, software, {.paranoid = 2}, F::kParanoid, "the kernel may be profiled only"},
      {"someone else's", EACCES, user_only, {.paranoid = 2}, F::kNoCapability, "someone else"},
      {"no paranoid file", EACCES, software, {}, F::kNoCapability, "someone else"},
      {"with the right",
       EACCES,
       software,
       {.paranoid = 2, .may_profile = true},
       F::kNoCapability,
       "security module"},
      {"seccomp", EPERM, software, {.seccomp_filter = true}, F::kSeccomp, "seccomp"},
      {"EPERM as root", EPERM, software, {.may_profile = true}, F::kNoCapability, "lockdown"},
      {"EPERM", EPERM, software, {}, F::kNoCapability, "CAP_PERFMON"},
      {"no PMU", ENOENT, hardware, {}, F::kNoPmu, "no hardware counters"},
      {"no PMU, ENXIO", ENXIO, hardware, {}, F::kNoPmu, "no hardware counters"},
      {"no PMU, ENODEV", ENODEV, hardware, {}, F::kNoPmu, "offline"},
      {"no tracepoint", ENOENT, tracepoint, {}, F::kNoSuchEvent, "no such tracepoint"},
      {"no software event", ENOENT, software, {}, F::kNoSuchEvent, "no such event"},
      {"offline CPU", ENODEV, software, {.whole_cpus = true}, F::kNoSuchCpu, "offline"},
      {"watchdog", EBUSY, hardware, {.nmi_watchdog = true}, F::kBusy, "NMI watchdog"},
      {"busy", EBUSY, hardware, {}, F::kBusy, "another profiler"},
      {"files",
       EMFILE,
       hardware,
       {.files_needed = 4096, .files_allowed = 1024},
       F::kTooManyFiles,
       "4 096 open files"},
      {"files of all",
       ENFILE,
       hardware,
       {.files_needed = 9, .files_allowed = 8},
       F::kTooManyFiles,
       "limit is 8"},
      {"no process", ESRCH, software, {}, F::kNoSuchProcess, "no such process"},
      {"old kernel", E2BIG, software, {}, F::kKernelTooOld, "too old"},
      {"rate", EINVAL, fast, {.max_sample_rate = 100'000}, F::kRateTooHigh, "200 000 Hz is above"},
      {"rate is fine", EINVAL, fast, {.max_sample_rate = 300'000}, F::kNotSupported, "combination"},
      {"invalid", EINVAL, hardware, {}, F::kNotSupported, "combination"},
      {"precise", EOPNOTSUPP, precise, {}, F::kNotSupported, "precision 2"},
      {"no interrupt", EOPNOTSUPP, hardware, {}, F::kNotSupported, "counted but not sampled"},
      {"unsupported", EOPNOTSUPP, counting, {}, F::kNotSupported, "does not support"},
      {"no perf", ENOSYS, software, {}, F::kNotSupported, "without perf events"},
      {"counters", ENOSPC, hardware, {}, F::kBusy, "no counter left for the-event"},
      {"else", EIO, hardware, {}, F::kOther, "Input/output error"},
  };
}

TEST(OpenFailureTest, EveryCellOfTheTable) {
  EventSpec event;
  event.name = "the-event";
  for (const Cell& cell : Cells()) {
    const OpenVerdict verdict = ExplainOpenFailure(cell.error, event, cell.attr, cell.around);
    EXPECT_EQ(verdict.failure, cell.failure) << cell.what;
    EXPECT_THAT(verdict.cause, HasSubstr(cell.cause)) << cell.what;
  }
}

TEST(OpenFailureTest, TheStatusKeepsCaseErrnoAndCode) {
  EventSpec event;
  event.name = "cycles:k";
  const absl::Status status = OpenFailureStatus(ErrnoStatus(EACCES, "perf_event_open"), event,
                                                AttrOf(PERF_TYPE_HARDWARE), {.paranoid = 3});
  EXPECT_EQ(FailureOf(status), OpenFailure::kParanoid);
  EXPECT_EQ(StatusErrno(status), EACCES);
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(status.message()),
              ::testing::StartsWith("open cycles:k: kernel.perf_event_paranoid is 3"));
}

TEST(OpenFailureTest, StatusesWithoutACase) {
  EXPECT_EQ(FailureOf(absl::OkStatus()), OpenFailure::kNone);
  EXPECT_EQ(FailureOf(absl::InternalError("x")), OpenFailure::kOther);
  EXPECT_EQ(FailureOf(WithFailure(absl::NotFoundError("x"), OpenFailure::kNoTracefs)),
            OpenFailure::kNoTracefs);
  const absl::Status without_errno = absl::InternalError("x");
  EXPECT_EQ(OpenFailureStatus(without_errno, {}, {}, {}), without_errno);
}

TEST(OpenFailureTest, ReadsTheCircumstances) {
  TempTree tree;
  tree.Write("proc/sys/kernel/perf_event_paranoid", "2\n");
  tree.Write("proc/sys/kernel/nmi_watchdog", "1\n");
  tree.Write("proc/sys/kernel/perf_event_max_sample_rate", "5000\n");
  tree.Write("proc/self/status",
             "Name:\tx\nCapInh:\t0\nCapEff:\t0000004000000000\nSeccomp:\t2\nSeccomp_filters:\t1\n");
  const OpenCircumstances around = ReadOpenCircumstances(tree.Path("proc"));
  EXPECT_EQ(around.paranoid, 2);
  EXPECT_TRUE(around.nmi_watchdog);
  EXPECT_EQ(around.max_sample_rate, 5000u);
  EXPECT_TRUE(around.may_profile);
  EXPECT_TRUE(around.seccomp_filter);
  tree.Write("proc/self/status", "Name:\tx\nCapEff:\t0000000000001000\nSeccomp:\t0\n");
  EXPECT_FALSE(ReadOpenCircumstances(tree.Path("proc")).may_profile);
  EXPECT_FALSE(ReadOpenCircumstances("/nowhere").seccomp_filter);
}

}  // namespace
}  // namespace ksamp
