// SPDX-License-Identifier: Apache-2.0
// Records of the other byte order, turned round in place.
//
// Most records are a row of numbers, so a text of their widths describes them; only the ones whose shape
// depends on their values have a function.
#include <linux/perf_event.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "lib/base/str_cat.h"
#include "lib/event/perf_constants.h"
#include "lib/event/read_format.h"
#include "lib/event/record_decoder.h"

namespace ksamp {
namespace {

template <typename T>
T Swapped(T value) {
  if constexpr (sizeof(T) == 2) {
    return __builtin_bswap16(value);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bswap32(value);
  } else {
    return __builtin_bswap64(value);
  }
}

// A cursor that turns what it passes and hands out the value. Past the end nothing is touched.
class Swapper {
 public:
  explicit Swapper(std::span<std::byte> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t remaining() const { return bytes_.size() - at_; }

  template <typename T>
  T Swap() {
    T value{};
    if (!Has(sizeof(T))) return value;
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    value = Swapped(value);
    std::memcpy(bytes_.data() + at_, &value, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  void SwapWords(uint64_t count) {
    if (count > remaining() / sizeof(uint64_t)) ok_ = false;
    for (uint64_t i = 0; ok_ && i < count; ++i) Swap<uint64_t>();
  }

  void Skip(uint64_t size) {
    if (Has(size)) at_ += static_cast<size_t>(size);
  }

  std::byte* here() { return bytes_.data() + at_; }

  // '2', '4', '8': a number of that width; '-': a byte that stays; '*': words of 8 to the end. Stops at the
  // end.
  void SwapByWidths(std::string_view widths) {
    for (const char width : widths) {
      switch (width) {
        case '2':
          Swap<uint16_t>();
          break;
        case '4':
          Swap<uint32_t>();
          break;
        case '8':
          Swap<uint64_t>();
          break;
        case '*':
          SwapWords(remaining() / sizeof(uint64_t));
          break;
        default:
          Skip(1);
      }
    }
  }

 private:
  bool Has(uint64_t size) {
    ok_ = ok_ && size <= remaining();
    return ok_;
  }

  std::span<std::byte> bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

// ---- Bit fields ---------------------------------------------------------------------------------------

// The compiler of a big-endian machine fills a byte's bits from the top, so a bit field of the other order
// has its bits reversed within each byte, and its bytes stay.
std::byte ReverseBits(std::byte value) {
  unsigned reversed = 0;
  for (unsigned bit = 0; bit < 8; ++bit)
    reversed |= (std::to_integer<unsigned>(value) >> bit & 1u) << (7 - bit);
  return static_cast<std::byte>(reversed);
}

// precise_ip is the only flag of two bits (15 and 16): reversal put its high bit first.
void SwapFlagWord(std::byte* flags) {
  std::transform(flags, flags + 8, flags, ReverseBits);
  const bool first = (std::to_integer<unsigned>(flags[1]) & 0x80) != 0;
  const bool second = (std::to_integer<unsigned>(flags[2]) & 0x01) != 0;
  flags[1] = (flags[1] & std::byte{0x7f}) | std::byte(second ? 0x80 : 0);
  flags[2] = (flags[2] & std::byte{0xfe}) | std::byte(first ? 0x01 : 0);
}

// Flags of a branch: fields of several bits, placed from the other end of the word.
struct BitField {
  int at, width;  // counted from bit 0 on a little-endian machine
};
constexpr BitField kBranchFlags[] = {{0, 1},  {1, 1},  {2, 1},  {3, 1}, {4, 16},
                                     {20, 4}, {24, 2}, {26, 4}, {30, 3}};

uint64_t SwappedBranchFlags(uint64_t value) {
  uint64_t turned = 0;
  for (const auto& [at, width] : kBranchFlags) {
    const int from_top = 64 - at - width;
    const bool little = std::endian::native == std::endian::little;
    const uint64_t bits = value >> (little ? from_top : at) & ((uint64_t{1} << width) - 1);
    turned |= bits << (little ? at : from_top);
  }
  return turned;
}

// ---- Records whose shape depends on their values ------------------------------------------------------

void SwapReadValues(Swapper& in, uint64_t read_format) {
  const ReadFormat format(read_format);
  if (!format.group) return in.SwapWords(format.single_bytes() / 8);
  const uint64_t count = in.Swap<uint64_t>();
  in.SwapWords(format.bytes_of_times() / 8);
  const uint64_t words = format.bytes_per_value() / 8;
  in.SwapWords(count <= in.remaining() / 8 ? count * words : ~uint64_t{0});
}

void SwapRegs(Swapper& in, uint64_t mask) {
  if (in.Swap<uint64_t>() != PERF_SAMPLE_REGS_ABI_NONE)
    in.SwapWords(static_cast<uint64_t>(std::popcount(mask)));
}

void SwapBranchStack(Swapper& in, uint64_t branch_sample_type) {
  const uint64_t count = in.Swap<uint64_t>();
  if (branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) in.Swap<uint64_t>();
  for (uint64_t i = 0; in.ok() && i < count; ++i) {
    in.SwapWords(2);
    std::byte* const flags = in.here();
    const uint64_t value = SwappedBranchFlags(in.Swap<uint64_t>());
    if (in.ok()) std::memcpy(flags, &value, sizeof(value));
  }
  if (branch_sample_type & kSampleBranchCounters) in.SwapWords(count);
}

void SwapUserStack(Swapper& in) {
  const uint64_t size = in.Swap<uint64_t>();
  if (size == 0) return;
  in.Skip(size);  // memory of the process: whoever unwinds it knows its byte order
  in.Swap<uint64_t>();
}

struct SampleStep {
  uint64_t bits;
  void (*swap)(Swapper&, const SampleLayout&);
};
void SwapWord(Swapper& in, const SampleLayout&) {
  in.Swap<uint64_t>();
}
void SwapPair(Swapper& in, const SampleLayout&) {
  in.SwapByWidths("44");
}
constexpr SampleStep kSampleSteps[] = {
    {PERF_SAMPLE_IDENTIFIER, SwapWord},
    {PERF_SAMPLE_IP, SwapWord},
    {PERF_SAMPLE_TID, SwapPair},
    {PERF_SAMPLE_TIME, SwapWord},
    {PERF_SAMPLE_ADDR, SwapWord},
    {PERF_SAMPLE_ID, SwapWord},
    {PERF_SAMPLE_STREAM_ID, SwapWord},
    {PERF_SAMPLE_CPU, SwapPair},
    {PERF_SAMPLE_PERIOD, SwapWord},
    {PERF_SAMPLE_READ,
     [](Swapper& in, const SampleLayout& layout) { SwapReadValues(in, layout.read_format()); }},
    {PERF_SAMPLE_CALLCHAIN, [](Swapper& in, const SampleLayout&) { in.SwapWords(in.Swap<uint64_t>()); }},
    // A tracepoint's bytes: its format file says which are numbers.
    {PERF_SAMPLE_RAW, [](Swapper& in, const SampleLayout&) { in.Skip(in.Swap<uint32_t>()); }},
    {PERF_SAMPLE_BRANCH_STACK,
     [](Swapper& in, const SampleLayout& layout) { SwapBranchStack(in, layout.branch_sample_type()); }},
    {PERF_SAMPLE_REGS_USER,
     [](Swapper& in, const SampleLayout& layout) { SwapRegs(in, layout.sample_regs_user()); }},
    {PERF_SAMPLE_STACK_USER, [](Swapper& in, const SampleLayout&) { SwapUserStack(in); }},
    {PERF_SAMPLE_WEIGHT_TYPE, SwapWord},
    {PERF_SAMPLE_DATA_SRC, SwapWord},
    {PERF_SAMPLE_TRANSACTION, SwapWord},
    {PERF_SAMPLE_REGS_INTR,
     [](Swapper& in, const SampleLayout& layout) { SwapRegs(in, layout.sample_regs_intr()); }},
    {PERF_SAMPLE_PHYS_ADDR, SwapWord},
    {PERF_SAMPLE_CGROUP, SwapWord},
    {PERF_SAMPLE_DATA_PAGE_SIZE, SwapWord},
    {PERF_SAMPLE_CODE_PAGE_SIZE, SwapWord},
    {PERF_SAMPLE_AUX, [](Swapper& in, const SampleLayout&) { in.Skip(in.Swap<uint64_t>()); }},
};

void SwapSample(Swapper& in, const SampleLayout& layout) {
  for (const SampleStep& step : kSampleSteps) {
    if (layout.sample_type() & step.bits) step.swap(in, layout);
  }
}

// [pid, tid] [time] [id] [stream_id] [cpu, reserved] [identifier]
void SwapTrailer(Swapper& in, uint64_t sample_type) {
  if (sample_type & PERF_SAMPLE_TID) in.SwapByWidths("44");
  if (sample_type & PERF_SAMPLE_TIME) in.Swap<uint64_t>();
  if (sample_type & PERF_SAMPLE_ID) in.Swap<uint64_t>();
  if (sample_type & PERF_SAMPLE_STREAM_ID) in.Swap<uint64_t>();
  if (sample_type & PERF_SAMPLE_CPU) in.SwapByWidths("44");
  if (sample_type & PERF_SAMPLE_IDENTIFIER) in.Swap<uint64_t>();
}

// ---- The table ----------------------------------------------------------------------------------------

struct RecordWidths {
  uint32_t type;
  std::string_view widths;  // as Swapper::SwapByWidths reads them
};
constexpr std::string_view kMmap2 =
                               "448884488"
                               "44",
                           kMmap2WithBuildId =
                               "44888"
                               "------------------------"
                               "44";
constexpr RecordWidths kWidths[] = {
    {PERF_RECORD_MMAP, "44888"},         {PERF_RECORD_LOST, "88"},        {PERF_RECORD_COMM, "44"},
    {PERF_RECORD_EXIT, "44448"},         {PERF_RECORD_THROTTLE, "888"},   {PERF_RECORD_UNTHROTTLE, "888"},
    {PERF_RECORD_FORK, "44448"},         {PERF_RECORD_MMAP2, kMmap2},     {PERF_RECORD_AUX, "888"},
    {PERF_RECORD_ITRACE_START, "44"},    {PERF_RECORD_LOST_SAMPLES, "8"}, {PERF_RECORD_SWITCH, ""},
    {PERF_RECORD_SWITCH_CPU_WIDE, "44"}, {PERF_RECORD_NAMESPACES, "44*"}, {PERF_RECORD_KSYMBOL, "8422"},
    {PERF_RECORD_BPF_EVENT, "224"},      {PERF_RECORD_CGROUP, "8"},       {PERF_RECORD_TEXT_POKE, "822"},
    {PERF_RECORD_AUX_OUTPUT_HW_ID, "8"}, {kRecordCallchainDeferred, "*"}, {kRecordHeaderTracingData, "4"},
    {kRecordHeaderBuildId, "4"},         {kRecordIdIndex, "*"},           {kRecordAuxtrace, "8884444"},
    {kRecordEventUpdate, "88"},          {kRecordHeaderFeature, "8"},     {kRecordCompressed2, "8"},
};

// The attr, as long as it says it is, then ids.
void SwapHeaderAttr(std::span<std::byte> body) {
  if (body.size() < kAttrSizeVer0) return;
  uint32_t size;
  std::memcpy(&size, body.data() + offsetof(perf_event_attr, size), sizeof(size));
  size = Swapped(size);
  if (size == 0) size = kAttrSizeVer0;
  SwapAttr(body.first(std::min<size_t>(size, body.size())));
  if (size < body.size()) Swapper(body.subspan(size)).SwapByWidths("*");
}

// False where a record holds less than its shape asks for.
bool SwapBody(const perf_event_header& header, std::span<std::byte> body, const SampleLayout& layout) {
  Swapper in(body);
  if (header.type == PERF_RECORD_SAMPLE) {
    SwapSample(in, layout);
  } else if (header.type == PERF_RECORD_READ) {
    in.SwapByWidths("44");
    SwapReadValues(in, layout.read_format());
  } else if (header.type == kRecordHeaderAttr) {
    SwapHeaderAttr(body);
  } else if (header.type == PERF_RECORD_MMAP2 && (header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID)) {
    in.SwapByWidths(kMmap2WithBuildId);
  } else {
    for (const RecordWidths& record : kWidths) {
      if (record.type == header.type) in.SwapByWidths(record.widths);
    }
  }
  return in.ok();
}

}  // namespace

absl::Status SwapRecord(std::span<std::byte> record, const SampleLayout& layout) {
  perf_event_header header{};
  if (record.size() < kRecordHeaderSize) return absl::DataLossError("turn record: shorter than its header");
  std::memcpy(&header, record.data(), sizeof(header));
  const bool has_trailer = header.type != PERF_RECORD_SAMPLE && header.type < kFirstToolRecord;
  const size_t trailer = has_trailer ? layout.trailer_size() : 0;
  if (record.size() < kRecordHeaderSize + trailer)
    return absl::DataLossError(StrCat("turn ", RecordTypeName(header.type), " record: its size of ",
                                      record.size(), " has no room for the ", trailer,
                                      " bytes of its trailer"));
  Swapper trailer_swapper(record.last(trailer));
  if (trailer > 0) SwapTrailer(trailer_swapper, layout.sample_type());
  const size_t body_size = record.size() - kRecordHeaderSize - trailer;
  if (!SwapBody(header, record.subspan(kRecordHeaderSize, body_size), layout))
    return absl::DataLossError(StrCat("turn ", RecordTypeName(header.type),
                                      " record: its fields do not fit its size of ", record.size()));
  return absl::OkStatus();
}

void SwapAttr(std::span<std::byte> attr) {
  constexpr std::string_view kBeforeFlags = "448888", kBehindFlags =
                                                          "44"
                                                          "88"
                                                          "88"
                                                          "44"
                                                          "8"
                                                          "422"
                                                          "44"
                                                          "88";
  constexpr size_t kFlagsAt = 40;
  Swapper in(attr.first(std::min(attr.size(), kAttrSizeVer8)));
  in.SwapByWidths(kBeforeFlags);
  in.Skip(8);
  if (!in.ok()) return;
  SwapFlagWord(attr.data() + kFlagsAt);
  in.SwapByWidths(kBehindFlags);
}

}  // namespace ksamp
