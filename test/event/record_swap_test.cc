// SPDX-License-Identifier: Apache-2.0
// SwapRecord and SwapAttr: what a machine of the other byte order wrote becomes what ours would have written.
#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "lib/base/byte_writer.h"
#include "lib/event/perf_constants.h"
#include "lib/event/record_decoder.h"
#include "lib/event/record_encoder.h"
#include "test/support/random_records.h"
#include "test/support/status_matchers.h"

namespace ksamp::testing {
namespace {

// Writes numbers as this machine does, or as one of the other byte order does; bytes and text are the same.
class OrderedWriter {
 public:
  explicit OrderedWriter(bool foreign) : foreign_(foreign) {}

  template <typename T>
  OrderedWriter& Number(T value) {
    std::byte bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    if (foreign_) std::reverse(bytes, bytes + sizeof(T));
    out_.PutBytes(bytes);
    return *this;
  }
  OrderedWriter& U16(uint16_t value) { return Number(value); }
  OrderedWriter& U32(uint32_t value) { return Number(value); }
  OrderedWriter& U64(uint64_t value) { return Number(value); }
  OrderedWriter& Text(std::string_view text) {
    out_.PutBytes(AsBytes(text));
    return *this;
  }
  bool foreign() const { return foreign_; }
  std::vector<std::byte> bytes() const { return {out_.bytes().begin(), out_.bytes().end()}; }

