// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/drain.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "lib/base/byte_writer.h"
#include "lib/base/file_io.h"
#include "lib/perfdata/format.h"
#include "test/support/fake_perf_kernel.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::FakePerfKernel;
using ::ksamp::testing::IsOkAndHolds;
using ::ksamp::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr size_t kSampleBytes = 8 + 5 * 8;

struct RingDrainTest : ::testing::Test {
  void Open(int cpus, pid_t exclude = 0) {
    kernel = std::make_unique<FakePerfKernel>(ksamp::testing::FakeKernelOptions{.cpus = cpus});
    EventPlan plan;
    PlannedEvent clock;
    clock.spec.name = "cpu-clock";
    clock.spec.type = PERF_TYPE_SOFTWARE;
    clock.attr = BuildSamplingAttr(clock.spec, {});
    plan.groups = {{clock}};
    SessionOptions options;
    for (int cpu = 0; cpu < cpus; ++cpu) options.cpus.push_back(cpu);
    options.ring_bytes = 4096;
    session = *PerfSession::Open(*kernel, plan, options);
    ASSERT_OK(session->EnableTracking());
    ASSERT_OK(session->Enable());  // One sample each.
    drain = std::make_unique<RingDrain>(
        *session,
        [this](std::span<const std::byte> bytes) {
          written.insert(written.end(), bytes.begin(), bytes.end());
          return sink_status;
        },
        exclude,
        [this](std::span<const std::byte> record) { watched.emplace_back(record.begin(), record.end()); });
  }

  // Types of the records written so far.
  std::vector<uint32_t> Types() const {
    std::vector<uint32_t> types;
    perf_event_header header;
    for (size_t at = 0; at < written.size(); at += header.size) {
      std::memcpy(&header, written.data() + at, sizeof(header));
      types.push_back(header.type);
      if (header.size == 0) break;
    }
    return types;
  }

  std::unique_ptr<FakePerfKernel> kernel;
  std::unique_ptr<PerfSession> session;
  std::unique_ptr<RingDrain> drain;
  std::vector<std::byte> written;
  std::vector<std::vector<std::byte>> watched;
  absl::Status sink_status;
};

TEST_F(RingDrainTest, ARoundTakesEveryRingAndEndsWithItsMark) {
  Open(2);
  EXPECT_THAT(drain->Round(), IsOkAndHolds(2 * kSampleBytes));
  EXPECT_THAT(Types(),
              ::testing::ElementsAre(PERF_RECORD_SAMPLE, PERF_RECORD_SAMPLE, perfdata::kFinishedRound));
  EXPECT_EQ(drain->counts().samples, 2u);
  EXPECT_LT(drain->counts().first_time, drain->counts().last_time);
}

TEST_F(RingDrainTest, AnEmptyRoundWritesNothing) {
  Open(1);
  ASSERT_OK(drain->Round());
  written.clear();
  EXPECT_THAT(drain->Round(), IsOkAndHolds(0u));
  EXPECT_TRUE(written.empty());
}

TEST_F(RingDrainTest, RecordsAcrossTheRingsEndStayWhole) {
  Open(1);
  uint64_t pushed = 1;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 37; ++i) pushed += kernel->PushSample(0, 0x1000, 7) ? 1 : 0;
    ASSERT_OK(drain->Round());
  }
  EXPECT_EQ(pushed, 1u + 50 * 37);
  EXPECT_EQ(drain->counts().samples, pushed);
  const std::vector<uint32_t> types = Types();
  EXPECT_EQ(std::count(types.begin(), types.end(), uint32_t{PERF_RECORD_SAMPLE}),
            static_cast<ptrdiff_t>(pushed));
  EXPECT_EQ(types.size(), pushed + 50);
}

TEST_F(RingDrainTest, LossesAreCountedPerCpuAndEvent) {
  Open(2);
  while (kernel->PushSample(1, 1, 1)) {
  }
  kernel->PushSample(1, 1, 1);
  ASSERT_OK(drain->Round());
  kernel->PushSample(1, 1, 1);  // Now there is room to tell.
  ASSERT_OK(drain->Round());
  EXPECT_EQ(drain->counts().lost_records, 2u);
  EXPECT_THAT(drain->counts().by_place,
              UnorderedElementsAre(Pair("lost.kernel", 2u), Pair("lost.kernel.cpu1", 2u),
                                   Pair("lost.kernel.cpu-clock", 2u)));
}

TEST_F(RingDrainTest, ThrottlesAndSamplesDroppedByTheKernelAreCounted) {
  Open(1);
  ASSERT_TRUE(kernel->PushThrottle(0, true));
  ASSERT_TRUE(kernel->PushThrottle(0, false));
  ByteWriter lost;
  lost.Put(perf_event_header{PERF_RECORD_LOST_SAMPLES, 0, 24});
  lost.Put<uint64_t>(5);
  lost.Put<uint64_t>(session->WriterEvents()[0].ids[0]);
  ASSERT_TRUE(kernel->PushRecord(0, lost.bytes()));
  ASSERT_OK(drain->Round());
  EXPECT_EQ(drain->counts().throttles, 1u);
  EXPECT_EQ(drain->counts().lost_samples, 5u);
  EXPECT_EQ(drain->counts().by_place.at("throttled.cpu0"), 1u);
  EXPECT_EQ(drain->counts().by_place.at("lost.samples.cpu-clock"), 5u);
}

TEST_F(RingDrainTest, TheRecordersOwnSamplesAreLeftOutWhereAsked) {
  Open(1, 4711);
  for (const pid_t pid : {4711, 7, 4711, 4711, 8}) ASSERT_TRUE(kernel->PushSample(0, 1, pid));
  ASSERT_OK(drain->Round());
  EXPECT_EQ(drain->counts().samples, 3u);
  EXPECT_EQ(drain->counts().own_samples, 3u);
  EXPECT_EQ(Types().size(), 3u + 1);
}

TEST_F(RingDrainTest, MappingsAndExitsAreShownWholeAlsoAcrossTheRingsEnd) {
  Open(1);
  size_t pushed = 0;
  for (uint32_t i = 0; i < 300; ++i) {
    ByteWriter record;  // 104 bytes: no divisor of the ring's size
    record.Put(perf_event_header{i % 2 == 0 ? PERF_RECORD_MMAP2 : PERF_RECORD_EXIT, 0, 104});
    for (uint64_t word = 0; word < 12; ++word) record.Put<uint64_t>(i * 100 + word);
    ASSERT_TRUE(kernel->PushRecord(0, record.bytes()));
    ASSERT_TRUE(kernel->PushSample(0, 1, 7));
    ASSERT_OK(drain->Round());
    ASSERT_EQ(watched.size(), ++pushed);
    const std::span<const std::byte> expected = record.bytes();
    ASSERT_EQ(watched.back(), std::vector<std::byte>(expected.begin(), expected.end())) << i;
  }
}

TEST_F(RingDrainTest, ASinkThatFailsEndsTheRound) {
  Open(1);
  sink_status = ErrnoStatus(ENOSPC, "write x");
  EXPECT_EQ(StatusErrno(drain->Round().status()), ENOSPC);
}

TEST_F(RingDrainTest, GarbageInARingIsDataLoss) {
  Open(1);
  ByteWriter record;
  record.Put(perf_event_header{PERF_RECORD_SAMPLE, 0, 4});
  ASSERT_TRUE(kernel->PushRecord(0, record.bytes()));
  EXPECT_THAT(drain->Round(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("record of size 4")));
}

}  // namespace
}  // namespace ksamp
