// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "lib/base/byte_reader.h"
#include "lib/base/byte_writer.h"
#include "lib/base/compression.h"
#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/perfdata/features.h"
#include "lib/perfdata/format.h"

namespace ksamp {
namespace {

using perfdata::FileHeader;
using perfdata::Section;
using Bytes = std::span<const std::byte>;

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr size_t kMaxRecordSize = std::numeric_limits<uint16_t>::max();
// Raw records in one COMPRESSED record: more shrink better, but what comes out must stay below 64 KiB.
constexpr size_t kCompressedPieceBytes = size_t{1} << 18;

Bytes AttrBytes(const perf_event_attr& attr) {
  return std::as_bytes(std::span(&attr, 1));
}

// The attr as it goes into a file: size says how much is meant.
perf_event_attr StoredAttr(const WriterEvent& event) {
  perf_event_attr attr = event.attr;
  attr.size = sizeof(attr);
  return attr;
}

std::vector<std::byte> EventDescPayload(const std::vector<WriterEvent>& events) {
  std::vector<perfdata::EventDesc> list;
  for (const WriterEvent& event : events) {
    const perf_event_attr attr = StoredAttr(event);
    const Bytes bytes = AttrBytes(attr);
    list.push_back({{bytes.begin(), bytes.end()}, event.name, event.ids});
  }
  return perfdata::EncodeEventDesc(list);
}

void PutRecordHeader(uint32_t type, size_t size, ByteWriter& out) {
  perf_event_header header{};
  header.type = type;
  header.size = static_cast<uint16_t>(size);
  out.Put(header);
}

// The entries of BUILD_ID as records of a pipe: each with a type, and padded, since records follow it.
void PutBuildIdRecords(Bytes entries, ByteWriter& out) {
  perf_event_header header;
  while (entries.size() >= sizeof(header)) {
    std::memcpy(&header, entries.data(), sizeof(header));
    if (header.size < sizeof(header) || header.size > entries.size()) return;
    const Bytes body = entries.first(header.size).subspan(sizeof(header));
    entries = entries.subspan(header.size);
    header.type = perfdata::kHeaderBuildId;
    header.size = static_cast<uint16_t>((header.size + 7) / 8 * 8);
    const size_t start = out.size();
    out.Put(header);
    out.PutBytes(body);
    out.PutZeros(start + header.size - out.size());
  }
}

// The one record whose payload stands behind it, outside its size; the count is the padded one. perf looks
// for the payload 12 bytes behind the start of the record, whatever its header says.
void PutTracingDataRecord(Bytes payload, ByteWriter& out) {
  const size_t padded = (payload.size() + 7) / 8 * 8;
  PutRecordHeader(perfdata::kHeaderTracingData, sizeof(perf_event_header) + sizeof(uint32_t), out);
  out.Put(static_cast<uint32_t>(padded));
  out.PutBytes(payload);
  out.PutZeros(padded - payload.size());
}

bool IsOurs(unsigned feature) {
  return feature >= perfdata::kKsampMeta;
}

}  // namespace

struct PerfDataWriter::State {
  UniqueFd fd;
  WriterOptions options;
  absl::Status error;
  FileHeader header = {};
  std::map<unsigned, Section> preamble_sections;
  std::vector<std::byte> buffer;       // records on their way to the file
  std::vector<std::byte> compressing;  // zstd mode: records on their way to the buffer
  uint64_t position = 0;               // where the next write goes
  uint64_t data_bytes = 0;             // appended, uncompressed
  uint64_t compressed_bytes = 0;

