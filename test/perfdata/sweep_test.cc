// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cstring>

#include "lib/perfdata/format.h"
#include "test/support/status_matchers.h"

namespace ksamp::perfdata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// Appends a record of `size` bytes to `out`, its payload beginning with `words`.
void Put(std::vector<std::byte>& out, uint32_t type, size_t size, const std::vector<uint64_t>& words = {}) {
  const perf_event_header header{type, 0, static_cast<uint16_t>(size)};
  const size_t at = out.size();
  out.resize(at + size);
  std::memcpy(out.data() + at, &header, 8);
  if (!words.empty()) std::memcpy(out.data() + at + 8, words.data(), words.size() * 8);
}

TEST(Sweep, CountsByKindAndKeepsWhatIsNoSample) {
  std::vector<std::byte> data;
  Put(data, PERF_RECORD_MMAP2, 72);
  Put(data, PERF_RECORD_COMM, 24);
  Put(data, PERF_RECORD_SAMPLE, 40);
  Put(data, PERF_RECORD_FORK, 32);
  Put(data, PERF_RECORD_SAMPLE, 40);
  Put(data, PERF_RECORD_EXIT, 32);
  Put(data, PERF_RECORD_LOST, 24, {7, 11});
  Put(data, PERF_RECORD_LOST_SAMPLES, 16, {5});
  Put(data, PERF_RECORD_THROTTLE, 32);
  Put(data, PERF_RECORD_UNTHROTTLE, 32);
  Put(data, 93, 16);
  Put(data, 32769, 16);
  SweepResult result;
  SweepRecords(data, 264, result);
  const RecordCounts& counts = result.counts;
  EXPECT_EQ(counts.samples, 2u);
  EXPECT_EQ(counts.mmaps, 1u);
  EXPECT_EQ(counts.comms, 1u);
  EXPECT_EQ(counts.forks, 1u);
  EXPECT_EQ(counts.exits, 1u);
  EXPECT_EQ(counts.lost_records, 1u);
  EXPECT_EQ(counts.lost, 11u);
  EXPECT_EQ(counts.lost_samples, 5u);
  EXPECT_EQ(counts.throttles, 1u);
  EXPECT_EQ(counts.unthrottles, 1u);
  EXPECT_EQ(counts.unknown, 2u);
  EXPECT_THAT(counts.unknown_by_type, ElementsAre(Pair(93, 1), Pair(32769, 1)));
  EXPECT_EQ(result.side_records.size(), 10u);
  EXPECT_EQ(result.side_records[1].offset, 264u + 72u);
  ASSERT_EQ(result.chunks.size(), 1u);
  EXPECT_EQ(result.chunks[0].bytes.size(), data.size());
  EXPECT_EQ(result.chunks[0].offset, 264u);
  EXPECT_THAT(result.damage, IsEmpty());
  EXPECT_FALSE(result.misaligned);
}

TEST(Sweep, ChunksBeginAtRecordsAndCoverEverything) {
  std::vector<std::byte> data;
  while (data.size() < 5 * kChunkBytes) Put(data, PERF_RECORD_SAMPLE, 65528);
  SweepResult result;
  std::vector<const std::byte*> walked;
  SweepRecords(data, 104, result, [&](std::span<const std::byte> chunk) { walked.push_back(chunk.data()); });
  ASSERT_EQ(result.chunks.size(), 5u);
  uint64_t next = 104;
  for (const Recording::Chunk& chunk : result.chunks) {
    EXPECT_EQ(chunk.offset, next);
    EXPECT_EQ(chunk.bytes.size() % 65528, 0u);
    next += chunk.bytes.size();
  }
  ASSERT_EQ(walked.size(), result.chunks.size());
  for (size_t i = 0; i < walked.size(); ++i) EXPECT_EQ(walked[i], result.chunks[i].bytes.data());
  EXPECT_EQ(next, 104 + data.size());
}

