// SPDX-License-Identifier: Apache-2.0
#include "lib/event/record_decoder.h"

#include <linux/perf_event.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/byte_writer.h"
#include "lib/event/callchain.h"
#include "lib/event/perf_constants.h"
#include "lib/event/record_encoder.h"
#include "test/support/random_records.h"
#include "test/support/record_printers.h"
#include "test/support/status_matchers.h"

namespace ksamp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

SampleLayout LayoutOf(const perf_event_attr& attr) {
  return *SampleLayout::FromAttr(std::as_bytes(std::span(&attr, 1)));
}

SampleLayout LayoutWith(uint64_t sample_type, uint64_t read_format = 0, bool sample_id_all = false) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.sample_type = sample_type;
  attr.read_format = read_format;
  attr.sample_id_all = sample_id_all;
  return LayoutOf(attr);
}

// A record from numbers of 64 bits behind its header.
class WordRecord {
 public:
  WordRecord(uint32_t type, uint16_t misc, std::vector<uint64_t> words) : words_(std::move(words)) {
    const perf_event_header header{type, misc, static_cast<uint16_t>(8 + 8 * words_.size())};
    uint64_t first;
    std::memcpy(&first, &header, sizeof(first));
    words_.insert(words_.begin(), first);
    raw_ = {type, misc, std::as_bytes(std::span<const uint64_t>(words_)), 4096};
  }
  const RawRecord& raw() const { return raw_; }

 private:
  std::vector<uint64_t> words_;
  RawRecord raw_;
};

constexpr uint64_t Pair(uint32_t first, uint32_t second) {
  return uint64_t{second} << 32 | first;
}
uint64_t Letters(const char (&text)[9]) {
  uint64_t word;
  std::memcpy(&word, text, sizeof(word));
  return word;
}

struct KnownRecord {
  std::string name;
  uint32_t type;
  uint16_t misc;
  std::vector<uint64_t> words;  // little-endian host
  std::string expected;
};