 private:
  static std::span<const std::byte> AsBytes(std::string_view text) {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
  }
  bool foreign_;
  ByteWriter out_;
};

std::vector<std::byte> MakeRecord(bool foreign, uint32_t type, uint16_t misc,
                                  const std::function<void(OrderedWriter&)>& body) {
  OrderedWriter writer(foreign);
  body(writer);
  std::vector<std::byte> bytes = writer.bytes();
  const perf_event_header header{type, misc, static_cast<uint16_t>(8 + bytes.size())};
  std::vector<std::byte> record(sizeof(header));
  std::memcpy(record.data(), &header, sizeof(header));
  record.insert(record.end(), bytes.begin(), bytes.end());
  return record;
}

struct SwapCase {
  std::string name;
  uint32_t type;
  uint16_t misc;
  std::function<void(OrderedWriter&)> body;
};

constexpr uint64_t kA = 0x0102030405060708, kB = 0x1112131415161718;
constexpr uint32_t kC = 0x21222324, kD = 0x31323334;
constexpr uint16_t kE = 0x4142, kF = 0x5152;

void PutMmapStart(OrderedWriter& out) {
  out.U32(kC).U32(kD).U64(kA).U64(kB).U64(kA);
}
void PutFork(OrderedWriter& out) {
  out.U32(kC).U32(kD).U32(kC).U32(kD).U64(kA);
}

const SwapCase kSwapCases[] = {
    {"mmap", PERF_RECORD_MMAP, 0,
     [](auto& out) {
       PutMmapStart(out);
       out.Text("/bin/ls\0");
     }},
    {"lost", PERF_RECORD_LOST, 0, [](auto& out) { out.U64(kA).U64(kB); }},
    {"comm", PERF_RECORD_COMM, 0, [](auto& out) { out.U32(kC).U32(kD).Text("bash1234"); }},
    {"exit", PERF_RECORD_EXIT, 0, PutFork},
    {"fork", PERF_RECORD_FORK, 0, PutFork},
    {"throttle", PERF_RECORD_THROTTLE, 0, [](auto& out) { out.U64(kA).U64(kB).U64(kA); }},
    {"unthrottle", PERF_RECORD_UNTHROTTLE, 0, [](auto& out) { out.U64(kA).U64(kB).U64(kA); }},
    {"read", PERF_RECORD_READ, 0,
     [](auto& out) { out.U32(kC).U32(kD).U64(2).U64(kA).U64(kB).U64(kA).U64(kB).U64(kA); }},
    {"mmap2", PERF_RECORD_MMAP2, 0,
     [](auto& out) {
       PutMmapStart(out);
       out.U32(kC).U32(kD).U64(kA).U64(kB).U32(kC).U32(kD).Text("libc.so\0");
     }},
    {"mmap2_build_id", PERF_RECORD_MMAP2, 1 << 14,
     [](auto& out) {
       PutMmapStart(out);
       out.Text(std::string_view("\x14\0\0\0"
                                 "abcdefghijklmnopqrst",
                                 24))
           .U32(kC)
           .U32(kD)
           .Text("libc.so\0");
     }},
    {"aux", PERF_RECORD_AUX, 0, [](auto& out) { out.U64(kA).U64(kB).U64(kA); }},
    {"itrace_start", PERF_RECORD_ITRACE_START, 0, [](auto& out) { out.U32(kC).U32(kD); }},
    {"lost_samples", PERF_RECORD_LOST_SAMPLES, 0, [](auto& out) { out.U64(kA); }},
    {"switch", PERF_RECORD_SWITCH, 0, [](auto&) {}},
    {"switch_cpu_wide", PERF_RECORD_SWITCH_CPU_WIDE, 0, [](auto& out) { out.U32(kC).U32(kD); }},
    {"namespaces", PERF_RECORD_NAMESPACES, 0, [](auto& out) { out.U32(kC).U32(kD).U64(1).U64(kA).U64(kB); }},
    {"ksymbol", PERF_RECORD_KSYMBOL, 0,
     [](auto& out) { out.U64(kA).U32(kC).U16(kE).U16(kF).Text("bpf_prog"); }},
    {"bpf_event", PERF_RECORD_BPF_EVENT, 0, [](auto& out) { out.U16(kE).U16(kF).U32(kC).Text("tagtagta"); }},
    {"cgroup", PERF_RECORD_CGROUP, 0, [](auto& out) { out.U64(kA).Text("/system\0"); }},
    {"text_poke", PERF_RECORD_TEXT_POKE, 0, [](auto& out) { out.U64(kA).U16(kE).U16(kF).Text("1234"); }},
    {"deferred_chain", kRecordCallchainDeferred, 0, [](auto& out) { out.U64(kA).U64(1).U64(kB); }},
};

const SwapCase kToolCases[] = {
    {"build_id", kRecordHeaderBuildId, 0,
     [](auto& out) { out.U32(kC).Text("abcdefghijklmnopqrstuvwx").Text("vmlinux\0"); }},
    {"id_index", kRecordIdIndex, 0, [](auto& out) { out.U64(1).U64(kA).U64(kB).U64(0).U64(1); }},
    {"event_update", kRecordEventUpdate, 0, [](auto& out) { out.U64(2).U64(kA).Text("cycles\0\0"); }},
    {"header_feature", kRecordHeaderFeature, 0, [](auto& out) { out.U64(3).Text("left to its reader"); }},
    {"compressed", kRecordCompressed, 0, [](auto& out) { out.Text("zstd bytes"); }},
    {"of_the_future", 4711, 0, [](auto& out) { out.Text("unknown!"); }},
};

SampleLayout LayoutOf(const perf_event_attr& attr) {
  return *SampleLayout::FromAttr(std::as_bytes(std::span(&attr, 1)));
}

perf_event_attr TrailerAttr() {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
  attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED;
  attr.sample_id_all = 1;
  return attr;
}

class SwapTest : public ::testing::TestWithParam<SwapCase> {};

TEST_P(SwapTest, TurnsTheBodyAndTheTrailer) {
  const auto with_trailer = [](OrderedWriter& out) {
    GetParam().body(out);
    out.U32(kC).U32(kD).U64(kA).U32(kC).U32(0).U64(kB);
  };
  std::vector<std::byte> record = MakeRecord(true, GetParam().type, GetParam().misc, with_trailer);
  ASSERT_OK(SwapRecord(record, LayoutOf(TrailerAttr())));
  EXPECT_EQ(record, MakeRecord(false, GetParam().type, GetParam().misc, with_trailer));
}

INSTANTIATE_TEST_SUITE_P(Kernel, SwapTest, ::testing::ValuesIn(kSwapCases),
                         [](const auto& test) { return test.param.name; });

class ToolSwapTest : public ::testing::TestWithParam<SwapCase> {};

TEST_P(ToolSwapTest, HasNoTrailer) {
  std::vector<std::byte> record = MakeRecord(true, GetParam().type, GetParam().misc, GetParam().body);
  ASSERT_OK(SwapRecord(record, LayoutOf(TrailerAttr())));
  EXPECT_EQ(record, MakeRecord(false, GetParam().type, GetParam().misc, GetParam().body));
}

INSTANTIATE_TEST_SUITE_P(Tool, ToolSwapTest, ::testing::ValuesIn(kToolCases),
                         [](const auto& test) { return test.param.name; });

// mispred, 16 bits of cycles and 4 of type: bit fields lie at the other end of a foreign word.
constexpr uint64_t kNativeFlags = 1 | uint64_t{0xabcd} << 4 | uint64_t{0x5} << 20 | uint64_t{0x3} << 30;
constexpr uint64_t kForeignFlags =
    uint64_t{1} << 63 | uint64_t{0xabcd} << 44 | uint64_t{0x5} << 40 | uint64_t{0x3} << 31;

void PutFullSample(OrderedWriter& out) {
  out.U64(kA).U64(kB).U32(kC).U32(kD).U64(kA).U64(kB).U64(kA).U64(kB).U32(kC).U32(0).U64(kA);
  out.U64(1).U64(kA).U64(kB).U64(kA);  // read: group of one
  out.U64(2).U64(kA).U64(kB);          // callchain
  out.U32(12).Text("raw bytes 12");    // raw
  out.U64(1).U64(kA).U64(kA).U64(kB).U64(out.foreign() ? kForeignFlags : kNativeFlags).U64(kB);  // branches
  out.U64(2).U64(kA).U64(kB);          // user registers
  out.U64(8).Text("stack 64").U64(7);  // user stack
  out.U64(kA).U64(kB).U64(kA);         // weight …
  out.U64(0);                          // no interrupt registers
  out.U64(kA).U64(kB).U64(kA).U64(kB).U64(4).Text("aux4");
}

perf_event_attr FullSampleAttr() {
  perf_event_attr attr = TrailerAttr();
  attr.sample_type = (uint64_t{1} << 24) - 1;
  attr.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | kSampleBranchCounters;
  attr.sample_regs_user = 3;
  attr.sample_regs_intr = 1;
  return attr;
}

TEST(RecordSwapTest, SampleWithEveryField) {
  std::vector<std::byte> record = MakeRecord(true, PERF_RECORD_SAMPLE, 1, PutFullSample);
  ASSERT_OK(SwapRecord(record, LayoutOf(FullSampleAttr())));
  EXPECT_EQ(record, MakeRecord(false, PERF_RECORD_SAMPLE, 1, PutFullSample));
}

TEST(RecordSwapTest, ACutRecordIsDataLossAndNothingOutsideIsTouched) {
  const std::vector<std::byte> whole = MakeRecord(true, PERF_RECORD_SAMPLE, 1, PutFullSample);
  for (size_t length = 0; length < whole.size(); ++length) {
    std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    cut.shrink_to_fit();
    EXPECT_THAT(SwapRecord(cut, LayoutOf(FullSampleAttr())),
                StatusIs(absl::StatusCode::kDataLoss, ::testing::_))
        << length;
  }
  std::vector<std::byte> no_trailer = MakeRecord(true, PERF_RECORD_LOST, 0, [](auto&) {});
  EXPECT_THAT(SwapRecord(no_trailer, LayoutOf(TrailerAttr())),
              StatusIs(absl::StatusCode::kDataLoss, ::testing::HasSubstr("LOST")));
}

// Noise in place of numbers: any count may come out of it.
TEST(RecordSwapTest, NoiseNeverReachesOutside) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomRecords random(seed);
    const SampleLayout layout = LayoutOf(random.Attr());
    for (size_t kind = 0; kind < RandomRecords::kKinds; ++kind) {
      ByteWriter out;
      ASSERT_OK(EncodeRecord(random.Make(kind, layout), layout, out));
      std::vector<std::byte> record(out.bytes().begin(), out.bytes().end());
      const absl::Status status = SwapRecord(record, layout);  // host order read as foreign
      EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kDataLoss);
      EXPECT_EQ(std::memcmp(record.data(), out.bytes().data(), 8), 0)
          << "the header is in host order already";
    }
  }
}

