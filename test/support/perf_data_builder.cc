// SPDX-License-Identifier: Apache-2.0
#include "test/support/perf_data_builder.h"

#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <concepts>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "lib/base/byte_writer.h"
#include "lib/base/file_io.h"
#include "lib/event/record_encoder.h"
#include "lib/event/sample_layout.h"

namespace ksamp::testing {
namespace {

using Buffer = std::vector<std::byte>;

constexpr size_t kHeaderSize = sizeof(perf_event_header);

// Appends numbers in the byte order asked for.
class OrderedWriter {
 public:
  explicit OrderedWriter(bool foreign) : foreign_(foreign) {}
  template <std::integral T>
  OrderedWriter& Put(T value) {
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
    if (foreign_) std::reverse(bytes_.begin() + static_cast<ptrdiff_t>(at), bytes_.end());
    return *this;
  }
  OrderedWriter& PutBytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  OrderedWriter& PutText(std::string_view text) {
    return PutBytes(std::as_bytes(std::span(text.data(), text.size())));
  }
  OrderedWriter& PutHeader(uint32_t type, uint16_t misc, size_t size) {
    return Put(type).Put(misc).Put(static_cast<uint16_t>(size));
  }
  // As perf stores text in features.
  OrderedWriter& PutString(std::string_view text) {
    const size_t padded = (text.size() + 64) / 64 * 64;
    Put(static_cast<uint32_t>(padded)).PutText(text);
    bytes_.resize(bytes_.size() + padded - text.size());
    return *this;
  }
  OrderedWriter& Align() {
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    return *this;
  }
  size_t size() const { return bytes_.size(); }
  Buffer Take() { return std::move(bytes_); }