// The bytes as the kernel's documentation lays them out, written by hand: an oracle that shares nothing with
// the encoder.
const KnownRecord kKnownRecords[] = {
    {"mmap",
     PERF_RECORD_MMAP,
     2 | 1 << 13,
     {Pair(7, 8), 0x1000, 0x2000, 0x3000, Letters("/bin/ls\0")},
     "mmap mode=2 data=1 has_protection=0 pid=7 tid=8 addr=4096 length=8192 offset=12288 maj=0 min=0 inode=0 "
     "generation=0 build_id=[0:] protection=0 flags=0 path=\"/bin/ls\""},
    {"mmap2",
     PERF_RECORD_MMAP2,
     2,
     {Pair(7, 8), 1, 2, 3, Pair(4, 5), 6, 9, Pair(10, 11), Letters("libc.so\0")},
     "mmap mode=2 data=0 has_protection=1 pid=7 tid=8 addr=1 length=2 offset=3 maj=4 min=5 inode=6 "
     "generation=9 build_id=[0:] protection=10 flags=11 path=\"libc.so\""},
    {"mmap2_build_id",
     PERF_RECORD_MMAP2,
     1 | 1 << 14,
     {Pair(~0u, 0), 1, 2, 3, 0x00030201'00000003, 0, 0, Pair(5, 0), Letters("[kernel]")},
     "mmap mode=1 data=0 has_protection=1 pid=4294967295 tid=0 addr=1 length=2 offset=3 maj=0 min=0 inode=0 "
     "generation=0 build_id=[3:010203] protection=5 flags=0 path=\"[kernel]\""},
    {"mmap2_flagged_by_another_recorder",  // as Linux 6.18 wrote it: device 254:0, inode 247728
     PERF_RECORD_MMAP2,
     2 | 1 << 14,
     {Pair(7, 8), 1, 2, 3, Pair(0xfe, 0), 247'728, 0, Pair(5, 2), Letters("/bin/ls\0")},
     "mmap mode=2 data=0 has_protection=1 pid=7 tid=8 addr=1 length=2 offset=3 maj=254 min=0 inode=247728 "
     "generation=0 build_id=[0:] protection=5 flags=2 path=\"/bin/ls\""},
    {"mmap2_flagged_on_a_scsi_disk",
     PERF_RECORD_MMAP2,
     2 | 1 << 14,
     {Pair(7, 8), 1, 2, 3, Pair(8, 1), 6, 9, Pair(5, 2), Letters("/bin/ls\0")},
     "mmap mode=2 data=0 has_protection=1 pid=7 tid=8 addr=1 length=2 offset=3 maj=8 min=1 inode=6 "
     "generation=9 build_id=[0:] protection=5 flags=2 path=\"/bin/ls\""},
    {"lost", PERF_RECORD_LOST, 0, {7, 8}, "lost id=7 lost=8"},
    {"comm",
     PERF_RECORD_COMM,
     1 << 13,
     {Pair(7, 8), Letters("bash\0\0\0\0")},
     "comm pid=7 tid=8 exec=1 comm=\"bash\""},
    {"exit", PERF_RECORD_EXIT, 0, {Pair(1, 2), Pair(3, 4), 5}, "exit pid=1 ppid=2 tid=3 ptid=4 time=5"},
    {"fork", PERF_RECORD_FORK, 1 << 13, {Pair(1, 2), Pair(3, 4), 5}, "fork pid=1 ppid=2 tid=3 ptid=4 time=5"},
    {"throttle", PERF_RECORD_THROTTLE, 0, {1, 2, 3}, "throttle time=1 id=2 stream=3"},
    {"unthrottle", PERF_RECORD_UNTHROTTLE, 0, {1, 2, 3}, "unthrottle time=1 id=2 stream=3"},
    {"read",
     PERF_RECORD_READ,
     0,
     {Pair(1, 2), 3},
     "read pid=1 tid=2 values.count=1 values.values=[8:0300000000000000]"},
    {"lost_samples", PERF_RECORD_LOST_SAMPLES, 0, {9}, "lost_samples lost=9 by_filter=0"},
    {"lost_by_filter", PERF_RECORD_LOST_SAMPLES, 1 << 15, {9}, "lost_samples lost=9 by_filter=1"},
    {"switch_in", PERF_RECORD_SWITCH, 0, {}, "switch out=0 preempt=0"},
    {"switch_out", PERF_RECORD_SWITCH, 1 << 13, {}, "switch out=1 preempt=0"},
    {"switch_cpu_wide",
     PERF_RECORD_SWITCH_CPU_WIDE,
     3 << 13,
     {Pair(7, 8)},
     "switch out=1 preempt=1 other_pid=7 other_tid=8"},
    {"namespaces",
     PERF_RECORD_NAMESPACES,
     0,
     {Pair(1, 2), 2, 3, 4, 5, 6},
     "namespaces pid=1 tid=2 pairs=[3 4 5 6 ]"},
    {"ksymbol",
     PERF_RECORD_KSYMBOL,
     0,
     {1, Pair(2, 1 << 16 | 1), Letters("bpf_prog")},
     "ksymbol addr=1 length=2 type=1 unregister=1 name=\"bpf_prog\""},
    {"bpf_event",
     PERF_RECORD_BPF_EVENT,
     0,
     {Pair(1 | 2 << 16, 3), 0x0807060504030201},
     "bpf event=1 flags=2 id=3 tag=[8:0102030405060708]"},
    {"cgroup", PERF_RECORD_CGROUP, 0, {7, Letters("/system\0")}, "cgroup id=7 path=\"/system\""},
    {"text_poke",
     PERF_RECORD_TEXT_POKE,
     0,
     {1, 0x90'02'01'0002'0001},
     "text_poke addr=1 old=[1:01] new=[2:0290]"},
    {"finished_round", kRecordFinishedRound, 0, {}, "finished_round"},
    {"finished_init", kRecordFinishedInit, 0, {}, "finished_init"},
    {"aux", PERF_RECORD_AUX, 0, {1, 2, 3}, "unknown type=11"},
    {"deferred_chain", kRecordCallchainDeferred, 0, {1, 1, 2}, "unknown type=22"},
    {"number_of_the_future", 12'345, 0, {}, "unknown type=12345"},
};

class KnownRecordTest : public ::testing::TestWithParam<KnownRecord> {};

TEST_P(KnownRecordTest, IsDecoded) {
  const KnownRecord& known = GetParam();
  const WordRecord record(known.type, known.misc, known.words);
  ASSERT_OK_AND_ASSIGN(Record decoded, DecodeRecord(record.raw(), LayoutWith(PERF_SAMPLE_TIME)));
  EXPECT_EQ(PrintRecord(decoded), known.expected);
}

// perf's own records have no trailer, under any layout.
TEST_P(KnownRecordTest, IsDecodedWithItsTrailer) {
  const KnownRecord& known = GetParam();
  const bool has_trailer = known.type < kFirstToolRecord;
  const uint64_t type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
                        PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
  std::vector<uint64_t> words = known.words;
  for (const uint64_t word :
       {Pair(21, 22), uint64_t{23}, uint64_t{26}, uint64_t{24}, Pair(25, 0), uint64_t{26}}) {
    if (has_trailer) words.push_back(word);
  }
  const WordRecord record(known.type, known.misc, words);
  ASSERT_OK_AND_ASSIGN(Record decoded, DecodeRecord(record.raw(), LayoutWith(type, 0, true)));
  const char* const trailer = " | id.pid=21 id.tid=22 id.time=23 id.id=26 id.stream=24 id.cpu=25";
  EXPECT_EQ(PrintRecord(decoded), known.expected + (has_trailer ? trailer : ""));
}

INSTANTIATE_TEST_SUITE_P(All, KnownRecordTest, ::testing::ValuesIn(kKnownRecords),
                         [](const auto& test) { return test.param.name; });

TEST(RecordDecoderTest, SampleFieldsComeInTheKernelsOrder) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.sample_type = (uint64_t{1} << 24) - 1;  // all, WEIGHT for WEIGHT_STRUCT
  attr.sample_regs_user = 5;
  attr.sample_regs_intr = 1 << 4;
  const WordRecord record(PERF_RECORD_SAMPLE, 1 | 1 << 14,
                          {100,
                           101,
                           Pair(102, 103),
                           104,
                           105,
                           106,
                           107,
                           Pair(108, 0),
                           109,  // identifier … period
                           110,  // read
                           2,
                           111,
                           112,                       // callchain
                           uint64_t{0x73} << 32 | 4,  // raw
                           1,
                           114,
                           115,
                           116,  // branches
                           2,
                           117,
                           118,  // user registers
                           8,
                           119,
                           3,  // user stack
                           120,
                           121,
                           122,  // weight, data_src, transaction
                           1,
                           123,  // interrupt registers
                           124,
                           125,
                           126,
                           127,  // phys, cgroup, data page, code page
                           8,
                           128});  // aux
  ASSERT_OK_AND_ASSIGN(Record decoded, DecodeRecord(record.raw(), LayoutOf(attr)));
  EXPECT_EQ(PrintRecord(decoded),
            "sample mode=1 exact=1 identifier=100 ip=101 pid=102 tid=103 time=104 addr=105 id=106 stream=107 "
            "cpu=108 period=109 read.count=1 read.values=[8:6e00000000000000] callchain=[111 112 ] "
            "raw=[4:73000000] branches=[32:0100000000000000720000000000000073000000000000007400000000000000] "
            "user.abi=2 user.mask=5 user.values=[117 118 ] stack=[3:770000] weight=120 data_src=121 "
            "transaction=122 intr.abi=1 intr.mask=16 intr.values=[123 ] phys=124 cgroup=125 data_page=126 "
            "code_page=127 aux=[8:8000000000000000]");
}

TEST(RecordDecoderTest, ReadValuesOfEveryFormat) {
  for (uint64_t format = 0; format < PERF_FORMAT_MAX; ++format) {
    const bool group = format & PERF_FORMAT_GROUP;
    std::vector<uint64_t> words{group ? uint64_t{2} : 50};
    const auto put = [&](uint64_t bit, uint64_t value) {
      if (format & bit) words.push_back(value);
    };
    put(PERF_FORMAT_TOTAL_TIME_ENABLED, 61);
    put(PERF_FORMAT_TOTAL_TIME_RUNNING, 62);
    for (uint64_t i = 0; i < (group ? 2 : 1); ++i) {
      if (group) words.push_back(50 + i);
      put(PERF_FORMAT_ID, 70 + i);
      put(PERF_FORMAT_LOST, 80 + i);
    }
    const WordRecord record(PERF_RECORD_SAMPLE, 0, words);
    ASSERT_OK_AND_ASSIGN(Record decoded, DecodeRecord(record.raw(), LayoutWith(PERF_SAMPLE_READ, format)));
    const ReadValues& read = *std::get<SampleRecord>(decoded.body).read;
    ASSERT_EQ(read.count, group ? 2u : 1u) << format;
    EXPECT_EQ(read.time_enabled.value_or(0), format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 61u : 0u) << format;
    EXPECT_EQ(read.time_running.value_or(0), format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 62u : 0u) << format;
    for (uint64_t i = 0; i < read.count; ++i) {
      const ReadValue value = DecodeReadValue(read, format, i);
      EXPECT_EQ(value.value, 50 + i) << format;
      EXPECT_EQ(value.id.value_or(0), format & PERF_FORMAT_ID ? 70 + i : 0) << format;
      EXPECT_EQ(value.lost.value_or(0), format & PERF_FORMAT_LOST ? 80 + i : 0) << format;
    }
  }
}

TEST(RecordDecoderTest, BranchStackWithIndexAndCounters) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
  attr.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | kSampleBranchCounters;
  const SampleLayout layout = LayoutOf(attr);
  const WordRecord record(PERF_RECORD_SAMPLE, 0, {2, 99, 1, 2, 3, 4, 5, 6, 70, 71});
  ASSERT_OK_AND_ASSIGN(Record decoded, DecodeRecord(record.raw(), layout));
  const std::vector<BranchEntry> entries = DecodeBranchStack(std::get<SampleRecord>(decoded.body), layout);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].from, 1u);
  EXPECT_EQ(entries[0].to, 2u);
  EXPECT_EQ(entries[0].flags, 3u);
  EXPECT_EQ(entries[1].from, 4u);
  EXPECT_EQ(entries[1].flags, 6u);
}

