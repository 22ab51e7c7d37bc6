// SPDX-License-Identifier: Apache-2.0
#include "lib/os/ring_reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace ksamp {
namespace {

// A ring of 32 bytes whose producer is the test.
class SmallRing : public RingMemory {
 public:
  perf_event_mmap_page* control() override { return &page_; }
  std::span<std::byte> data() override { return data_; }

  void Produce(const std::string& text) {
    for (char c : text) data_[page_.data_head++ % data_.size()] = static_cast<std::byte>(c);
  }

 private:
  perf_event_mmap_page page_ = {};
  std::vector<std::byte> data_ = std::vector<std::byte>(32);
};

std::string Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct RingReaderTest : ::testing::Test {
  std::unique_ptr<SmallRing> owned = std::make_unique<SmallRing>();
  SmallRing* ring = owned.get();
};

TEST_F(RingReaderTest, AnEmptyRingHasNothing) {
  RingReader reader(std::move(owned));
  EXPECT_TRUE(reader.Available().empty());
  EXPECT_EQ(reader.capacity(), 32u);
}

TEST_F(RingReaderTest, WhatWasWrittenIsOneSpanUntilConsumed) {
  RingReader reader(std::move(owned));
  ring->Produce("record-1record-2");
  EXPECT_EQ(Text(reader.Available().first), "record-1record-2");
  EXPECT_TRUE(reader.Available().second.empty());
  reader.Consume(8);
  EXPECT_EQ(ring->control()->data_tail, 8u);
  EXPECT_EQ(Text(reader.Available().first), "record-2");
}

TEST_F(RingReaderTest, ARecordAcrossTheEndComesInTwoSpans) {
  RingReader reader(std::move(owned));
  ring->Produce("0123456789abcdef01234567");
  reader.Consume(24);
  ring->Produce("ABCDEFGHIJKLMNOP");
  const RingSpans spans = reader.Available();
  EXPECT_EQ(Text(spans.first), "ABCDEFGH");
  EXPECT_EQ(Text(spans.second), "IJKLMNOP");
  EXPECT_EQ(spans.size(), 16u);
  reader.Consume(spans.size());
  EXPECT_TRUE(reader.Available().empty());
}

TEST_F(RingReaderTest, AFullRingGivesAllOfIt) {
  RingReader reader(std::move(owned));
  ring->Produce("0123456789abcdef");
  reader.Consume(16);
  ring->Produce("0123456789abcdefghijklmnopqrstuv");
  const RingSpans spans = reader.Available();
  EXPECT_EQ(Text(spans.first) + Text(spans.second), "0123456789abcdefghijklmnopqrstuv");
}

TEST_F(RingReaderTest, GoesOnWhereAnEarlierReaderStopped) {
  ring->Produce("record-1record-2");
  ring->control()->data_tail = 8;
  RingReader reader(std::move(owned));
  EXPECT_EQ(Text(reader.Available().first), "record-2");
}

TEST_F(RingReaderTest, PositionsBeyond32BitsWork) {
  ring->control()->data_head = ring->control()->data_tail = (uint64_t{1} << 33) + 24;
  RingReader reader(std::move(owned));
  ring->Produce("ABCDEFGHIJKLMNOP");
  EXPECT_EQ(Text(reader.Available().first), "ABCDEFGH");
  EXPECT_EQ(Text(reader.Available().second), "IJKLMNOP");
}

}  // namespace
}  // namespace ksamp
