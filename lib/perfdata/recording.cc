// SPDX-License-Identifier: Apache-2.0
#include <linux/perf_event.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "ksamp/perf_data.h"
#include "lib/base/byte_reader.h"
#include "lib/base/compression.h"
#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/event/record_decoder.h"
#include "lib/perfdata/features.h"
#include "lib/perfdata/format.h"
#include "lib/perfdata/recording_builder.h"
#include "lib/perfdata/recording_state.h"
#include "lib/perfdata/tracing_formats.h"

namespace ksamp {
namespace {

// A kernel has some 10 MB of symbols; more than this is no symbol table.
constexpr size_t kMaxKernelText = size_t{1} << 28;

}  // namespace

Recording::Recording(std::unique_ptr<State> state) : state_(std::move(state)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

absl::StatusOr<Recording> Recording::Open(const std::string& path, const OpenOptions& options) {
  if (path == "-") {
    const int fd = dup(STDIN_FILENO);
    if (fd < 0) return ErrnoStatus(errno, "open standard input");
    return FromDescriptor(fd, "standard input", options);
  }
  return RecordingBuilder::FromPath(path, options);
}

absl::StatusOr<Recording> Recording::FromDescriptor(int fd, const std::string& name,
                                                    const OpenOptions& options) {
  return RecordingBuilder::FromDescriptor(UniqueFd(fd), name, options);
}

const std::string& Recording::path() const {
  return state_->path;
}
uint64_t Recording::file_size() const {
  return state_->file_size;
}
const std::vector<EventDescription>& Recording::events() const {
  return state_->events.events();
}
const RecordingFacts& Recording::facts() const {
  return state_->facts;
}
const KsampSections& Recording::ksamp() const {
  return state_->ksamp;
}
const RecordCounts& Recording::counts() const {
  return state_->counts;
}
const std::vector<Damage>& Recording::damage() const {
  return state_->damage;
}
bool Recording::was_killed() const {
  return state_->killed;
}
const std::vector<Recording::Chunk>& Recording::chunks() const {
  return state_->chunks;
}
void Recording::ReleaseChunk(const Chunk& chunk) const {
  state_->Release(chunk.bytes);
}
const std::vector<RawRecord>& Recording::side_records() const {
  return state_->side_records;
}

std::vector<std::string_view> Recording::TracepointFormats() const {
  return perfdata::SplitTracingData(Feature(perfdata::kTracingData));
}

std::span<const std::byte> Recording::Feature(unsigned bit) const {
  const auto found = state_->features.find(bit);
  return found == state_->features.end() ? std::span<const std::byte>() : found->second;
}

namespace {

absl::StatusOr<std::string> InflateText(const Recording& recording, unsigned feature, const char* what) {
  const std::span<const std::byte> payload = recording.Feature(feature);
  if (payload.empty()) return absl::NotFoundError(StrCat(recording.path(), " holds no ", what));
  absl::StatusOr<std::vector<std::byte>> text = Decompress(Compression::kZstd, payload, kMaxKernelText);
  if (!text.ok())
    return absl::Status(text.status().code(),
                        StrCat("read ", what, " of ", recording.path(), ": ", MessageOf(text.status())));
  return std::string(AsText(*text));
}

}  // namespace

absl::StatusOr<std::string> Recording::KernelSymbols() const {
  return InflateText(*this, perfdata::kKsampKernelSymbols, "kernel symbols");
}
absl::StatusOr<std::string> Recording::KernelModules() const {
  return InflateText(*this, perfdata::kKsampModules, "module list");
}
absl::StatusOr<std::string> Recording::ModuleSections() const {
  return InflateText(*this, perfdata::kKsampModuleSections, "module sections");
}

std::vector<CodeFile> Recording::CodeFiles() const {
  std::vector<CodeFile> files;
  size_t room = kMaxCodeFileBytes;
  for (perfdata::PackedCodeFile& packed :
       perfdata::DecodeCodeFiles(Feature(perfdata::kKsampGeneratedCode), facts().foreign_byte_order)) {
    const absl::StatusOr<std::vector<std::byte>> bytes = Decompress(Compression::kZstd, packed.frame, room);
    if (!bytes.ok()) continue;
    room -= bytes->size();
    files.push_back({packed.kind, packed.pid, std::move(packed.path), std::string(AsText(*bytes))});
  }
  return files;
}

void Recording::ForEachRecord(const Chunk& chunk, const std::function<bool(const RawRecord&)>& fn) {
  std::span<const std::byte> rest = chunk.bytes;
  perf_event_header header;
  while (rest.size() >= sizeof(header)) {
    std::memcpy(&header, rest.data(), sizeof(header));
    if (header.size < sizeof(header) || header.size > rest.size()) return;  // a chunk not made by the sweep
    const uint64_t offset = chunk.offset + (chunk.bytes.size() - rest.size());
    if (!fn({header.type, header.misc, rest.first(header.size), offset})) return;
    rest = rest.subspan(header.size);
  }
}

std::optional<size_t> Recording::EventOf(const RawRecord& record) const {
  return state_->events.EventOf(record.type, record.bytes);
}

absl::StatusOr<Record> Recording::Decode(const RawRecord& record) const {
  const SampleLayout* layout = state_->events.LayoutOf(record.type, record.bytes);
  if (layout == nullptr)
    return absl::NotFoundError(StrCat("decode ", RecordTypeName(record.type), " at ", record.offset,
                                      ": its event is not listed in ", state_->path));
  return DecodeRecord(record, *layout);
}

}  // namespace ksamp
