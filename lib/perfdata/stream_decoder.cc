// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/stream_decoder.h"

#include <linux/perf_event.h>

#include <cstring>
#include <string>
#include <utility>

#include "lib/base/parallel.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/event/record_decoder.h"
#include "lib/perfdata/field_reader.h"
#include "lib/perfdata/format.h"

namespace ksamp::perfdata {
namespace {

using Bytes = std::span<const std::byte>;

constexpr size_t kHeaderSize = sizeof(perf_event_header);
constexpr size_t kFramesAtOnce = 64;  // bound of the memory that inflating side by side takes,
constexpr uint64_t kMaxFrameBytes = uint64_t{1} << 20;  // together with this; ours are a quarter of it
constexpr size_t kMaxDamages = 1000;                    // enough to tell; a hostile file could hold millions

// The zstd bytes of a COMPRESSED or COMPRESSED2 record.
Bytes CompressedPayload(const RawRecord& record, bool foreign) {
  const Bytes payload = record.bytes.subspan(kHeaderSize);
  if (record.type == kCompressedRecord) return payload;
  FieldReader reader(payload, foreign);
  const uint64_t data_size = reader.Read<uint64_t>();
  if (!reader.ok()) return {};
  return payload.subspan(sizeof(data_size), std::min<uint64_t>(data_size, reader.remaining()));
}

bool IsCompressed(uint32_t type) {
  return type == kCompressedRecord || type == kCompressed2;
}

}  // namespace

void StreamDecoder::AddDamage(uint64_t offset, std::string what, uint64_t skipped) {
  ++malformed_;
  if (damage_.size() < kMaxDamages) damage_.push_back({offset, std::move(what), skipped});
}

absl::Status StreamDecoder::Decode(std::span<const std::byte> data, uint64_t offset) {
  zstd_.emplace();
  pending_.clear();
  for (size_t at = 0; at < data.size();) {
    KSAMP_ASSIGN_OR_RETURN(const size_t in_frames, TakeFrames(data.subspan(at), offset + at));
    at += in_frames;
    if (in_frames != 0) continue;
    source_offset_ = offset + at;
    const RecordStep step = ReadStep(data.subspan(at), source_offset_, foreign_);
    if (step.advance != 0) {
      KSAMP_RETURN_IF_ERROR(TakeStep(step));
      at += step.advance;
      continue;
    }
    const size_t skipped = FindNextRecord(data.subspan(at), foreign_);
    AddDamage(source_offset_, StrCat("no sound record at ", source_offset_), skipped);
    at += skipped;
  }
  if (!pending_.empty())
    AddDamage(offset + data.size(), "the compressed records end within a record", pending_.size());
  return absl::OkStatus();
}

std::vector<StreamDecoder::Frame> StreamDecoder::FindFrames(Bytes data, uint64_t offset) const {
  std::vector<Frame> frames;
  for (size_t at = 0; frames.size() < kFramesAtOnce;) {
    const RecordStep step = ReadStep(data.subspan(at), offset + at, foreign_);
    if (step.advance == 0 || !IsCompressed(step.record.type)) break;
    const Bytes payload = CompressedPayload(step.record, foreign_);
    const std::optional<uint64_t> size = ZstdFrameSize(payload);
    if (!size || *size > kMaxFrameBytes) break;
    frames.push_back({step.record, payload, std::vector<std::byte>(*size), {}});
    at += step.advance;
  }
  return frames;
}

absl::StatusOr<size_t> StreamDecoder::TakeFrames(Bytes data, uint64_t offset) {
  if (zstd_ && !zstd_->AtFrameEnd()) return 0;
  std::vector<Frame> frames = FindFrames(data, offset);
  ParallelFor(frames.size(), threads_, [&](size_t i, unsigned) {
    frames[i].status = DecompressZstdFrame(frames[i].payload, frames[i].inflated);
  });
  size_t taken = 0;
  for (const Frame& frame : frames) {
    source_offset_ = frame.record.offset;
    saw_compressed_ = true;
    // A damaged frame goes the slow way, which keeps what stands before the damage.
    KSAMP_RETURN_IF_ERROR(frame.status.ok() ? TakeInflated(frame.inflated) : Inflate(frame.record));
    taken += frame.record.bytes.size();
  }
  return taken;
}

absl::Status StreamDecoder::TakeStep(const RecordStep& step) {
  if (!IsCompressed(step.record.type)) return Emit(step.record, step.trailing);
  saw_compressed_ = true;
  return Inflate(step.record);
}

absl::Status StreamDecoder::Inflate(const RawRecord& record) {
  const Bytes payload = CompressedPayload(record, foreign_);
  // After an error in the middle of a stream its window is gone; a frame that begins anew can be read.
  if (!zstd_) {
    if (DetectCompression(payload) != Compression::kZstd) {
      AddDamage(record.offset, StrCat("compressed records follow damage at ", record.offset),
                record.bytes.size());
      return absl::OkStatus();
    }
    zstd_.emplace();
  }
  absl::Status sink_error;
  const absl::Status status = zstd_->Decode(payload, [&](Bytes piece) {
    sink_error = TakeInflated(piece);
    return sink_error;
  });
  if (!sink_error.ok()) return sink_error;
  if (status.ok()) return absl::OkStatus();
  AddDamage(record.offset, StrCat(MessageOf(status), " at ", record.offset), record.bytes.size());
  zstd_.reset();
  pending_.clear();
  return absl::OkStatus();
}

absl::Status StreamDecoder::TakeInflated(Bytes piece) {
  if (pending_.empty()) {
    KSAMP_ASSIGN_OR_RETURN(const size_t used, EmitWholeRecords(piece));
    pending_.assign(piece.begin() + static_cast<ptrdiff_t>(used), piece.end());
    return absl::OkStatus();
  }
  pending_.insert(pending_.end(), piece.begin(), piece.end());
  KSAMP_ASSIGN_OR_RETURN(const size_t used, EmitWholeRecords(pending_));
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(used));
  return absl::OkStatus();
}