 private:
  bool foreign_;
  Buffer bytes_;
};

// Turns fields of the given widths round, from `at` on; returns where they end.
size_t ReverseFields(std::span<std::byte> bytes, size_t at, std::initializer_list<size_t> widths) {
  for (size_t width : widths) {
    std::reverse(bytes.begin() + static_cast<ptrdiff_t>(at),
                 bytes.begin() + static_cast<ptrdiff_t>(at + width));
    at += width;
  }
  return at;
}

void ReverseSample(std::span<std::byte> bytes, uint64_t sample_type) {
  size_t at = kHeaderSize;
  auto if_has = [&](uint64_t bit, std::initializer_list<size_t> widths) {
    if ((sample_type & bit) != 0) at = ReverseFields(bytes, at, widths);
  };
  if_has(PERF_SAMPLE_IDENTIFIER, {8});
  if_has(PERF_SAMPLE_IP, {8});
  if_has(PERF_SAMPLE_TID, {4, 4});
  if_has(PERF_SAMPLE_TIME, {8});
  if_has(PERF_SAMPLE_ADDR, {8});
  if_has(PERF_SAMPLE_ID, {8});
  if_has(PERF_SAMPLE_STREAM_ID, {8});
  if_has(PERF_SAMPLE_CPU, {4, 4});
  if_has(PERF_SAMPLE_PERIOD, {8});
  if ((sample_type & PERF_SAMPLE_CALLCHAIN) != 0)
    while (at < bytes.size()) at = ReverseFields(bytes, at, {8});
}

void ReverseTrailer(std::span<std::byte> bytes, const SampleLayout& layout) {
  size_t at = bytes.size() - layout.trailer_size();
  if (layout.trailer_size() == 0) return;
  auto if_has = [&](uint64_t bit, std::initializer_list<size_t> widths) {
    if ((layout.sample_type() & bit) != 0) at = ReverseFields(bytes, at, widths);
  };
  if_has(PERF_SAMPLE_TID, {4, 4});
  if_has(PERF_SAMPLE_TIME, {8});
  if_has(PERF_SAMPLE_ID, {8});
  if_has(PERF_SAMPLE_STREAM_ID, {8});
  if_has(PERF_SAMPLE_CPU, {4, 4});
  if_has(PERF_SAMPLE_IDENTIFIER, {8});
}

// A record of the other byte order. Written apart from SwapRecord(), which it tests.
void ReverseRecord(std::span<std::byte> bytes, const SampleLayout& layout) {
  perf_event_header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  ReverseFields(bytes, 0, {4, 2, 2});
  switch (header.type) {
    case PERF_RECORD_MMAP:
      ReverseFields(bytes, kHeaderSize, {4, 4, 8, 8, 8});
      break;
    case PERF_RECORD_MMAP2: {
      size_t at = ReverseFields(bytes, kHeaderSize, {4, 4, 8, 8, 8});
      const bool build_id = (header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0;
      at = build_id ? at + 24 : ReverseFields(bytes, at, {4, 4, 8, 8});
      ReverseFields(bytes, at, {4, 4});
      break;
    }
    case PERF_RECORD_COMM:
      ReverseFields(bytes, kHeaderSize, {4, 4});
      break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
      ReverseFields(bytes, kHeaderSize, {4, 4, 4, 4, 8});
      break;
    case PERF_RECORD_LOST:
      ReverseFields(bytes, kHeaderSize, {8, 8});
      break;
    case PERF_RECORD_THROTTLE:
    case PERF_RECORD_UNTHROTTLE:
      ReverseFields(bytes, kHeaderSize, {8, 8, 8});
      break;
    case PERF_RECORD_LOST_SAMPLES:
      ReverseFields(bytes, kHeaderSize, {8});
      break;
    case PERF_RECORD_SAMPLE:
      ReverseSample(bytes, layout.sample_type());
      return;
    default:
      return;
  }
  ReverseTrailer(bytes, layout);
}

void ReverseAttr(std::span<std::byte> attr) {
  ReverseFields(attr, 0, {4, 4, 8, 8, 8, 8});
  for (std::byte& b : attr.subspan(40, 8)) {  // bit fields begin at the other end of each byte
    unsigned in = std::to_integer<unsigned>(b), out = 0;
    for (int bit = 0; bit < 8; ++bit) out |= (in >> bit & 1) << (7 - bit);
    b = static_cast<std::byte>(out);
  }
  size_t at = 48;
  for (size_t width : {4, 4, 8, 8, 8, 8, 4, 4, 8, 4, 2, 2, 4, 4, 8}) {
    if (at + width > attr.size()) break;
    at = ReverseFields(attr, at, {width});
  }
}

}  // namespace

perf_event_attr SampleAttr(uint64_t more_sample_type) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = 1'000'000;
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                     PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | more_sample_type;
  attr.sample_id_all = 1;
  return attr;
}

const PerfDataBuilder::Event& PerfDataBuilder::EventAt(size_t event) const {
  static const Event kDefault{SampleAttr(), "cpu-clock", {1}};
  return events_.empty() ? kDefault : events_.at(event);
}

PerfDataBuilder& PerfDataBuilder::AddEvent(std::string name, std::vector<uint64_t> ids,
                                           perf_event_attr attr) {
  events_.push_back({attr, std::move(name), std::move(ids)});
  return *this;
}

SampleId PerfDataBuilder::IdFor(size_t event, uint32_t pid, uint32_t tid, uint64_t time, uint32_t cpu) const {
  SampleId id;
  id.pid = pid;
  id.tid = tid;
  id.time = time;
  const std::vector<uint64_t>& ids = EventAt(event).ids;
  id.id = ids.empty() ? 0 : ids.front();
  id.stream_id = id.id;
  id.cpu = cpu;
  return id;
}

PerfDataBuilder& PerfDataBuilder::Comm(uint32_t pid, uint32_t tid, std::string_view comm, uint64_t time,
                                       bool exec) {
  return Add({IdFor(0, pid, tid, time), CommRecord{pid, tid, exec, comm}});
}

PerfDataBuilder& PerfDataBuilder::Mmap(const BuiltMmap& mmap) {
  MmapRecord record;
  record.mode = mmap.mode;
  record.has_protection = !mmap.old_form;
  record.pid = mmap.pid;
  record.tid = mmap.tid.value_or(mmap.pid == ~0u ? 0 : mmap.pid);
  record.addr = mmap.addr;
  record.length = mmap.length;
  record.file_offset = mmap.file_offset;
  record.build_id.bytes = mmap.build_id;
  record.protection = mmap.protection;
  record.path = mmap.path;
  return Add({IdFor(0, record.pid, record.tid, mmap.time), record});
}

PerfDataBuilder& PerfDataBuilder::Fork(uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid,
                                       uint64_t time) {
  return Add({IdFor(0, ppid, ptid, time), ForkRecord{pid, ppid, tid, ptid, time}});
}

PerfDataBuilder& PerfDataBuilder::Exit(uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid,
                                       uint64_t time) {
  return Add({IdFor(0, pid, tid, time), ExitRecord{pid, ppid, tid, ptid, time}});
}

PerfDataBuilder& PerfDataBuilder::Sample(const BuiltSample& sample) {
  SampleRecord record;
  const SampleId id = IdFor(sample.event, sample.pid, sample.tid, sample.time);
  record.mode = sample.mode;
  record.exact_ip = sample.exact_ip;
  record.identifier = sample.id ? sample.id : id.id;
  record.id = record.stream_id = record.identifier;
  record.ip = sample.ip;
  record.pid = sample.pid;
  record.tid = sample.tid;
  record.time = sample.time;
  record.addr = sample.addr;
  record.cpu = sample.cpu;
  record.period = sample.period;
  record.weight = sample.weight;
  record.callchain = sample.callchain;
  record.raw = sample.raw;
  return Add({{}, record}, sample.event);
}

PerfDataBuilder& PerfDataBuilder::Lost(uint64_t id, uint64_t lost, uint64_t time) {
  return Add({IdFor(0, 0, 0, time), LostRecord{id, lost}});
}

PerfDataBuilder& PerfDataBuilder::LostSamples(uint64_t lost, uint64_t time) {
  return Add({IdFor(0, 0, 0, time), LostSamplesRecord{lost, false}});
}

PerfDataBuilder& PerfDataBuilder::Throttle(uint64_t time, uint64_t id, bool throttled) {
  return Add({IdFor(0, 0, 0, time), ThrottleRecord{throttled, time, id, id}});
}

PerfDataBuilder& PerfDataBuilder::FinishedRound() {
  return AddRecord(68, {});
}

PerfDataBuilder& PerfDataBuilder::Add(const Record& record, size_t event) {
  const perf_event_attr& attr = EventAt(event).attr;
  ByteWriter out;
  const absl::StatusOr<SampleLayout> layout = SampleLayout::FromAttr(std::as_bytes(std::span(&attr, 1)));
  if (!layout.ok()) throw std::runtime_error(layout.status().ToString());
  if (absl::Status status = EncodeRecord(record, *layout, out); !status.ok())
    throw std::runtime_error(status.ToString());
  records_.push_back({std::move(out).Take(), event, true});
  return *this;
}

PerfDataBuilder& PerfDataBuilder::AddBytes(std::span<const std::byte> bytes) {
  records_.push_back({{bytes.begin(), bytes.end()}, 0, false});
  return *this;
}

PerfDataBuilder& PerfDataBuilder::AddRecord(uint32_t type, std::span<const std::byte> payload,
                                            uint16_t misc) {
  OrderedWriter out(false);
  out.PutHeader(type, misc, kHeaderSize + payload.size()).PutBytes(payload);
  records_.push_back({out.Take(), 0, true});
  return *this;
}

PerfDataBuilder& PerfDataBuilder::Feature(unsigned bit, std::vector<std::byte> payload) {
  features_[bit] = std::move(payload);
  return *this;
}
PerfDataBuilder& PerfDataBuilder::Preamble(unsigned bit, std::vector<std::byte> payload) {
  preamble_[bit] = std::move(payload);
  return *this;
}
PerfDataBuilder& PerfDataBuilder::Piped() {
  piped_ = true;
  return *this;
}
PerfDataBuilder& PerfDataBuilder::Compressed(size_t piece, bool independent, uint32_t record_type) {
  compressed_piece_ = piece;
  independent_ = independent;
  compressed_type_ = record_type;
  return *this;
}
PerfDataBuilder& PerfDataBuilder::ForeignByteOrder() {
  foreign_ = true;
  return *this;
}
PerfDataBuilder& PerfDataBuilder::Killed(bool announced) {
  killed_ = true;
  announced_ = announced;
  return *this;
}
PerfDataBuilder& PerfDataBuilder::Truncated(size_t size) {
  truncated_ = size;
  return *this;
}
PerfDataBuilder& PerfDataBuilder::AttrSize(uint32_t size) {
  attr_size_ = size;
  return *this;
}
PerfDataBuilder& PerfDataBuilder::OldHeader() {
  old_header_ = true;
  return *this;
}

Buffer PerfDataBuilder::AttrBytes(const Event& event) const {
  perf_event_attr attr = event.attr;
  attr.size = attr_size_;
  Buffer bytes(std::max<size_t>(attr_size_, sizeof(attr)));
  std::memcpy(bytes.data(), &attr, sizeof(attr));
  bytes.resize(attr_size_);
  if (foreign_) ReverseAttr(bytes);
  return bytes;
}

Buffer PerfDataBuilder::RecordBytes() const {
  Buffer out;
  for (const Stored& record : records_) {
    Buffer bytes = record.bytes;
    if (foreign_ && record.is_record) {
      const perf_event_attr& attr = EventAt(record.event).attr;
      ReverseRecord(bytes, *SampleLayout::FromAttr(std::as_bytes(std::span(&attr, 1))));
    }
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return compressed_piece_ == 0 ? out : CompressedRecords(out);
}

Buffer PerfDataBuilder::CompressedRecords(const Buffer& records) const {
  OrderedWriter out(foreign_);
  ZSTD_CCtx* context = ZSTD_createCCtx();
  for (size_t at = 0; at < records.size(); at += compressed_piece_) {
    const size_t size = std::min(compressed_piece_, records.size() - at);
    Buffer packed(ZSTD_compressBound(size) + 64);
    ZSTD_inBuffer in{records.data() + at, size, 0};
    ZSTD_outBuffer sink{packed.data(), packed.size(), 0};
    const ZSTD_EndDirective mode = independent_ ? ZSTD_e_end : ZSTD_e_flush;
    if (independent_) ZSTD_CCtx_setPledgedSrcSize(context, size);
    while (ZSTD_compressStream2(context, &sink, &in, mode) != 0) {
    }
    packed.resize(sink.pos);
    if (compressed_type_ == 81) {
      out.PutHeader(81, 0, kHeaderSize + packed.size()).PutBytes(packed);
    } else {
      const size_t aligned = (kHeaderSize + 8 + packed.size() + 7) / 8 * 8;
      out.PutHeader(compressed_type_, 0, aligned).Put<uint64_t>(packed.size()).PutBytes(packed);
      out.PutBytes(Buffer(aligned - kHeaderSize - 8 - packed.size()));
    }
  }
  ZSTD_freeCCtx(context);
  return out.Take();
}

std::map<unsigned, Buffer> PerfDataBuilder::Features() const {
  std::map<unsigned, Buffer> features;
  OrderedWriter hostname(foreign_), list(foreign_);
  features[3] = hostname.PutString("testhost").Take();
  const std::vector<Event> events = events_.empty() ? std::vector<Event>{EventAt(0)} : events_;
  list.Put(static_cast<uint32_t>(events.size())).Put(attr_size_);
  for (const Event& event : events) {
    list.PutBytes(AttrBytes(event)).Put(static_cast<uint32_t>(event.ids.size())).PutString(event.name);
    for (uint64_t id : event.ids) list.Put(id);
  }
  features[12] = list.Take();
  if (compressed_piece_ != 0) {
    OrderedWriter facts(foreign_);
    for (uint32_t value : {1, 1, 3, 4, 1 << 20}) facts.Put(value);
    features[27] = facts.Take();
  }
  for (const auto& [bit, payload] : features_) features[bit] = payload;
  return features;
}

Buffer PerfDataBuilder::FileBytes() const {
  const std::vector<Event> events = events_.empty() ? std::vector<Event>{EventAt(0)} : events_;
  const uint64_t header_size = old_header_ ? 72 : 104;
  OrderedWriter ids(foreign_), attrs(foreign_), own(foreign_);
  uint64_t id_at = header_size;
  for (const Event& event : events) {
    for (uint64_t id : event.ids) ids.Put(id);
    attrs.PutBytes(AttrBytes(event)).Put(id_at).Put<uint64_t>(event.ids.size() * 8);
    id_at += event.ids.size() * 8;
  }
  if (!preamble_.empty()) {
    own.PutText("KSAMPPRE").Put(static_cast<uint32_t>(preamble_.size())).Put<uint32_t>(0);
    for (const auto& [bit, payload] : preamble_)
      own.Put<uint32_t>(bit).Put<uint32_t>(0).Put<uint64_t>(payload.size());
    for (const auto& [bit, payload] : preamble_) own.PutBytes(payload).Align();
  }
  const Buffer records = RecordBytes();
  std::map<unsigned, Buffer> features = old_header_ ? std::map<unsigned, Buffer>() : Features();
  const uint64_t attrs_at = id_at, attrs_size = attrs.size();
  const uint64_t data_at = (attrs_at + attrs_size + 7) / 8 * 8 + own.size();
  OrderedWriter out(foreign_);
  out.Put<uint64_t>(0x32454c4946524550).Put(header_size).Put<uint64_t>(attr_size_ + 16);
  out.Put(attrs_at).Put(attrs_size).Put(data_at).Put<uint64_t>(killed_ ? 0 : records.size());
  out.Put<uint64_t>(0).Put<uint64_t>(0);
  uint64_t bits[4] = {};
  for (const auto& [bit, payload] : features)
    bits[bit / 64] |= static_cast<uint64_t>(!killed_ || announced_) << bit % 64;
  if (killed_) features.clear();
  if (!old_header_)
    for (uint64_t word : bits) out.Put(word);
  out.PutBytes(ids.Take()).PutBytes(attrs.Take()).Align().PutBytes(own.Take()).PutBytes(records);
  uint64_t payload_at = out.size() + features.size() * 16;
  for (const auto& [bit, payload] : features) {
    out.Put(payload_at).Put<uint64_t>(payload.size());
    payload_at += payload.size();
  }
  for (const auto& [bit, payload] : features) out.PutBytes(payload);
  return out.Take();
}

Buffer PerfDataBuilder::PipeBytes() const {
  const std::vector<Event> events = events_.empty() ? std::vector<Event>{EventAt(0)} : events_;
  OrderedWriter out(foreign_);
  out.Put<uint64_t>(0x32454c4946524550).Put<uint64_t>(16);
  for (const Event& event : events) {
    const Buffer attr = AttrBytes(event);
    out.PutHeader(64, 0, kHeaderSize + attr.size() + event.ids.size() * 8).PutBytes(attr);
    for (uint64_t id : event.ids) out.Put(id);
  }
  for (auto& [bit, payload] : Features()) {
    const size_t padded = (payload.size() + 7) / 8 * 8;
    out.PutHeader(80, 0, kHeaderSize + 8 + padded).Put<uint64_t>(bit).PutBytes(payload);
    out.PutBytes(Buffer(padded - payload.size()));
  }
  out.PutBytes(RecordBytes());
  return out.Take();
}

Buffer PerfDataBuilder::Bytes() const {
  Buffer bytes = piped_ ? PipeBytes() : FileBytes();
  if (truncated_ && *truncated_ < bytes.size()) bytes.resize(*truncated_);
  return bytes;
}

std::string PerfDataBuilder::WriteTo(const std::string& path) const {
  const Buffer bytes = Bytes();
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error("write " + path);
  return path;
}

absl::StatusOr<Recording> PerfDataBuilder::Open(const OpenOptions& options) const {
  absl::StatusOr<UniqueFd> fd = CreateScratchFile("built");
  if (!fd.ok()) return fd.status();
  if (absl::Status status = WriteAll(fd->get(), Bytes(), "built"); !status.ok()) return status;
  return Recording::FromDescriptor(fd->Release(), "built", options);
}

}  // namespace ksamp::testing
