// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/recording_builder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "lib/base/file_io.h"
#include "lib/base/parallel.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/perfdata/features.h"
#include "lib/perfdata/recording_state.h"
#include "lib/perfdata/scratch_file.h"
#include "lib/perfdata/stream_decoder.h"

namespace ksamp {
namespace {

using perfdata::FileHead;

// Compressed input may promise more than any disk holds. A real recording shrinks by 5 to 50.
constexpr uint64_t kMinDecodedLimit = uint64_t{1} << 30, kMaxDecodedRatio = 1024;

// All that can be read from a pipe, as a file.
absl::StatusOr<MappedRegion> CopyToScratch(int fd, const std::string& name) {
  perfdata::ScratchFile scratch;
  std::vector<std::byte> piece(size_t{1} << 18);
  for (;;) {
    const ssize_t got = read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, StrCat("read ", name));
    if (got == 0) break;
    KSAMP_RETURN_IF_ERROR(scratch.Append(std::span(piece).first(static_cast<size_t>(got))));
  }
  return std::move(scratch).Finish();
}

// A value that may be damaged: kept where it can be read.
template <typename T, typename Target>
void KeepIfOk(absl::StatusOr<T> value, unsigned feature, Target& target, std::vector<Damage>& damage) {
  if (value.ok()) {
    target = *std::move(value);
  } else {
    damage.push_back({0, StrCat("feature ", feature, ": ", MessageOf(value.status())), 0});
  }
}

}  // namespace

RecordingBuilder::RecordingBuilder(std::string name, const OpenOptions& options)
    : options_(options), state_(std::make_unique<Recording::State>()) {
  state_->path = std::move(name);
}

absl::StatusOr<Recording> RecordingBuilder::FromPath(const std::string& path, const OpenOptions& options) {
  struct stat info {};
  const bool directory = stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  const std::string main_file = directory ? path + "/data" : path;
  KSAMP_ASSIGN_OR_RETURN(UniqueFd fd, OpenForReading(main_file));
  RecordingBuilder builder(path, options);
  KSAMP_RETURN_IF_ERROR(builder.AddFile(std::move(fd), main_file));
  if (directory) KSAMP_RETURN_IF_ERROR(builder.AddDirectoryFiles(path));
  return builder.Build();
}

absl::StatusOr<Recording> RecordingBuilder::FromDescriptor(UniqueFd fd, const std::string& name,
                                                           const OpenOptions& options) {
  RecordingBuilder builder(name, options);
  KSAMP_RETURN_IF_ERROR(builder.AddFile(std::move(fd), name));
  return builder.Build();
}

absl::Status RecordingBuilder::AddFile(UniqueFd fd, const std::string& name) {
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, StrCat("stat ", name));
  MappedRegion region;
  if (S_ISREG(info.st_mode)) {
    KSAMP_ASSIGN_OR_RETURN(region,
                           MappedRegion::MapDescriptor(fd.get(), static_cast<size_t>(info.st_size), name));
  } else {
    KSAMP_ASSIGN_OR_RETURN(region, CopyToScratch(fd.get(), name));
  }
  state_->file_size += region.size();
  state_->mappings.push_back(std::move(region));
  return absl::OkStatus();
}

// data.0, data.1, ...: the records of one reading thread each, without a header.
absl::Status RecordingBuilder::AddDirectoryFiles(const std::string& path) {
  state_->facts.directory = true;
  for (unsigned i = 0;; ++i) {
    const std::string name = StrCat(path, "/data.", i);
    absl::StatusOr<UniqueFd> fd = OpenForReading(name);
    if (!fd.ok() && StatusErrno(fd.status()) == ENOENT) return absl::OkStatus();
    if (!fd.ok()) return fd.status();
    KSAMP_RETURN_IF_ERROR(AddFile(*std::move(fd), name));
  }
}