// Every record of many layouts, cut at every length, in a heap block of exactly that length: the answer is
// DataLoss or a record whose views lie inside. Under ASan one byte too far ends the test.
TEST(RecordDecoderTest, NoCutMakesItReadOutside) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    RandomRecords random(seed);
    const SampleLayout layout = LayoutOf(random.Attr());
    for (size_t kind = 0; kind < RandomRecords::kKinds; ++kind) {
      ByteWriter out;
      ASSERT_OK(EncodeRecord(random.Make(kind, layout), layout, out));
      perf_event_header header;
      std::memcpy(&header, out.bytes().data(), sizeof(header));
      for (size_t length = 0; length < out.size(); ++length) {
        auto exact = std::make_unique<std::byte[]>(length);
        std::memcpy(exact.get(), out.bytes().data(), length);
        const RawRecord raw{header.type, header.misc, {exact.get(), length}, 0};
        const absl::StatusOr<Record> decoded = DecodeRecord(raw, layout);
        if (decoded.ok()) {
          EXPECT_FALSE(PrintRecord(*decoded).empty());  // touches every byte it shows
        } else {
          EXPECT_EQ(decoded.status().code(), absl::StatusCode::kDataLoss);
        }
      }
    }
  }
}

TEST(RecordDecoderTest, CountsThatPromiseTooMuchAreDataLoss) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
  attr.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX;
  for (const uint64_t field : {PERF_SAMPLE_READ, PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_RAW,
                               PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_STACK_USER, PERF_SAMPLE_AUX}) {
    attr.sample_type = field;
    for (const uint64_t count :
         {uint64_t{13}, uint64_t{1} << 61, uint64_t{1} << 60, ~uint64_t{0}, ~uint64_t{0} / 24 + 1}) {
      if (field == PERF_SAMPLE_RAW && static_cast<uint32_t>(count) == 0) continue;
      const WordRecord record(PERF_RECORD_SAMPLE, 0, {count, 1});
      EXPECT_THAT(DecodeRecord(record.raw(), LayoutOf(attr)),
                  StatusIs(absl::StatusCode::kDataLoss, HasSubstr("SAMPLE")))
          << field << " " << count;
    }
  }
}

