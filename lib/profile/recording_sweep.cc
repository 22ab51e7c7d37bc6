// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/recording_sweep.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <ctime>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "lib/base/str_cat.h"
#include "lib/event/record_decoder.h"
#include "lib/process/image_kind.h"

namespace ksamp {
namespace {

constexpr size_t kMaxDamageNotes = 8;

bool IsOfUse(uint32_t type) {
  switch (type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
    case PERF_RECORD_COMM:
    case PERF_RECORD_FORK:
    case PERF_RECORD_KSYMBOL:
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
    case PERF_RECORD_THROTTLE:
    case PERF_RECORD_READ:
      return true;
    default:
      return false;
  }
}

class Sweep {
 public:
  Sweep(const Recording& recording, bool timeless, const std::vector<uint64_t>& read_formats)
      : recording_(recording), timeless_(timeless), read_formats_(read_formats) {}

  void Add(const RawRecord& raw) {
    if (!IsOfUse(raw.type)) return;
    const absl::StatusOr<Record> record = recording_.Decode(raw);
    if (!record.ok()) {
      if (undecodable_++ == 0) first_error_ = MessageOf(record.status());
      return;
    }
    if (const auto* read = std::get_if<ReadRecord>(&record->body)) return AddRead(raw, *read);
    if (AddLoss(*record)) return;
    const uint64_t time = TimeOf(raw, *record);
    if (const auto* map = std::get_if<MmapRecord>(&record->body); map != nullptr && IsJitDumpPath(map->path))
      jit_dump_mapped_.try_emplace({map->pid, std::string(map->path)}, time);
    builder_.Add(time, *record);
  }

  void AddGenerated(const JitDumpText& text);

  SideRecordSweep Finish() && {
    // What our recorder counted includes what it could not write.
    const auto& counters = recording_.ksamp().counters;
    Raise(counters, "lost.kernel", losses_.lost_records);
    Raise(counters, "lost.samples", losses_.lost_samples);
    Raise(counters, "throttled", losses_.throttles);
    constexpr std::string_view kPerCpu = "lost.kernel.cpu";
    for (const auto& [name, count] : counters)
      if (name.starts_with(kPerCpu)) Raise(counters, name, losses_.by_cpu[name.substr(kPerCpu.size())]);
    std::erase_if(losses_.by_cpu, [](const auto& cpu) { return cpu.second == 0; });
    std::vector<std::string> notes;
    if (undecodable_ != 0)
      notes.push_back(StrCat(undecodable_, " side records could not be decoded; the first: ", first_error_));
    notes.insert(notes.end(), jit_notes_.begin(), jit_notes_.end());
    return {std::move(builder_).Build(), std::move(losses_), std::move(notes)};
  }

 private:
  uint64_t TimeOf(const RawRecord& raw, const Record& record) const {
    if (timeless_) return raw.offset;
    if (record.id.time) return *record.id.time;
    const auto* fork = std::get_if<ForkRecord>(&record.body);
    return fork != nullptr ? fork->time : 0;
  }

  bool AddLoss(const Record& record) {
    uint64_t lost = 0;
    if (const auto* records = std::get_if<LostRecord>(&record.body)) {
      lost = records->lost;
      losses_.lost_records += lost;
    } else if (const auto* samples = std::get_if<LostSamplesRecord>(&record.body)) {
      lost = samples->lost;
      losses_.lost_samples += lost;
    } else if (const auto* throttle = std::get_if<ThrottleRecord>(&record.body)) {
      losses_.throttles += throttle->throttled ? 1 : 0;
      return true;
    } else {
      return false;
    }
    if (record.id.cpu && lost != 0) losses_.by_cpu[StrCat(*record.id.cpu)] += lost;
    return true;
  }

  // Counters of ending threads, with PERF_FORMAT_LOST.
  void AddRead(const RawRecord& raw, const ReadRecord& read) {
    const size_t event = recording_.EventOf(raw).value_or(0);
    const uint64_t format = read_formats_[std::min(event, read_formats_.size() - 1)];
    for (uint64_t i = 0; i < read.values.count; ++i)
      losses_.lost_samples += DecodeReadValue(read.values, format, i).lost.value_or(0);
  }

  // What to add to a time of the dump to have one of the recording; nothing: they cannot be compared.
  std::optional<uint64_t> ClockDifference(const JitDumpText& text, const GeneratedFunctions& dump) const;

  static void Raise(const std::map<std::string, uint64_t>& counters, const std::string& name,
                    uint64_t& value) {
    if (const auto it = counters.find(name); it != counters.end()) value = std::max(value, it->second);
  }