// The attr field by field; `flags` as the compiler of that machine lays bit fields out.
std::vector<std::byte> AttrBytes(bool foreign, uint32_t size, const std::vector<uint8_t>& flags) {
  OrderedWriter out(foreign);
  out.U32(kC).U32(size).U64(kA).U64(kB).U64(kA).U64(kB);
  out.Text({reinterpret_cast<const char*>(flags.data()), flags.size()});
  out.U32(kC).U32(kD).U64(kA).U64(kB).U64(kA).U64(kB).U32(kC).U32(kD).U64(kA);
  out.U32(kC).U16(kE).U16(kF).U32(kC).U32(kD).U64(kA).U64(kB);
  std::vector<std::byte> bytes = out.bytes();
  bytes.resize(size == 0 ? kAttrSizeVer0 : size);
  return bytes;
}

// disabled (0), exclude_user (4), precise_ip = 2 (15, 16), sample_id_all (18), sigtrap (37)
const std::vector<uint8_t> kNative = {0x11, 0x00, 0x05, 0x00, 0x20, 0, 0, 0};
const std::vector<uint8_t> kForeign = {0x88, 0x01, 0x20, 0x00, 0x04, 0, 0, 0};

TEST(AttrSwapTest, EverySizeThereEverWas) {
  for (const uint32_t size : {PERF_ATTR_SIZE_VER0, PERF_ATTR_SIZE_VER1, PERF_ATTR_SIZE_VER2,
                              PERF_ATTR_SIZE_VER3, PERF_ATTR_SIZE_VER4, PERF_ATTR_SIZE_VER5,
                              PERF_ATTR_SIZE_VER6, PERF_ATTR_SIZE_VER7, static_cast<int>(kAttrSizeVer8)}) {
    std::vector<std::byte> attr = AttrBytes(true, size, kForeign);
    SwapAttr(attr);
    EXPECT_EQ(attr, AttrBytes(false, size, kNative)) << size;
  }
}

