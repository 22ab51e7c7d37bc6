// SPDX-License-Identifier: Apache-2.0
#include "ksamp/recover.h"

#include <linux/perf_event.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/event/sample_layout.h"
#include "lib/os/tracing_data.h"
#include "lib/perfdata/features.h"
#include "lib/perfdata/format.h"
#include "lib/perfdata/writer.h"

namespace ksamp {
namespace {

bool IsSameFile(const std::string& a, const std::string& b) {
  struct stat first, second;
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

FeatureMap CopiedFacts(const Recording& recording) {
  using namespace perfdata;
  const RecordingFacts& facts = recording.facts();
  FeatureMap features;
  const auto put = [&features](unsigned bit, const std::string& text) {
    if (!text.empty()) features[bit] = EncodeString(text);
  };
  put(kHostname, facts.hostname);
  put(kOsRelease, facts.os_release);
  put(kVersion, facts.perf_version);
  put(kArch, facts.arch);
  put(kCpuDesc, facts.cpu_desc);
  put(kCpuId, facts.cpu_id);
  if (facts.cpus_online != 0)
    features[kNrCpus] = EncodeCpuCounts({.available = facts.cpus_available, .online = facts.cpus_online});
  if (facts.total_memory_kb != 0) features[kTotalMem] = EncodeTotalMemory(facts.total_memory_kb);
  if (!facts.command_line.empty()) features[kCmdline] = EncodeCommandLine(facts.command_line);
  if (!facts.build_ids.empty()) features[kBuildId] = EncodeBuildIds(facts.build_ids);
  if (!recording.ksamp().meta.empty()) features[kKsampMeta] = EncodeMeta(recording.ksamp().meta);
  if (!recording.ksamp().counters.empty())
    features[kKsampCounters] = EncodeCounters(recording.ksamp().counters);
  if (const auto files = recording.Feature(kKsampGeneratedCode); !files.empty())
    features[kKsampGeneratedCode].assign(files.begin(), files.end());
  return features;
}

// Kernel symbols, modules, sections: they stand before the data.
FeatureMap CopiedPreamble(const Recording& recording) {
  FeatureMap preamble;
  for (const unsigned bit :
       {perfdata::kKsampKernelSymbols, perfdata::kKsampModules, perfdata::kKsampModuleSections}) {
    const std::span<const std::byte> payload = recording.Feature(bit);
    if (!payload.empty()) preamble[bit].assign(payload.begin(), payload.end());
  }
  return preamble;
}

std::vector<WriterEvent> CopiedEvents(const Recording& recording) {
  std::vector<WriterEvent> events;
  for (const EventDescription& described : recording.events()) {
    WriterEvent event{.attr = {}, .name = described.name, .ids = described.ids};
    std::memcpy(&event.attr, described.attr.data(), std::min(described.attr.size(), sizeof(event.attr)));
    events.push_back(std::move(event));
  }
  return events;
}

// Formats of the tracepoints among `events`, into `features`; their names, which only a finished file has.
void AddTracingData(const Recording& recording, const RecoverOptions& options,
                    std::vector<WriterEvent>& events, FeatureMap& features, Recovery& recovery) {
  std::vector<uint64_t> ids;
  for (const WriterEvent& event : events)
    if (event.attr.type == PERF_TYPE_TRACEPOINT) ids.push_back(event.attr.config);
  if (ids.empty()) return;
  const std::span<const std::byte> stored = recording.Feature(perfdata::kTracingData);
  if (!stored.empty()) {
    features[perfdata::kTracingData].assign(stored.begin(), stored.end());
    return;
  }
  constexpr const char* kLost = "the formats of its tracepoints were not written, and perf needs them: ";
  if (options.sys_root.empty()) {
    recovery.notes.push_back(StrCat(kLost, "none were looked for"));
    return;
  }
  absl::StatusOr<TracingData> live = ReadTracingData(FindTracefs(options.sys_root), ids);
  if (!live.ok()) {
    recovery.notes.push_back(StrCat(kLost, MessageOf(live.status())));
    return;
  }
  for (WriterEvent& event : events) {
    if (event.attr.type != PERF_TYPE_TRACEPOINT) continue;
    const auto found = live->names.find(event.attr.config);
    if (found != live->names.end()) {
      event.name = found->second;
    } else {
      recovery.notes.push_back(
          StrCat("tracepoint ", event.attr.config, ": this kernel has none of that number"));
    }
  }
  features[perfdata::kTracingData] = std::move(live->bytes);
  recovery.notes.push_back(
      "the formats of its tracepoints are those of the kernel that runs here now: right only if it was "
      "recorded "
      "on it");
}

// First and last time of samples as they pass.
class SampleTimeSpan {
 public:
  explicit SampleTimeSpan(const Recording& recording) {
    // Where events differ, times may lie at different places: left out.
    for (const EventDescription& event : recording.events()) {
      const absl::StatusOr<SampleLayout> layout = SampleLayout::FromAttr(event.attr);
      const bool usable = layout.ok() && layout->has_time();
      if (!usable || (layout_ && layout_->sample_type() != layout->sample_type())) {
        layout_.reset();
        return;
      }
      layout_ = *layout;
    }
  }
  void Add(const RawRecord& sample) {
    if (!layout_ || sample.bytes.size() < layout_->fixed_size()) return;
    const uint64_t time = layout_->ReadFixed(sample.bytes.data()).time;
    first_ = std::min(first_, time);
    last_ = std::max(last_, time);
  }
  void AddTo(FeatureMap& features) const {
    if (first_ <= last_)
      features[perfdata::kSampleTime] = perfdata::EncodeSampleTimes({.first = first_, .last = last_});
  }

 private:
  std::optional<SampleLayout> layout_;
  uint64_t first_ = std::numeric_limits<uint64_t>::max(), last_ = 0;
};

}  // namespace

absl::StatusOr<Recovery> RecoverRecording(const Recording& recording, const std::string& output,
                                          const RecoverOptions& options) {
  if (IsSameFile(recording.path(), output))
    return absl::AlreadyExistsError(StrCat("recover ", recording.path(), ": the output is the same file"));
  Recovery recovery;
  FeatureMap features = CopiedFacts(recording);
  WriterOptions written{.name = output, .events = CopiedEvents(recording), .preamble = {}};
  written.preamble = CopiedPreamble(recording);
  AddTracingData(recording, options, written.events, features, recovery);
  KSAMP_ASSIGN_OR_RETURN(UniqueFd fd, CreateOutputFile(output));
  KSAMP_ASSIGN_OR_RETURN(PerfDataWriter writer, PerfDataWriter::Create(std::move(fd), std::move(written)));

  SampleTimeSpan times(recording);
  for (const Recording::Chunk& chunk : recording.chunks()) {
    KSAMP_RETURN_IF_ERROR(writer.Append(chunk.bytes));
    Recording::ForEachRecord(chunk, [&](const RawRecord& record) {
      ++recovery.records;
      if (record.type != PERF_RECORD_SAMPLE) return true;
      ++recovery.samples;
      times.Add(record);
      return true;
    });
  }
  times.AddTo(features);
  recovery.bytes_kept = writer.data_bytes();
  for (const Damage& damage : recording.damage()) recovery.bytes_dropped += damage.bytes_skipped;
  KSAMP_RETURN_IF_ERROR(writer.Close(features));
  return recovery;
}

}  // namespace ksamp
