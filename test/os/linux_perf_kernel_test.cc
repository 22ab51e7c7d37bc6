// SPDX-License-Identifier: Apache-2.0
// The real system calls, on an event every Linux lets its own thread open.
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <cerrno>

#include "lib/base/file_io.h"
#include "lib/os/perf_kernel.h"
#include "lib/os/ring_reader.h"
#include "test/support/capability.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ksamp::testing::CanSample;

perf_event_attr CpuClock() {
  perf_event_attr attr = {};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = 100'000;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
  attr.disabled = 1;
  attr.exclude_kernel = 1;
  attr.read_format = PERF_FORMAT_ID;
  attr.wakeup_events = 1;
  return attr;
}

void Spin() {
  for (int i = 0; i < 20'000'000; ++i) asm volatile("");
}

TEST(LinuxPerfKernelTest, CountsAndDeliversSamplesOfTheOwnThread) {
  KSAMP_REQUIRE(CanSample());
  PerfKernel& kernel = LinuxPerfKernel();
  ASSERT_OK_AND_ASSIGN(UniqueFd fd, kernel.Open(CpuClock(), 0, -1, -1));
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<RingMemory> memory, kernel.MapRing(fd.get(), 8));
  RingReader ring(std::move(memory));
  ASSERT_OK(kernel.Enable(fd.get(), false));
  Spin();
  ASSERT_OK(kernel.Disable(fd.get(), false));
  ASSERT_OK_AND_ASSIGN(const uint64_t id, kernel.EventId(fd.get()));
  ASSERT_OK_AND_ASSIGN(const std::vector<uint64_t> words, kernel.ReadCounter(fd.get(), 8));
  ASSERT_EQ(words.size(), 2u);
  EXPECT_GT(words[0], 0u);
  EXPECT_EQ(words[1], id);
  EXPECT_FALSE(ring.Available().empty());
  pollfd waiting = {fd.get(), POLLIN, 0};
  EXPECT_THAT(kernel.Poll({&waiting, 1}, 0), ksamp::testing::IsOkAndHolds(1));
}

TEST(LinuxPerfKernelTest, ARefusalKeepsItsErrno) {
  perf_event_attr attr = CpuClock();
  attr.type = 0x7fff'ffff;  // No such PMU.
  EXPECT_EQ(StatusErrno(LinuxPerfKernel().Open(attr, 0, -1, -1).status()), ENOENT);
  EXPECT_EQ(StatusErrno(LinuxPerfKernel().Enable(-1, false)), EBADF);
}

TEST(LinuxPerfKernelTest, TheSecondEventOfAThreadWritesIntoTheRingOfTheFirst) {
  KSAMP_REQUIRE(CanSample());
  PerfKernel& kernel = LinuxPerfKernel();
  ASSERT_OK_AND_ASSIGN(UniqueFd first, kernel.Open(CpuClock(), 0, -1, -1));
  ASSERT_OK_AND_ASSIGN(UniqueFd second, kernel.Open(CpuClock(), 0, -1, -1));
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<RingMemory> memory, kernel.MapRing(first.get(), 8));
  ASSERT_OK(kernel.SetOutput(second.get(), first.get()));
  RingReader ring(std::move(memory));
  ASSERT_OK(kernel.Enable(second.get(), false));
  Spin();
  EXPECT_FALSE(ring.Available().empty());
}

TEST(LinuxPerfKernelTest, PollWaitsForAnyDescriptorAndThenTimesOut) {
  UniqueFd wakeup(eventfd(0, EFD_CLOEXEC));
  pollfd waiting = {wakeup.get(), POLLIN, 0};
  EXPECT_THAT(LinuxPerfKernel().Poll({&waiting, 1}, 1), ksamp::testing::IsOkAndHolds(0));
  ASSERT_EQ(eventfd_write(wakeup.get(), 1), 0);
  EXPECT_THAT(LinuxPerfKernel().Poll({&waiting, 1}, -1), ksamp::testing::IsOkAndHolds(1));
}

}  // namespace
}  // namespace ksamp