TEST(AttrSwapTest, FlagsMeanTheSameAfterwards) {
  std::vector<std::byte> bytes = AttrBytes(true, PERF_ATTR_SIZE_VER7, kForeign);
  SwapAttr(bytes);
  perf_event_attr attr;
  std::memcpy(&attr, bytes.data(), sizeof(attr));
  EXPECT_EQ(attr.disabled, 1u);
  EXPECT_EQ(attr.exclude_user, 1u);
  EXPECT_EQ(attr.precise_ip, 2u);
  EXPECT_EQ(attr.sample_id_all, 1u);
  EXPECT_EQ(attr.sigtrap, 1u);
  EXPECT_EQ(attr.exclude_kernel, 0u);
  EXPECT_EQ(attr.sample_max_stack, kE);
}

TEST(AttrSwapTest, TooShortIsLeftAsFarAsItGoes) {
  for (size_t length = 0; length < kAttrSizeVer0; ++length) {
    std::vector<std::byte> attr(length, std::byte{1});
    SwapAttr(attr);
    EXPECT_EQ(attr.size(), length);
  }
}

TEST(RecordSwapTest, HeaderAttrWithItsIds) {
  const auto make = [](bool foreign) {
    std::vector<std::byte> attr = AttrBytes(foreign, PERF_ATTR_SIZE_VER5, foreign ? kForeign : kNative);
    return MakeRecord(foreign, kRecordHeaderAttr, 0, [&](OrderedWriter& out) {
      out.Text({reinterpret_cast<const char*>(attr.data()), attr.size()}).U64(kA).U64(kB);
    });
  };
  std::vector<std::byte> record = make(true);
  ASSERT_OK(SwapRecord(record, LayoutOf(TrailerAttr())));
  EXPECT_EQ(record, make(false));
}

}  // namespace
}  // namespace ksamp::testing