  absl::Status Write(Bytes bytes);
  absl::Status Buffer(Bytes bytes);
  absl::Status Flush();
  absl::Status Compress(bool all);
  absl::Status CompressPiece(Bytes records);
  absl::Status WriteHead();
  absl::Status WritePipeHead();
  absl::Status WritePipeFeatures(const FeatureMap& features);
  absl::Status CommitSize();
  absl::Status Finish(FeatureMap features);
  uint64_t stored_data_bytes() const { return position - header.data.offset; }
};

// Pipes take bytes in order; files take them at their place, so that the header can be rewritten.
absl::Status PerfDataWriter::State::Write(Bytes bytes) {
  KSAMP_RETURN_IF_ERROR(options.pipe ? WriteAll(fd.get(), bytes, options.name)
                                     : WriteAllAt(fd.get(), bytes, position, options.name));
  position += bytes.size();
  return absl::OkStatus();
}

absl::Status PerfDataWriter::State::Flush() {
  KSAMP_RETURN_IF_ERROR(Write(buffer));
  buffer.clear();
  return absl::OkStatus();
}

absl::Status PerfDataWriter::State::Buffer(Bytes bytes) {
  if (buffer.size() + bytes.size() > kBufferBytes) KSAMP_RETURN_IF_ERROR(Flush());
  if (bytes.size() >= kBufferBytes) return Write(bytes);
  buffer.insert(buffer.end(), bytes.begin(), bytes.end());
  return absl::OkStatus();
}

// Turns the whole records among `compressing` into COMPRESSED records; without `all`, only full pieces.
absl::Status PerfDataWriter::State::Compress(bool all) {
  size_t at = 0;
  while (compressing.size() - at >= (all ? 1 : kCompressedPieceBytes)) {
    size_t end = at;
    perf_event_header next;
    while (compressing.size() - end >= sizeof(next)) {
      std::memcpy(&next, compressing.data() + end, sizeof(next));
      const size_t size = next.size;
      if (size < sizeof(next))
        return absl::InvalidArgumentError(StrCat("compress ", options.name, ": record of size ", size));
      if (size > compressing.size() - end || end + size - at > kCompressedPieceBytes) break;
      end += size;
    }
    if (end == at) break;
    KSAMP_RETURN_IF_ERROR(CompressPiece(Bytes(compressing).subspan(at, end - at)));
    at = end;
  }
  compressing.erase(compressing.begin(), compressing.begin() + static_cast<ptrdiff_t>(at));
  return absl::OkStatus();
}

// One frame for `records`; two where one does not fit into a record. A single record that does not shrink
// goes out as it is.
absl::Status PerfDataWriter::State::CompressPiece(Bytes records) {
  KSAMP_ASSIGN_OR_RETURN(std::vector<std::byte> frame, CompressZstd(records, options.zstd_level));
  const size_t size = sizeof(perf_event_header) + frame.size();
  if (size <= kMaxRecordSize) {
    ByteWriter out;
    PutRecordHeader(perfdata::kCompressedRecord, size, out);
    out.PutBytes(frame);
    compressed_bytes += size;
    return Buffer(out.bytes());
  }
  size_t half = 0;
  perf_event_header next;
  do {
    std::memcpy(&next, records.data() + half, sizeof(next));
    half += next.size;
  } while (half < records.size() / 2);
  if (half == records.size()) {
    if (half == next.size) return Buffer(records);
    half -= next.size;  // The last record is more than half of them.
  }
  KSAMP_RETURN_IF_ERROR(CompressPiece(records.first(half)));
  return CompressPiece(records.subspan(half));
}

// Header, ids, attrs, our block. The header goes last into the file's first bytes only in the sense of one
// write: all of it is one piece.
absl::Status PerfDataWriter::State::WriteHead() {
  ByteWriter out;
  out.PutZeros(sizeof(FileHeader));
  std::vector<Section> ids;
  for (const WriterEvent& event : options.events) {
    ids.push_back({out.size(), event.ids.size() * sizeof(uint64_t)});
    for (uint64_t id : event.ids) out.Put(id);
  }
  std::memcpy(header.magic, perfdata::kMagic, sizeof(header.magic));
  header.size = sizeof(FileHeader);
  header.attr_size = sizeof(perf_event_attr) + sizeof(Section);
  header.attrs = {out.size(), options.events.size() * header.attr_size};
  for (size_t i = 0; i < options.events.size(); ++i) {
    out.Put(StoredAttr(options.events[i]));
    out.Put(ids[i]);
  }
  out.AlignTo(8);
  out.PutBytes(AsBytes({perfdata::kOwnMagic, sizeof(perfdata::kOwnMagic)}));
  out.Put(static_cast<uint32_t>(options.preamble.size()));
  out.Put<uint32_t>(0);
  for (const auto& [feature, payload] : options.preamble) {
    out.Put<uint32_t>(feature);
    out.Put<uint32_t>(0);
    out.Put<uint64_t>(payload.size());
  }
  for (const auto& [feature, payload] : options.preamble) {
    preamble_sections[feature] = {out.size(), payload.size()};
    out.PutBytes(payload);
    out.AlignTo(8);
  }
  header.data.offset = out.size();
  out.PutAt(0, header);
  return Write(out.bytes());
}

absl::Status PerfDataWriter::State::WritePipeHead() {
  ByteWriter out;
  out.PutBytes(AsBytes({perfdata::kMagic, sizeof(perfdata::kMagic)}));
  out.Put<uint64_t>(sizeof(perfdata::PipeHeader));
  for (const WriterEvent& event : options.events) {
    const size_t size =
        sizeof(perf_event_header) + sizeof(perf_event_attr) + event.ids.size() * sizeof(uint64_t);
    if (size > kMaxRecordSize)
      return absl::InvalidArgumentError(StrCat("write ", options.name, ": event ", event.name,
                                               " has too many ids for a pipe (", event.ids.size(), ")"));
    PutRecordHeader(perfdata::kHeaderAttr, size, out);
    out.Put(StoredAttr(event));
    for (uint64_t id : event.ids) out.Put(id);
  }
  KSAMP_RETURN_IF_ERROR(Write(out.bytes()));
  header.data.offset = position;
  FeatureMap start = options.preamble;
  if (options.zstd_level > 0)
    start[perfdata::kCompressed] = perfdata::EncodeCompression(
        {static_cast<uint32_t>(options.zstd_level), 0, static_cast<uint32_t>(kCompressedPieceBytes)});
  return WritePipeFeatures(start);
}

// Build-ids travel as records of their own; features longer than a record cannot travel at all.
absl::Status PerfDataWriter::State::WritePipeFeatures(const FeatureMap& features) {
  ByteWriter out;
  for (const auto& [feature, payload] : features) {
    if (IsOurs(feature)) continue;
    if (feature == perfdata::kBuildId) {
      PutBuildIdRecords(payload, out);
      continue;
    }
    if (feature == perfdata::kTracingData) {
      PutTracingDataRecord(payload, out);
      continue;
    }
    const size_t size = (sizeof(perf_event_header) + sizeof(uint64_t) + payload.size() + 7) / 8 * 8;
    if (size > kMaxRecordSize) continue;
    const size_t start = out.size();
    PutRecordHeader(perfdata::kHeaderFeature, size, out);
    out.Put<uint64_t>(feature);
    out.PutBytes(payload);
    out.PutZeros(start + size - out.size());
  }
  return Buffer(out.bytes());
}

absl::Status PerfDataWriter::State::CommitSize() {
  if (options.zstd_level > 0) KSAMP_RETURN_IF_ERROR(Compress(true));
  KSAMP_RETURN_IF_ERROR(Flush());
  if (options.pipe) return absl::OkStatus();
  header.data.size = stored_data_bytes();
  constexpr size_t kSizeAt = offsetof(FileHeader, data) + offsetof(Section, size);
  return WriteAllAt(fd.get(), std::as_bytes(std::span(&header.data.size, 1)), kSizeAt, options.name);
}

// Feature table and payloads behind the data, then the header that makes them part of the file.
absl::Status PerfDataWriter::State::Finish(FeatureMap features) {
  if (options.pipe) {
    KSAMP_RETURN_IF_ERROR(WritePipeFeatures(features));
    return Flush();
  }
  if (options.zstd_level > 0) {
    const uint64_t ratio = compressed_bytes == 0 ? 0 : data_bytes / compressed_bytes;
    features[perfdata::kCompressed] =
        perfdata::EncodeCompression({static_cast<uint32_t>(options.zstd_level), static_cast<uint32_t>(ratio),
                                     static_cast<uint32_t>(kCompressedPieceBytes)});
  }
  std::map<unsigned, Section> table = preamble_sections;
  for (const auto& [feature, payload] : features) table[feature] = {};
  ByteWriter payloads;
  const uint64_t payloads_at = position + table.size() * sizeof(Section);
  for (const auto& [feature, payload] : features) {
    table[feature] = {payloads_at + payloads.size(), payload.size()};
    payloads.PutBytes(payload);
    payloads.AlignTo(8);
  }
  ByteWriter out;
  for (const auto& [feature, section] : table) {
    out.Put(section);
    header.features[feature / 64] |= uint64_t{1} << (feature % 64);
  }
  out.PutBytes(payloads.bytes());
  KSAMP_RETURN_IF_ERROR(Write(out.bytes()));
  return WriteAllAt(fd.get(), std::as_bytes(std::span(&header, 1)), 0, options.name);
}

PerfDataWriter::PerfDataWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
PerfDataWriter::PerfDataWriter(PerfDataWriter&&) noexcept = default;
PerfDataWriter& PerfDataWriter::operator=(PerfDataWriter&&) noexcept = default;
PerfDataWriter::~PerfDataWriter() = default;

absl::StatusOr<PerfDataWriter> PerfDataWriter::Create(UniqueFd fd, WriterOptions options) {
  if (options.events.empty())
    return absl::InvalidArgumentError(StrCat("write ", options.name, ": no events"));
  auto state = std::make_unique<State>();
  state->fd = std::move(fd);
  state->options = std::move(options);
  state->options.preamble.try_emplace(perfdata::kEventDesc, EventDescPayload(state->options.events));
  state->buffer.reserve(kBufferBytes);
  KSAMP_RETURN_IF_ERROR(state->options.pipe ? state->WritePipeHead() : state->WriteHead());
  return PerfDataWriter(std::move(state));
}

absl::Status PerfDataWriter::Append(std::span<const std::byte> bytes) {
  State& state = *state_;
  if (!state.error.ok()) return state.error;
  state.data_bytes += bytes.size();
  if (state.options.zstd_level <= 0) {
    state.error = state.Buffer(bytes);
    return state.error;
  }
  state.compressing.insert(state.compressing.end(), bytes.begin(), bytes.end());
  if (state.compressing.size() >= kCompressedPieceBytes) state.error = state.Compress(false);
  return state.error;
}

absl::Status PerfDataWriter::Commit() {
  if (state_->error.ok()) state_->error = state_->CommitSize();
  return state_->error;
}

absl::Status PerfDataWriter::Close(const FeatureMap& features) {
  KSAMP_RETURN_IF_ERROR(Commit());
  state_->error = state_->Finish(features);
  absl::Status result = state_->error;
  if (result.ok())
    state_->error = absl::FailedPreconditionError(StrCat("write ", state_->options.name, ": closed"));
  return result;
}

absl::Status PerfDataWriter::CloseAtLastCommit(const FeatureMap& features) {
  State& state = *state_;
  if (state.options.pipe)
    return absl::FailedPreconditionError(StrCat("close ", state.options.name, ": a pipe cannot go back"));
  const uint64_t end = state.header.data.offset + state.header.data.size;
  if (ftruncate(state.fd.get(), static_cast<off_t>(end)) != 0)
    return ErrnoStatus(errno, StrCat("truncate ", state.options.name));
  state.position = end;
  state.buffer.clear();
  state.compressing.clear();
  absl::Status result = state.Finish(features);
  if (result.ok())
    state.error = absl::FailedPreconditionError(StrCat("write ", state.options.name, ": closed"));
  return result;
}

uint64_t PerfDataWriter::data_bytes() const {
  return state_->data_bytes;
}
uint64_t PerfDataWriter::file_bytes() const {
  return state_->position + state_->buffer.size();
}
int PerfDataWriter::descriptor() const {
  return state_->fd.get();
}

}  // namespace ksamp