absl::StatusOr<size_t> StreamDecoder::EmitWholeRecords(Bytes bytes) {
  size_t at = 0;
  while (bytes.size() - at >= kHeaderSize) {
    const Bytes rest = bytes.subspan(at);
    FieldReader header(rest, foreign_);
    RawRecord record;
    record.type = header.Read<uint32_t>();
    record.misc = header.Read<uint16_t>();
    const uint16_t size = header.Read<uint16_t>();
    if (size < kHeaderSize) {
      const size_t skipped = FindNextRecord(rest, foreign_);
      AddDamage(source_offset_,
                StrCat("record of size ", size, " in the compressed records at ", source_offset_), skipped);
      at += skipped;
      continue;
    }
    if (size > rest.size()) break;
    record.bytes = rest.first(size);
    record.offset = source_offset_;
    KSAMP_RETURN_IF_ERROR(Emit(record, {}));
    at += size;
  }
  return at;
}

absl::Status StreamDecoder::Emit(const RawRecord& record, Bytes trailing) {
  if (StreamDescription::Describes(record.type)) {
    if (absl::Status status = description_.Take(record, trailing); !status.ok())
      AddDamage(record.offset, MessageOf(status), record.bytes.size());
    return absl::OkStatus();
  }
  if (record.bytes.size() % 8 != 0) {  // Whatever follows it would stand at odd addresses.
    AddDamage(record.offset, StrCat("record of odd size ", record.bytes.size(), " at ", record.offset),
              record.bytes.size());
    return absl::OkStatus();
  }
  if (out_.size() + record.bytes.size() > limit_)
    return absl::ResourceExhaustedError(StrCat("decode records: more than ", limit_, " bytes"));
  return foreign_ ? EmitSwapped(record) : out_.Append(record.bytes);
}

absl::Status StreamDecoder::EmitSwapped(const RawRecord& record) {
  const SampleLayout* layout = description_.events.LayoutOf(record.type, record.bytes, foreign_);
  swapped_.assign(record.bytes.begin(), record.bytes.end());
  perf_event_header header{};
  header.type = record.type;
  header.misc = record.misc;
  header.size = static_cast<uint16_t>(record.bytes.size());
  std::memcpy(swapped_.data(), &header, sizeof(header));
  absl::Status status =
      layout == nullptr ? absl::NotFoundError("its event is not listed") : SwapRecord(swapped_, *layout);
  if (status.ok()) return out_.Append(swapped_);
  AddDamage(record.offset, StrCat(MessageOf(status), " at ", record.offset), record.bytes.size());
  return absl::OkStatus();
}

}  // namespace ksamp::perfdata
