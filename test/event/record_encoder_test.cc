// SPDX-License-Identifier: Apache-2.0
#include "lib/event/record_encoder.h"

#include <linux/perf_event.h>

#include <string>
#include <vector>

#include "lib/event/perf_constants.h"
#include "lib/event/record_decoder.h"
#include "test/support/random_records.h"
#include "test/support/record_printers.h"
#include "test/support/status_matchers.h"

namespace ksamp::testing {
namespace {

using ::testing::HasSubstr;

SampleLayout LayoutOf(const perf_event_attr& attr) {
  return *SampleLayout::FromAttr(std::as_bytes(std::span(&attr, 1)));
}

RawRecord RawOf(std::span<const std::byte> bytes) {
  perf_event_header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  EXPECT_EQ(header.size, bytes.size());
  return {header.type, header.misc, bytes, 0};
}

// Every kind under many layouts; the seed names the one that failed.
TEST(RecordEncoderTest, DecodingWhatWasEncodedGivesTheSameRecord) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    RandomRecords random(seed);
    const SampleLayout layout = LayoutOf(random.Attr());
    for (size_t kind = 0; kind < RandomRecords::kKinds; ++kind) {
      const Record record = random.Make(kind, layout);
      ByteWriter out;
      ASSERT_OK(EncodeRecord(record, layout, out));
      ASSERT_EQ(out.size() % 8, 0u) << "seed " << seed << ": " << PrintRecord(record);
      ASSERT_OK_AND_ASSIGN(Record decoded, DecodeRecord(RawOf(out.bytes()), layout));
      ASSERT_EQ(PrintRecord(decoded), PrintRecord(record)) << "seed " << seed;
    }
  }
}

TEST(RecordEncoderTest, EachSampleFieldAloneComesBack) {
  for (int bit = 0; bit < 25; ++bit) {
    RandomRecords random(static_cast<uint64_t>(bit));
    perf_event_attr attr = random.Attr();
    attr.sample_type = uint64_t{1} << bit;
    const SampleLayout layout = LayoutOf(attr);
    for (int round = 0; round < 20; ++round) {
      const Record record = random.Make(0, layout);
      ByteWriter out;
      ASSERT_OK(EncodeRecord(record, layout, out));
      ASSERT_OK_AND_ASSIGN(Record decoded, DecodeRecord(RawOf(out.bytes()), layout));
      ASSERT_EQ(PrintRecord(decoded), PrintRecord(record)) << "bit " << bit;
    }
  }
}

perf_event_attr AttrWith(uint64_t sample_type) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.sample_type = sample_type;
  attr.sample_id_all = 1;
  return attr;
}

TEST(RecordEncoderTest, WhatTheLayoutAsksForAndTheRecordLacksIsZero) {
  const SampleLayout layout =
      LayoutOf(AttrWith(PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN |
                        PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT));
  ByteWriter out;
  ASSERT_OK(EncodeRecord({{}, SampleRecord{}}, layout, out));
  ASSERT_OK_AND_ASSIGN(Record decoded, DecodeRecord(RawOf(out.bytes()), layout));
  EXPECT_EQ(out.size(), 8u + 7 * 8);
  const auto& sample = std::get<SampleRecord>(decoded.body);
  EXPECT_EQ(sample.ip, 0u);
  EXPECT_EQ(sample.time, 0u);
  EXPECT_EQ(sample.weight, 0u);
  ASSERT_TRUE(sample.read.has_value());
  EXPECT_EQ(DecodeReadValue(*sample.read, 0, 0).value, 0u);
}

TEST(RecordEncoderTest, WhatTheLayoutLacksIsLeftOut) {
  SampleRecord sample;
  sample.ip = 1;
  sample.time = 2;
  sample.cpu = 3;
  SampleId id;
  id.time = 4;
  ByteWriter out;
  ASSERT_OK(EncodeRecord({id, sample}, LayoutOf(AttrWith(PERF_SAMPLE_IP)), out));
  EXPECT_EQ(out.size(), 16u);
}