absl::StatusOr<Recording> RecordingBuilder::Build() {
  KSAMP_RETURN_IF_ERROR(ReadHead());
  KSAMP_RETURN_IF_ERROR(FindRecords());
  if (description_->events.events().empty())
    return absl::DataLossError(StrCat("read ", state_->path, ": it describes no event"));
  CollectFeatures();
  state_->events = std::move(description_->events);
  state_->counts = std::move(swept_.counts);
  state_->chunks = std::move(swept_.chunks);
  state_->side_records = std::move(swept_.side_records);
  state_->damage.insert(state_->damage.end(), swept_.damage.begin(), swept_.damage.end());
  ReadFacts();
  NameEvents();
  return Recording(std::move(state_));
}

absl::Status RecordingBuilder::ReadHead() {
  const std::span<const std::byte> file = state_->mappings.front().bytes();
  KSAMP_ASSIGN_OR_RETURN(head_, perfdata::ReadFileHead(file, state_->path));
  description_ = std::make_unique<perfdata::StreamDescription>(head_.piped, head_.foreign);
  for (FileHead::Attr& attr : head_.attrs) {
    if (absl::Status status = description_->events.Add(attr.attr, std::move(attr.ids)); !status.ok())
      return absl::DataLossError(StrCat("read ", state_->path, ": ", MessageOf(status)));
  }
  state_->killed = head_.killed;
  state_->facts.piped = head_.piped;
  state_->facts.foreign_byte_order = head_.foreign;
  state_->damage = std::move(head_.damage);
  ranges_.push_back({file.subspan(head_.data.offset, head_.data.size), head_.data.offset});
  uint64_t offset = file.size();
  for (size_t i = 1; i < state_->mappings.size(); ++i) {
    ranges_.push_back({state_->mappings[i].bytes(), offset});
    offset += state_->mappings[i].size();
  }
  return absl::OkStatus();
}

absl::Status RecordingBuilder::FindRecords() {
  bool in_place = !head_.foreign;
  if (in_place) {
    for (const Range& range : ranges_) {
      perfdata::SweepRecords(range.bytes, range.offset, swept_,
                             [this](std::span<const std::byte> walked) { state_->Release(walked); });
      if (reinterpret_cast<uintptr_t>(range.bytes.data()) % alignof(uint64_t) != 0) swept_.misaligned = true;
    }
    in_place = !swept_.has_compressed && !swept_.misaligned;
  }
  if (!in_place) return DecodeRecords();
  std::span<const std::byte> tracing_data = swept_.tracing_data;
  for (const RawRecord& record : swept_.side_records) {
    if (!perfdata::StreamDescription::Describes(record.type)) continue;
    const absl::Status status = description_->Take(record, tracing_data);
    if (!status.ok()) swept_.damage.push_back({record.offset, MessageOf(status), record.bytes.size()});
  }
  return absl::OkStatus();
}

absl::Status RecordingBuilder::DecodeRecords() {
  perfdata::ScratchFile scratch;
  const uint64_t limit = std::max(kMinDecodedLimit, state_->file_size * kMaxDecodedRatio);
  const unsigned threads = options_.threads != 0 ? options_.threads : AvailableCpus();
  perfdata::StreamDecoder decoder(*description_, head_.foreign, limit, scratch, threads);
  for (const Range& range : ranges_) KSAMP_RETURN_IF_ERROR(decoder.Decode(range.bytes, range.offset));
  KSAMP_ASSIGN_OR_RETURN(MappedRegion decoded, std::move(scratch).Finish());
  swept_ = {};
  perfdata::SweepRecords(decoded.bytes(), 0, swept_);
  swept_.damage.insert(swept_.damage.begin(), decoder.damage().begin(), decoder.damage().end());
  swept_.counts.malformed += decoder.malformed();
  state_->facts.compressed = decoder.saw_compressed();
  state_->mappings.push_back(std::move(decoded));
  return absl::OkStatus();
}

void RecordingBuilder::CollectFeatures() {
  state_->features = std::move(head_.features);
  for (auto& [bit, payload] : description_->features) {
    state_->owned.push_back(std::move(payload));
    state_->features[bit] = state_->owned.back();
  }
  state_->facts.build_ids = std::move(description_->build_ids);
}