TEST(Sweep, BytesBehindARecordAreSteppedOver) {
  std::vector<std::byte> data;
  Put(data, PERF_RECORD_SAMPLE, 40);
  Put(data, kHeaderTracingData, 16, {13});
  data.resize(data.size() + 16, std::byte{'t'});  // 13 bytes, padded
  Put(data, kAuxtrace, 48, {24});
  data.resize(data.size() + 24, std::byte{0xff});
  Put(data, PERF_RECORD_SAMPLE, 40);
  SweepResult result;
  SweepRecords(data, 0, result);
  EXPECT_EQ(result.counts.samples, 2u);
  EXPECT_EQ(result.tracing_data.size(), 16u);
  EXPECT_THAT(result.damage, IsEmpty());
  for (const Recording::Chunk& chunk : result.chunks) EXPECT_EQ(chunk.bytes.size(), 40u);
}

TEST(Sweep, DamageInTheMiddleCostsOnlyItself) {
  std::vector<std::byte> data;
  Put(data, PERF_RECORD_SAMPLE, 40);
  data.resize(data.size() + 4096);  // a hole a power cut left
  for (int i = 0; i < 5; ++i) Put(data, PERF_RECORD_SAMPLE, 40);
  SweepResult result;
  SweepRecords(data, 0, result);
  EXPECT_EQ(result.counts.samples, 6u);
  EXPECT_EQ(result.counts.malformed, 1u);
  ASSERT_EQ(result.damage.size(), 1u);
  EXPECT_EQ(result.damage[0].offset, 40u);
  EXPECT_EQ(result.damage[0].bytes_skipped, 4096u);
  EXPECT_THAT(result.damage[0].what, HasSubstr("size 0 at 40"));
}

TEST(Sweep, ACutRecordIsNamed) {
  std::vector<std::byte> data;
  Put(data, PERF_RECORD_SAMPLE, 40);
  Put(data, PERF_RECORD_SAMPLE, 40);
  for (size_t size = 41; size < 80; ++size) {
    SweepResult result;
    SweepRecords(std::span(data).first(size), 0, result);
    EXPECT_EQ(result.counts.samples, 1u);
    ASSERT_EQ(result.damage.size(), 1u);
    EXPECT_EQ(result.damage[0].offset, 40u);
    EXPECT_EQ(result.damage[0].bytes_skipped, size - 40);
  }
}

TEST(Sweep, OddSizesAreNoticed) {
  std::vector<std::byte> data;
  Put(data, PERF_RECORD_SAMPLE, 41);
  Put(data, PERF_RECORD_SAMPLE, 40);
  SweepResult result;
  SweepRecords(data, 0, result);
  EXPECT_TRUE(result.misaligned);
}

TEST(ReadStep, ACompressed2WhoseSizeWrappedIsMeasuredByItsDataSize) {
  std::vector<std::byte> data;
  const uint64_t data_size = 65536 - 16 + 5;  // aligned: 65544, of which the header tells 8
  Put(data, kCompressed2, 16, {data_size});
  const perf_event_header header{kCompressed2, 0, 8};
  std::memcpy(data.data(), &header, 8);
  data.resize(65544);
  const RecordStep step = ReadStep(data, 0, false);
  EXPECT_EQ(step.advance, 65544u);
  EXPECT_EQ(step.record.bytes.size(), 65544u);
  EXPECT_EQ(ReadStep(std::span(data).first(65536), 0, false).advance, 8u);
}

TEST(FindNextRecord, WantsSeveralRecordsInARow) {
  std::vector<std::byte> data(64);
  Put(data, PERF_RECORD_COMM, 24);  // alone at the end: it ends where the bytes end
  EXPECT_EQ(FindNextRecord(data, false), 64u);
  data.resize(data.size() + 64);
  EXPECT_EQ(FindNextRecord(data, false), data.size());
}

}  // namespace
}  // namespace ksamp::perfdata