TEST(RecordEncoderTest, RawBytesFillWholeWordsAsTheKernelsDo) {
  const SampleLayout layout = LayoutOf(AttrWith(PERF_SAMPLE_RAW));
  const std::vector<std::byte> five(5, std::byte{7});
  SampleRecord sample;
  sample.raw = five;
  ByteWriter out;
  ASSERT_OK(EncodeRecord({{}, sample}, layout, out));
  ASSERT_OK_AND_ASSIGN(Record decoded, DecodeRecord(RawOf(out.bytes()), layout));
  std::vector<std::byte> twelve = five;
  twelve.resize(12);
  const std::span<const std::byte> raw = std::get<SampleRecord>(decoded.body).raw;
  EXPECT_EQ(std::vector<std::byte>(raw.begin(), raw.end()), twelve);
}

struct Refusal {
  std::string name, message;
  Record record;
};

TEST(RecordEncoderTest, WhatCannotBeWrittenIsRefusedAndLeavesNothingBehind) {
  perf_event_attr attr =
      AttrWith(PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_TID);
  attr.sample_regs_user = 7;
  const SampleLayout layout = LayoutOf(attr);
  const std::string long_path(65'530, 'x');
  const std::vector<uint64_t> words(9000);
  const std::vector<uint8_t> long_id(21);
  const std::vector<std::byte> long_poke(70'000);
  SampleRecord long_chain, few_registers, odd_read;
  long_chain.callchain = words;
  few_registers.user_regs = {2, 7, std::span(words).first(2)};
  odd_read.read = ReadValues{{}, {}, 1, std::as_bytes(std::span(words).first(2))};
  MmapRecord long_build_id;
  long_build_id.has_protection = true;
  long_build_id.build_id.bytes = long_id;
  NamespacesRecord odd_pairs{1, 2, std::span(words).first(3)};
  const Refusal kRefusals[] = {
      {"path", "a record holds 65535", {{}, CgroupRecord{1, long_path}}},
      {"chain", "a record holds 65535", {{}, long_chain}},
      {"registers", "2 values, the layout has 3", {{}, few_registers}},
      {"read", "16 bytes, the layout has 8", {{}, odd_read}},
      {"build id", "build-id of 21 bytes", {{}, long_build_id}},
      {"tag", "tag of 21 bytes", {{}, BpfEventRecord{1, 0, 2, std::as_bytes(std::span(long_id))}}},
      {"poke", "too many bytes", {{}, TextPokeRecord{1, long_poke, {}}}},
      {"pairs", "a device without its inode", {{}, odd_pairs}},
      {"unknown", "type 93", {{}, UnknownRecord{93}}},
  };
  for (const Refusal& refusal : kRefusals) {
    ByteWriter out;
    out.Put(uint64_t{42});
    EXPECT_THAT(EncodeRecord(refusal.record, layout, out),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(refusal.message)))
        << refusal.name;
    EXPECT_EQ(out.size(), 8u) << refusal.name;
  }
}

TEST(RecordEncoderTest, RecordsAreAppended) {
  const SampleLayout layout = LayoutOf(AttrWith(PERF_SAMPLE_IP));
  ByteWriter out;
  ASSERT_OK(EncodeRecord({{}, CommRecord{1, 2, false, "bash"}}, layout, out));
  ASSERT_OK(EncodeRecord({{}, LostRecord{3, 4}}, layout, out));
  ASSERT_OK_AND_ASSIGN(Record first, DecodeRecord(RawOf(out.bytes().first(24)), layout));
  ASSERT_OK_AND_ASSIGN(Record second, DecodeRecord(RawOf(out.bytes().subspan(24)), layout));
  EXPECT_EQ(PrintRecord(first), "comm pid=1 tid=2 exec=0 comm=\"bash\"");
  EXPECT_EQ(PrintRecord(second), "lost id=3 lost=4");
}

}  // namespace
}  // namespace ksamp::testing