void RecordingBuilder::ReadFacts() {
  RecordingFacts& facts = state_->facts;
  std::vector<Damage>& damage = state_->damage;
  const bool foreign = head_.foreign;
  const std::array<std::pair<unsigned, std::string*>, 6> texts = {{{perfdata::kHostname, &facts.hostname},
                                                                   {perfdata::kOsRelease, &facts.os_release},
                                                                   {perfdata::kVersion, &facts.perf_version},
                                                                   {perfdata::kArch, &facts.arch},
                                                                   {perfdata::kCpuDesc, &facts.cpu_desc},
                                                                   {perfdata::kCpuId, &facts.cpu_id}}};
  auto find = [&](unsigned bit) -> const std::span<const std::byte>* {
    const auto found = state_->features.find(bit);
    return found == state_->features.end() ? nullptr : &found->second;
  };
  for (const auto& [bit, text] : texts)
    if (auto* payload = find(bit)) KeepIfOk(perfdata::DecodeString(*payload, foreign), bit, *text, damage);
  if (auto* payload = find(perfdata::kNrCpus)) {
    perfdata::CpuCounts cpus;
    KeepIfOk(perfdata::DecodeCpuCounts(*payload, foreign), perfdata::kNrCpus, cpus, damage);
    facts.cpus_available = cpus.available;
    facts.cpus_online = cpus.online;
  }
  if (auto* payload = find(perfdata::kTotalMem))
    KeepIfOk(perfdata::DecodeTotalMemory(*payload, foreign), perfdata::kTotalMem, facts.total_memory_kb,
             damage);
  if (auto* payload = find(perfdata::kCmdline))
    KeepIfOk(perfdata::DecodeCommandLine(*payload, foreign), perfdata::kCmdline, facts.command_line, damage);
  if (auto* payload = find(perfdata::kSampleTime)) {
    if (absl::StatusOr<perfdata::SampleTimes> times = perfdata::DecodeSampleTimes(*payload, foreign);
        times.ok()) {
      facts.first_sample_time = times->first;
      facts.last_sample_time = times->last;
    }
  }
  if (auto* payload = find(perfdata::kBuildId)) facts.build_ids = perfdata::DecodeBuildIds(*payload, foreign);
  facts.simpleperf = find(perfdata::kSimpleperfMetaInfo) != nullptr;
  facts.compressed |= find(perfdata::kCompressed) != nullptr;
  if (auto* payload = find(perfdata::kKsampMeta)) state_->ksamp.meta = perfdata::DecodeMeta(*payload);
  if (auto* payload = find(perfdata::kKsampCounters))
    state_->ksamp.counters = perfdata::DecodeCounters(*payload);
  state_->ksamp.has_kernel_symbols = find(perfdata::kKsampKernelSymbols) != nullptr;
}

// EVENT_DESC lists names by ids; a perf without ids in it lists them in the order of the attrs.
void RecordingBuilder::NameEvents() {
  perfdata::EventTable& events = state_->events;
  for (const auto& [id, name] : description_->names)
    if (const std::optional<size_t> event = events.FindId(id); event && !name.empty())
      events.SetName(*event, name);
  const auto found = state_->features.find(perfdata::kEventDesc);
  if (found == state_->features.end()) return;
  absl::StatusOr<std::vector<perfdata::EventDesc>> list =
      perfdata::DecodeEventDesc(found->second, head_.foreign);
  if (!list.ok()) {
    state_->damage.push_back({0, MessageOf(list.status()), 0});
    return;
  }
  for (size_t i = 0; i < list->size(); ++i) {
    const perfdata::EventDesc& desc = (*list)[i];
    std::optional<size_t> event;
    if (!desc.ids.empty()) event = events.FindId(desc.ids.front());
    if (!event && list->size() == events.events().size()) event = i;
    if (event && !desc.name.empty()) events.SetName(*event, desc.name);
  }
}

}  // namespace ksamp
