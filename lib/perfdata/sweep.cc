// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/sweep.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "lib/base/checked_math.h"
#include "lib/base/str_cat.h"
#include "lib/perfdata/field_reader.h"
#include "lib/perfdata/format.h"

namespace ksamp::perfdata {
namespace {

using Bytes = std::span<const std::byte>;

constexpr size_t kHeaderSize = sizeof(perf_event_header);
constexpr uint32_t kLastKernelRecord = 22;  // CALLCHAIN_DEFERRED
constexpr uint32_t kLastUserRecord = 86;    // SCHEDSTAT_DOMAIN
constexpr uint32_t kFirstSimpleperfRecord = 32768, kLastSimpleperfRecord = 32768 + 128;

bool IsKnownType(uint32_t type) {
  return (type >= PERF_RECORD_MMAP && type <= kLastKernelRecord) ||
         (type >= kHeaderAttr && type <= kLastUserRecord);
}

bool IsPlausible(const perf_event_header& header) {
  const bool type = IsKnownType(header.type) ||
                    (header.type >= kFirstSimpleperfRecord && header.type <= kLastSimpleperfRecord);
  return type && header.size >= kHeaderSize;
}

perf_event_header LoadHeader(const std::byte* at, bool foreign) {
  perf_event_header header;
  std::memcpy(&header, at, sizeof(header));
  if (foreign) {
    header.type = SwapBytes(header.type);
    header.misc = SwapBytes(header.misc);
    header.size = SwapBytes(header.size);
  }
  return header;
}

// Bytes behind a record that its size leaves out; nothing where they are not all there.
std::optional<uint64_t> TrailingBytes(const RawRecord& record, bool foreign) {
  FieldReader reader(record.bytes, foreign);
  reader.Skip(kHeaderSize);
  if (record.type == kHeaderTracingData) return CheckedAlign(reader.Read<uint32_t>(), 8);
  if (record.type == kAuxtrace) return reader.Read<uint64_t>();
  return 0;
}

// The size that a COMPRESSED2 at `bytes` really has, where its header tells only the low 16 bits.
std::optional<size_t> UnwrappedSize(Bytes bytes, uint16_t stated, bool foreign) {
  FieldReader reader(bytes, foreign);
  reader.Skip(kHeaderSize);
  const uint64_t data_size = reader.Read<uint64_t>();
  const std::optional<uint64_t> size = CheckedAdd(data_size, kHeaderSize + sizeof(data_size));
  const std::optional<uint64_t> aligned = size ? CheckedAlign(*size, 8) : std::nullopt;
  if (!reader.ok() || !aligned || *aligned > bytes.size() || *aligned <= stated) return std::nullopt;
  if ((*aligned & 0xffff) != stated) return std::nullopt;
  return static_cast<size_t>(*aligned);
}

class Sweeper {
 public:
  Sweeper(Bytes data, uint64_t offset, SweepResult& result, const std::function<void(Bytes)>& walked)
      : data_(data), offset_(offset), result_(result), walked_(walked) {}

  void Run() {
    size_t at = 0, chunk_start = 0;
    while (at < data_.size()) {
      const size_t reached = WalkChunk(at, std::min(data_.size(), chunk_start + kChunkBytes));
      const bool chunk_full = reached - chunk_start >= kChunkBytes;
      at = reached;
      if (chunk_full || at == data_.size()) {
        Cut(chunk_start, at);
        chunk_start = at;
        continue;
      }
      // A record that is not simply `size` bytes long, or none at all: it ends the chunk.
      const RecordStep step = ReadStep(data_.subspan(at), offset_ + at, false);
      Cut(chunk_start, at);
      if (step.advance != 0) {
        TakeOdd(step);
        at += step.advance;
      } else {
        at += StepOverDamage(at);
      }
      chunk_start = at;
    }
    result_.misaligned |= (size_bits_ & 7) != 0;
  }

 private:
  // Walks records from `at` until one begins at or behind `limit` or needs more than its header says.
  size_t WalkChunk(size_t at, size_t limit) {
    const std::byte* const base = data_.data();
    const size_t end = data_.size();
    uint64_t samples = 0;
    uint16_t size_bits = 0;
    while (at < limit) {
      if (end - at < kHeaderSize) break;
      perf_event_header header;
      std::memcpy(&header, base + at, sizeof(header));
      if (header.size < kHeaderSize || header.size > end - at) break;
      if (header.type == PERF_RECORD_SAMPLE) {
        ++samples;
      } else if (!TakeSide(header, at)) {
        break;
      }
      size_bits |= header.size;
      at += header.size;
    }
    result_.counts.samples += samples;
    size_bits_ |= size_bits;
    return at;
  }