TEST(RecordDecoderTest, ErrorsNameTypeFieldAndOffset) {
  const WordRecord record(PERF_RECORD_SAMPLE, 0, {1, 9, 5});
  EXPECT_THAT(
      DecodeRecord(record.raw(), LayoutWith(PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN)),
      StatusIs(absl::StatusCode::kDataLoss,
               "decode SAMPLE record at 4096: callchain at byte 24 does not fit the record's size of 32"));
  const WordRecord no_trailer(PERF_RECORD_LOST, 0, {});
  EXPECT_THAT(
      DecodeRecord(no_trailer.raw(), LayoutWith(PERF_SAMPLE_TIME, 0, true)),
      StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr("LOST record at 4096"), HasSubstr("trailer"))));
}

struct Impossible {
  std::string name, field;
  uint32_t type;
  uint16_t misc;
  uint64_t sample_type;
  std::vector<uint64_t> words;
};

TEST(RecordDecoderTest, ValuesThatCannotBeTrueAreDataLoss) {
  const Impossible kCases[] = {
      {"more stack valid than copied",
       "valid size",
       PERF_RECORD_SAMPLE,
       0,
       PERF_SAMPLE_STACK_USER,
       {8, 1, 9}},
      {"registers behind an odd raw",
       "interrupt registers",
       PERF_RECORD_SAMPLE,
       0,
       PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_INTR,
       {5, 1 << 8, 0, 0}},
  };
  for (const Impossible& impossible : kCases) {
    perf_event_attr attr{};
    attr.size = sizeof(attr);
    attr.sample_type = impossible.sample_type;
    attr.sample_regs_intr = 1;
    const WordRecord record(impossible.type, impossible.misc, impossible.words);
    EXPECT_THAT(DecodeRecord(record.raw(), LayoutOf(attr)),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(impossible.field)))
        << impossible.name;
  }
}

