// SPDX-License-Identifier: Apache-2.0
// The fake is what every recorder test stands on, so it has tests of its own.
#include "test/support/fake_perf_kernel.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "lib/base/file_io.h"
#include "lib/os/ring_reader.h"
#include "test/support/status_matchers.h"

namespace ksamp::testing {
namespace {

perf_event_attr Sampling() {
  perf_event_attr attr = {};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = 1000;
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
  attr.disabled = 1;
  attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
  return attr;
}

struct Opened {
  UniqueFd fd;
  std::unique_ptr<RingReader> ring;
};

Opened OpenWithRing(FakePerfKernel& kernel, int cpu, size_t pages = 1) {
  Opened opened;
  opened.fd = *kernel.Open(Sampling(), -1, cpu, -1);
  opened.ring = std::make_unique<RingReader>(*kernel.MapRing(opened.fd.get(), pages));
  return opened;
}

TEST(FakePerfKernelTest, SamplesArriveInTheRingOfAnEnabledEvent) {
  FakePerfKernel kernel;
  Opened opened = OpenWithRing(kernel, 1);
  EXPECT_FALSE(kernel.PushSample(1, 0x1234, 7));
  ASSERT_OK(kernel.Enable(opened.fd.get(), false));
  EXPECT_TRUE(kernel.PushSample(1, 0x1234, 7));
  const RingSpans spans = opened.ring->Available();
  ASSERT_EQ(spans.first.size(), 2 * 24u);  // one of Enable, one pushed
  uint64_t ip;
  std::memcpy(&ip, spans.first.data() + 24 + 16, sizeof(ip));
  EXPECT_EQ(ip, 0x1234u);
  EXPECT_EQ(kernel.samples_delivered(), 2u);
}

TEST(FakePerfKernelTest, AFullRingLosesAndTellsItLater) {
  FakePerfKernel kernel;
  Opened opened = OpenWithRing(kernel, 0);
  ASSERT_OK(kernel.Enable(opened.fd.get(), false));
  while (kernel.PushSample(0, 1, 1)) {
  }
  EXPECT_FALSE(kernel.PushSample(0, 1, 1));
  opened.ring->Consume(opened.ring->Available().size());
  EXPECT_TRUE(kernel.PushSample(0, 1, 1));
  const RingSpans spans = opened.ring->Available();
  uint32_t type;
  std::memcpy(&type, spans.first.data(), sizeof(type));
  EXPECT_EQ(type, static_cast<uint32_t>(PERF_RECORD_LOST));
  EXPECT_THAT(kernel.ReadCounter(opened.fd.get(), 8), IsOkAndHolds(::testing::Contains(2u)));
}

TEST(FakePerfKernelTest, KeepsTheKernelsRules) {
  FakePerfKernel kernel({.cpus = 4, .max_events = 3, .mlock_bytes = 3 * 4096});
  EXPECT_EQ(StatusErrno(kernel.Open(Sampling(), -1, 4, -1).status()), ENODEV);
  EXPECT_EQ(StatusErrno(kernel.Open(Sampling(), -1, -1, -1).status()), EINVAL);
  perf_event_attr inherited = Sampling();
  inherited.inherit = 1;
  ASSERT_OK_AND_ASSIGN(UniqueFd anywhere, kernel.Open(inherited, 7, -1, -1));
  EXPECT_EQ(StatusErrno(kernel.MapRing(anywhere.get(), 1).status()), EINVAL);
  ASSERT_OK_AND_ASSIGN(UniqueFd first, kernel.Open(Sampling(), -1, 0, -1));
  EXPECT_EQ(StatusErrno(kernel.MapRing(first.get(), 4).status()), EPERM);
  ASSERT_OK_AND_ASSIGN(auto memory, kernel.MapRing(first.get(), 1));
  ASSERT_OK_AND_ASSIGN(UniqueFd second, kernel.Open(Sampling(), -1, 1, -1));
  EXPECT_EQ(StatusErrno(kernel.SetOutput(second.get(), first.get())), EINVAL);
  EXPECT_EQ(StatusErrno(kernel.Open(Sampling(), -1, 1, -1).status()), EMFILE);
  second.Reset();
  EXPECT_OK(kernel.Open(Sampling(), -1, 1, -1));
  memory.reset();
  EXPECT_EQ(kernel.mapped_bytes(), 0u);
}

TEST(FakePerfKernelTest, RulesRefuseAndSilence) {
  FakePerfKernel kernel;
  kernel.Refuse([](const FakeRequest& r) { return r.attr.precise_ip > 1; }, EOPNOTSUPP);
  kernel.CountNothing([](const FakeRequest& r) { return r.cpu == 1; });
  perf_event_attr precise = Sampling();
  precise.precise_ip = 2;
  EXPECT_EQ(StatusErrno(kernel.Open(precise, -1, 0, -1).status()), EOPNOTSUPP);
  Opened silent = OpenWithRing(kernel, 1);
  ASSERT_OK(kernel.Enable(silent.fd.get(), false));
  EXPECT_FALSE(kernel.PushSample(1, 1, 1));
  EXPECT_TRUE(silent.ring->Available().empty());
}

TEST(FakePerfKernelTest, AVanishedCpuHangsUp) {
  FakePerfKernel kernel;
  Opened opened = OpenWithRing(kernel, 1);
  ASSERT_OK(kernel.Enable(opened.fd.get(), false));
  kernel.Vanish(1);
  pollfd waiting = {opened.fd.get(), POLLIN, 0};
  EXPECT_THAT(kernel.Poll({&waiting, 1}, 100), IsOkAndHolds(1));
  EXPECT_TRUE(waiting.revents & POLLHUP);
  EXPECT_FALSE(kernel.PushSample(1, 1, 1));
}

TEST(FakePerfKernelTest, AGroupIsEnabledAndReadAsOne) {
  FakePerfKernel kernel;
  perf_event_attr attr = Sampling();
  attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
  ASSERT_OK_AND_ASSIGN(UniqueFd leader, kernel.Open(attr, -1, 0, -1));
  ASSERT_OK_AND_ASSIGN(UniqueFd member, kernel.Open(attr, -1, 0, leader.get()));
  ASSERT_OK(kernel.Enable(leader.get(), true));
  EXPECT_THAT(kernel.ReadCounter(leader.get(), 16),
              IsOkAndHolds(::testing::ElementsAre(2u, 1000u, 1u, 1000u, 2u)));
}

TEST(FakePerfKernelTest, ManyCpusAreCheap) {
  FakePerfKernel kernel({.cpus = 512});
  std::vector<Opened> opened;
  for (int cpu = 0; cpu < 512; ++cpu) opened.push_back(OpenWithRing(kernel, cpu, 8));
  EXPECT_EQ(kernel.open_events(), 512u);
  EXPECT_EQ(kernel.mapped_rings(), 512u);
  opened.clear();
  EXPECT_EQ(kernel.open_events(), 0u);
  EXPECT_EQ(kernel.mapped_rings(), 0u);
}

}  // namespace
}  // namespace ksamp::testing