  // False: the record needs ReadStep().
  bool TakeSide(const perf_event_header& header, size_t at) {
    switch (header.type) {
      case kHeaderTracingData:
      case kAuxtrace:
      case kCompressedRecord:
      case kCompressed2:
        return false;
      default:
        Keep({header.type, header.misc, data_.subspan(at, header.size), offset_ + at});
        return true;
    }
  }

  void TakeOdd(const RecordStep& step) {
    if (step.record.type == kHeaderTracingData) result_.tracing_data = step.trailing;
    if (step.record.type == kCompressedRecord || step.record.type == kCompressed2)
      result_.has_compressed = true;
    size_bits_ |= static_cast<uint16_t>(step.advance);
    Keep(step.record);
  }

  void Keep(const RawRecord& record) {
    Count(record);
    result_.side_records.push_back(record);
  }

  void Count(const RawRecord& record) {
    RecordCounts& counts = result_.counts;
    auto field = [&](size_t at) {
      uint64_t value = 0;
      if (record.bytes.size() >= at + sizeof(value))
        std::memcpy(&value, record.bytes.data() + at, sizeof(value));
      return value;
    };
    switch (record.type) {
      case PERF_RECORD_MMAP:
      case PERF_RECORD_MMAP2:
        ++counts.mmaps;
        break;
      case PERF_RECORD_COMM:
        ++counts.comms;
        break;
      case PERF_RECORD_FORK:
        ++counts.forks;
        break;
      case PERF_RECORD_EXIT:
        ++counts.exits;
        break;
      case PERF_RECORD_LOST:
        ++counts.lost_records;
        counts.lost += field(16);
        break;
      case PERF_RECORD_LOST_SAMPLES:
        counts.lost_samples += field(8);
        break;
      case PERF_RECORD_THROTTLE:
        ++counts.throttles;
        break;
      case PERF_RECORD_UNTHROTTLE:
        ++counts.unthrottles;
        break;
      default:
        if (IsKnownType(record.type)) break;
        ++counts.unknown;
        ++counts.unknown_by_type[record.type];
    }
  }

  size_t StepOverDamage(size_t at) {
    const Bytes rest = data_.subspan(at);
    const size_t skipped = FindNextRecord(rest, false);
    Damage damage{offset_ + at, "", skipped};
    if (rest.size() < kHeaderSize) {
      damage.what = StrCat("the records end within a header at ", damage.offset);
    } else {
      const perf_event_header header = LoadHeader(rest.data(), false);
      damage.what = StrCat("record of type ", header.type, " and size ", header.size, " at ", damage.offset,
                           header.size > rest.size() ? ", where the records end earlier" : "");
    }
    ++result_.counts.malformed;
    result_.damage.push_back(std::move(damage));
    return skipped;
  }

  void Cut(size_t from, size_t to) {
    if (from == to) return;
    result_.chunks.push_back({data_.subspan(from, to - from), offset_ + from});
    if (walked_) walked_(result_.chunks.back().bytes);
  }

  const Bytes data_;
  const uint64_t offset_;
  SweepResult& result_;
  const std::function<void(Bytes)>& walked_;
  uint16_t size_bits_ = 0;  // the sizes of all records, or-ed
};

}  // namespace

RecordStep ReadStep(std::span<const std::byte> bytes, uint64_t offset, bool foreign) {
  if (bytes.size() < kHeaderSize) return {};
  const perf_event_header header = LoadHeader(bytes.data(), foreign);
  size_t size = header.size;
  if (header.type == kCompressed2) size = UnwrappedSize(bytes, header.size, foreign).value_or(size);
  if (size < kHeaderSize || size > bytes.size()) return {};
  RecordStep step;
  step.record = {header.type, header.misc, bytes.first(size), offset};
  const std::optional<uint64_t> trailing = TrailingBytes(step.record, foreign);
  if (!trailing || *trailing > bytes.size() - size) return {};
  step.trailing = bytes.subspan(size, static_cast<size_t>(*trailing));
  step.advance = size + step.trailing.size();
  return step;
}

size_t FindNextRecord(std::span<const std::byte> bytes, bool foreign) {
  constexpr int kInARow = 4;
  for (size_t start = 8; start + kHeaderSize <= bytes.size(); start += 8) {
    size_t at = start;
    int sound = 0;
    while (sound < kInARow && bytes.size() - at >= kHeaderSize) {
      const perf_event_header header = LoadHeader(bytes.data() + at, foreign);
      if (!IsPlausible(header) || header.size % 8 != 0 || header.size > bytes.size() - at) break;
      at += header.size;
      ++sound;
    }
    if (sound == kInARow || (sound > 0 && at == bytes.size())) return start;
  }
  return bytes.size();
}

void SweepRecords(std::span<const std::byte> data, uint64_t offset, SweepResult& result,
                  const std::function<void(std::span<const std::byte>)>& walked) {
  Sweeper(data, offset, result, walked).Run();
}

}  // namespace ksamp::perfdata
