// SPDX-License-Identifier: Apache-2.0
// StreamDecoder: records that cannot be read in place become plain ones of the host's byte order.
//
//   StreamDecoder decoder(description, foreign, scratch);
//   for (each file of the recording) KSAMP_RETURN_IF_ERROR(decoder.Decode(data, offset));
//
// Undoes compression, byte order and odd alignment, record by record, with bounded memory: a zstd stream's
// window and one unfinished record. Records that describe the stream (HEADER_ATTR, ...) go to `description`
// as they pass, because what follows is read by them. Damage costs the records it touches and is listed.
#ifndef KSAMP_LIB_PERFDATA_STREAM_DECODER_H_
#define KSAMP_LIB_PERFDATA_STREAM_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "ksamp/perf_data.h"
#include "lib/base/compression.h"
#include "lib/perfdata/scratch_file.h"
#include "lib/perfdata/stream_description.h"
#include "lib/perfdata/sweep.h"

namespace ksamp::perfdata {

class StreamDecoder {
 public:
  // `limit`: more decoded bytes than this are ResourceExhausted. `threads`: for compressed records that are
  // frames of their own, as our recorder writes them; perf's form one stream, which has one order.
  StreamDecoder(StreamDescription& description, bool foreign, uint64_t limit, ScratchFile& out,
                unsigned threads = 1)
      : description_(description), foreign_(foreign), limit_(limit), out_(out), threads_(threads) {}

  // One file's records, with a zstd stream of their own. An error means that nothing more can be decoded
  // at all (the scratch file cannot be written, the limit is reached).
  absl::Status Decode(std::span<const std::byte> data, uint64_t offset);

  const std::vector<Damage>& damage() const { return damage_; }
  uint64_t malformed() const { return malformed_; }
  bool saw_compressed() const { return saw_compressed_; }

 private:
  struct Frame {
    RawRecord record;
    std::span<const std::byte> payload;
    std::vector<std::byte> inflated;
    absl::Status status;
  };

  // Inflates the frames at the start of `data` side by side; the number of bytes their records take.
  absl::StatusOr<size_t> TakeFrames(std::span<const std::byte> data, uint64_t offset);
  std::vector<Frame> FindFrames(std::span<const std::byte> data, uint64_t offset) const;
  absl::Status TakeStep(const RecordStep& step);
  absl::Status Inflate(const RawRecord& record);
  absl::Status TakeInflated(std::span<const std::byte> piece);
  // The whole records at the start of `bytes`; the number of bytes they take.
  absl::StatusOr<size_t> EmitWholeRecords(std::span<const std::byte> bytes);
  absl::Status Emit(const RawRecord& record, std::span<const std::byte> trailing);
  absl::Status EmitSwapped(const RawRecord& record);
  void AddDamage(uint64_t offset, std::string what, uint64_t skipped);

  StreamDescription& description_;
  const bool foreign_;
  const uint64_t limit_;
  ScratchFile& out_;
  const unsigned threads_;
  std::optional<ZstdStreamDecoder> zstd_;  // nothing once it broke
  std::vector<std::byte> pending_;         // the start of a record whose rest is in the next piece
  std::vector<std::byte> swapped_;
  uint64_t source_offset_ = 0;  // of the record being decoded
  std::vector<Damage> damage_;
  uint64_t malformed_ = 0;
  bool saw_compressed_ = false;
};

}  // namespace ksamp::perfdata

#endif  // KSAMP_LIB_PERFDATA_STREAM_DECODER_H_
