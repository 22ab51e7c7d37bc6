// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/stream_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include "lib/base/byte_writer.h"
#include "lib/perfdata/format.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp::perfdata {
namespace {

using ::ksamp::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// `count` records of 24 bytes each, numbered.
std::vector<std::byte> Records(uint64_t count) {
  ByteWriter out;
  for (uint64_t i = 0; i < count; ++i) {
    out.Put(perf_event_header{PERF_RECORD_SAMPLE, 0, 24});
    out.Put(i);
    out.Put(i * i);
  }
  return std::move(out).Take();
}

class StreamDecoderTest : public ::testing::Test {
 protected:
  StreamDecoderTest() : description_(true, false) {
    EXPECT_OK(description_.events.Add(std::as_bytes(std::span(&attr_, 1)), {1}));
  }
  void Compressed(std::span<const std::byte> raw) {
    const std::vector<std::byte> frame = *CompressZstd(raw, 1);
    stream_.Put(perf_event_header{kCompressedRecord, 0, static_cast<uint16_t>(8 + frame.size())});
    stream_.PutBytes(frame);
  }
  absl::StatusOr<std::vector<std::byte>> Decode(uint64_t limit = 1 << 30, unsigned threads = 1) {
    ScratchFile scratch;
    StreamDecoder decoder(description_, false, limit, scratch, threads);
    if (absl::Status status = decoder.Decode(stream_.bytes(), 0); !status.ok()) return status;
    damage_ = decoder.damage();
    absl::StatusOr<MappedRegion> region = std::move(scratch).Finish();
    if (!region.ok()) return region.status();
    return std::vector<std::byte>(region->bytes().begin(), region->bytes().end());
  }

  perf_event_attr attr_ = testing::SampleAttr();
  StreamDescription description_;
  ByteWriter stream_;
  std::vector<Damage> damage_;
};

TEST_F(StreamDecoderTest, RecordsMayCrossFrames) {
  const std::vector<std::byte> records = Records(100);
  for (size_t cut = 0; cut <= records.size(); cut += 5) {
    stream_.Clear();
    Compressed(std::span(records).first(cut));
    Compressed(std::span(records).subspan(cut));
    ASSERT_OK_AND_ASSIGN(std::vector<std::byte> decoded, Decode());
    EXPECT_EQ(decoded, records) << cut;
    EXPECT_THAT(damage_, IsEmpty());
  }
}

TEST_F(StreamDecoderTest, SeveralThreadsKeepTheOrderAndTheDamage) {
  const std::vector<std::byte> records = Records(2000);
  size_t damaged_at = 0;
  for (size_t i = 0, at = 0; at < records.size(); ++i) {
    const size_t size = std::min(records.size() - at, 24 * (1 + i % 7));
    if (i == 100) damaged_at = stream_.size();
    Compressed(std::span(records).subspan(at, size));
    if (i % 50 == 7) stream_.PutBytes(Records(1));
    at += size;
  }
  for (const bool damaged : {false, true}) {
    // What stands behind the record's header and the frame's magic.
    if (damaged) stream_.PutAt(damaged_at + 12, ~uint32_t{0});
    ASSERT_OK_AND_ASSIGN(const std::vector<std::byte> alone, Decode(1 << 30, 1));
    const size_t damages = damage_.size();
    EXPECT_EQ(damages, damaged ? 1u : 0u);
    ASSERT_OK_AND_ASSIGN(const std::vector<std::byte> together, Decode(1 << 30, 4));
    EXPECT_EQ(together, alone);
    EXPECT_EQ(damage_.size(), damages);
    EXPECT_GT(alone.size(), records.size() - 24 * 7);
  }
}

TEST_F(StreamDecoderTest, ADamagedFrameCostsItself) {
  const std::vector<std::byte> records = Records(100);
  Compressed(records);
  stream_.PutAt(8, uint64_t{0x1234567890});
  Compressed(records);
  ASSERT_OK_AND_ASSIGN(std::vector<std::byte> decoded, Decode());
  EXPECT_EQ(decoded, records);
  ASSERT_EQ(damage_.size(), 1u);
  EXPECT_THAT(damage_[0].what, HasSubstr("zstd"));
}

TEST_F(StreamDecoderTest, OddRecordsAreDroppedAndTheRestIsAligned) {
  stream_.Put(perf_event_header{PERF_RECORD_SAMPLE, 0, 13});
  stream_.PutZeros(5);
  const std::vector<std::byte> records = Records(3);
  stream_.PutBytes(records);
  ASSERT_OK_AND_ASSIGN(std::vector<std::byte> decoded, Decode());
  EXPECT_EQ(decoded, records);
  ASSERT_EQ(damage_.size(), 1u);
  EXPECT_EQ(damage_[0].what, "record of odd size 13 at 0");
}

TEST_F(StreamDecoderTest, ABombIsRefused) {
  ByteWriter zeros;
  for (int i = 0; i < 40; ++i) {
    zeros.Put(perf_event_header{PERF_RECORD_SAMPLE, 0, 65528});
    zeros.PutZeros(65520);
  }
  Compressed(zeros.bytes());
  EXPECT_THAT(Decode(1 << 20),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("more than 1048576 bytes")));
}

}  // namespace
}  // namespace ksamp::perfdata