TEST(RecordDecoderTest, TypesHaveNames) {
  EXPECT_EQ(RecordTypeName(PERF_RECORD_MMAP2), "MMAP2");
  EXPECT_EQ(RecordTypeName(PERF_RECORD_SAMPLE), "SAMPLE");
  EXPECT_EQ(RecordTypeName(kRecordCompressed2), "COMPRESSED2");
  EXPECT_EQ(RecordTypeName(93), "type 93");
}

std::string Chain(std::vector<uint64_t> chain) {
  std::string text;
  ForEachCallchainAddress(chain, CpuMode::kUser, [&](CpuMode mode, uint64_t ip, bool is_return) {
    text += std::to_string(static_cast<int>(mode)) + ":" + std::to_string(ip) + (is_return ? "r " : " ");
  });
  return text;
}

TEST(CallchainTest, MarkersSetTheModeAndAreNoAddresses) {
  const auto marker = [](int64_t value) { return static_cast<uint64_t>(value); };
  EXPECT_EQ(Chain({}), "");
  EXPECT_EQ(Chain({10, 11}), "2:10 2:11r ");
  EXPECT_EQ(Chain({marker(-128), 10, 11, marker(-512), 12, 13}), "1:10 1:11r 2:12 2:13r ");
  EXPECT_EQ(Chain({marker(-32), 1, marker(-2176), 2, marker(-2560), 3, marker(-2048), 4}),
            "3:1 4:2 5:3 4:4 ");
  EXPECT_EQ(Chain({marker(-128), 10, marker(-640), 77}), "1:10 ");
  EXPECT_EQ(Chain({marker(-128), 10, marker(-640)}), "1:10 ");
  EXPECT_EQ(Chain({marker(-128), 10, marker(-3000), 11}), "1:10 1:11r ");
}

}  // namespace
}  // namespace ksamp::testing