  const Recording& recording_;
  const bool timeless_;
  const std::vector<uint64_t>& read_formats_;
  ProcessTable::Builder builder_;
  Losses losses_;
  std::map<std::pair<uint32_t, std::string>, uint64_t> jit_dump_mapped_;  // when
  std::vector<std::string> jit_notes_;
  uint64_t undecodable_ = 0;
  std::string first_error_;
};

bool HasMonotonicClock(const Recording& recording) {
  perf_event_attr attr = {};
  const std::vector<std::byte>& stored = recording.events().front().attr;
  std::memcpy(&attr, stored.data(), std::min(stored.size(), sizeof(attr)));
  return attr.use_clockid != 0 && attr.clockid == CLOCK_MONOTONIC;
}

// A runtime writes the header of its dump and maps the file in one go, so that moment is known on both
// clocks.
std::optional<uint64_t> Sweep::ClockDifference(const JitDumpText& text,
                                               const GeneratedFunctions& dump) const {
  if (timeless_ || !dump.has_time) return std::nullopt;
  if (HasMonotonicClock(recording_)) return 0;
  const auto mapped = jit_dump_mapped_.find({text.pid, text.path});
  if (mapped == jit_dump_mapped_.end() || mapped->second == 0) return std::nullopt;
  return mapped->second - dump.opened;  // modulo 2^64
}

void Sweep::AddGenerated(const JitDumpText& text) {
  const absl::StatusOr<GeneratedFunctions> dump = FunctionsOf(text);
  if (!dump.ok()) {
    jit_notes_.push_back(MessageOf(dump.status()));
    return;
  }
  const std::optional<uint64_t> difference = ClockDifference(text, *dump);
  if (!difference && !dump->functions.empty())
    jit_notes_.push_back(
        StrCat(text.path,
               ": its times are of another clock than the recording's; where memory was used "
               "again, the last function counts (record with --clockid monotonic)"));
  for (const GeneratedFunction& f : dump->functions)
    builder_.AddGenerated(text.path, {.time = difference ? f.time + *difference : 0,
                                      .pid = text.pid,
                                      .start = f.start,
                                      .end = f.start + f.size,
                                      .place = f.place});
}

template <typename T>
std::optional<T> MetaNumber(const Recording& recording, const std::string& name) {
  const auto it = recording.ksamp().meta.find(name);
  if (it == recording.ksamp().meta.end()) return std::nullopt;
  const std::string& text = it->second;
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> DamageNotes(const Recording& recording) {
  std::vector<std::string> notes;
  if (recording.was_killed())
    notes.push_back("the recorder was killed; what it had written until then is reported");
  const std::vector<Damage>& damage = recording.damage();
  for (size_t i = 0; i < std::min(damage.size(), kMaxDamageNotes); ++i)
    notes.push_back(StrCat("damaged: ", damage[i].what, "; ", damage[i].bytes_skipped, " bytes skipped"));
  if (damage.size() > kMaxDamageNotes)
    notes.push_back(StrCat("damaged in ", damage.size() - kMaxDamageNotes, " more places"));
  for (const auto& [type, count] : recording.counts().unknown_by_type)
    notes.push_back(StrCat(count, " records of unknown type ", type, " skipped"));
  return notes;
}

}  // namespace

SideRecordSweep SweepSideRecords(const Recording& recording, bool timeless,
                                 const std::vector<uint64_t>& read_formats,
                                 const std::vector<JitDumpText>& jit_dumps) {
  Sweep sweep(recording, timeless, read_formats);
  auto chunk = recording.chunks().begin();
  for (const RawRecord& raw : recording.side_records()) {
    // In file order, as the chunks: what lies behind is not read again before the samples are.
    for (; chunk != recording.chunks().end() && chunk->offset + chunk->bytes.size() <= raw.offset; ++chunk)
      recording.ReleaseChunk(*chunk);
    sweep.Add(raw);
  }
  for (const JitDumpText& dump : jit_dumps) sweep.AddGenerated(dump);
  return std::move(sweep).Finish();
}

std::vector<JitDumpText> JitDumpsFor(const Recording& recording, const ProfileOptions& options) {
  if (!options.jit_dumps.empty()) return options.jit_dumps;
  std::vector<JitDumpText> dumps;
  for (CodeFile& file : recording.CodeFiles())
    if (file.kind == CodeFileKind::kJitDump)
      dumps.push_back({file.pid, std::move(file.path), std::move(file.bytes)});
  return dumps;
}

ProfileFacts FactsOf(const Recording& recording, std::optional<uint64_t> observed_ns) {
  const RecordingFacts& recorded = recording.facts();
  ProfileFacts facts{.file = recording.path(),
                     .hostname = recorded.hostname,
                     .os_release = recorded.os_release,
                     .cpu_desc = recorded.cpu_desc,
                     .arch = recorded.arch,
                     .cpus = recorded.cpus_online != 0 ? recorded.cpus_online : recorded.cpus_available,
                     .cpu_mhz = MetaNumber<double>(recording, "cpu_mhz").value_or(0),
                     .duration_ns = MetaNumber<uint64_t>(recording, "duration_ns"),
                     .notes = DamageNotes(recording)};
  if (!facts.duration_ns) facts.duration_ns = observed_ns;
  return facts;
}

}  // namespace ksamp
