// SPDX-License-Identifier: Apache-2.0
#include <linux/perf_event.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ksamp/profile.h"
#include "lib/base/parallel.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/event/attr_builder.h"
#include "lib/profile/profile_assembly.h"
#include "lib/profile/recording_sweep.h"
#include "lib/profile/sample_counter.h"
#include "lib/profile/sample_walk.h"

namespace ksamp {
namespace {

bool Contains(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

absl::StatusOr<CountedEvent> PlanEvent(const EventDescription& event, const ProfileOptions& options) {
  CountedEvent plan;
  KSAMP_ASSIGN_OR_RETURN(plan.layout, SampleLayout::FromAttr(event.attr));
  const uint64_t type = plan.layout.sample_type();
  plan.has_ip = (type & PERF_SAMPLE_IP) != 0;
  plan.has_thread = (type & PERF_SAMPLE_TID) != 0;
  plan.has_cpu = (type & PERF_SAMPLE_CPU) != 0;
  plan.has_period = (type & PERF_SAMPLE_PERIOD) != 0;
  plan.fixed_period = event.frequency_mode ? 1 : event.period_or_frequency;
  plan.clock = IsClockEvent(event.type, event.config);
  plan.selected = options.events.empty() || Contains(options.events, event.name);
  return plan;
}

absl::StatusOr<CountingPlan> PlanCounting(const Recording& recording, const ProfileOptions& options) {
  CountingPlan plan;
  plan.options = &options;
  if (recording.events().empty())
    return absl::InvalidArgumentError(StrCat("profile ", recording.path(), ": it has no events"));
  bool cpu = true, thread = true;
  for (const EventDescription& event : recording.events()) {
    KSAMP_ASSIGN_OR_RETURN(CountedEvent one, PlanEvent(event, options));
    plan.timeless |= !one.layout.has_time() || !one.layout.sample_id_all();
    cpu &= one.has_cpu;
    thread &= one.has_thread;
    for (const uint64_t id : event.ids)
      plan.event_of_id.try_emplace(id, static_cast<uint32_t>(plan.events.size()));
    plan.events.push_back(std::move(one));
  }
  for (const std::string& name : options.events) {
    const auto& events = recording.events();
    if (std::none_of(events.begin(), events.end(), [&](const auto& event) { return event.name == name; }))
      return absl::InvalidArgumentError(StrCat("event ", name, ": not in ", recording.path()));
  }
  if (!options.cpus.empty() && !cpu)
    return absl::InvalidArgumentError(
        StrCat("select by cpu: ", recording.path(), " has no CPU in its samples"));
  if (!thread && (!options.pids.empty() || !options.tids.empty() || !options.comms.empty()))
    return absl::InvalidArgumentError(
        StrCat("select by pid, tid or comm: ", recording.path(), " has no thread in its samples"));
  return plan;
}

// The time of the earliest sample; needed only where a time range is asked for.
uint64_t FirstSampleTime(const Recording& recording, const CountingPlan& plan, unsigned threads) {
  const SampleLayout& layout = plan.events.front().layout;
  std::vector<uint64_t> first(threads, std::numeric_limits<uint64_t>::max());
  ParallelFor(recording.chunks().size(), threads, [&](size_t chunk, unsigned worker) {
    uint64_t earliest = first[worker];
    ForEachSample(recording.chunks()[chunk], [&](const std::byte* record, uint16_t size, uint16_t, uint64_t) {
      if (size >= layout.fixed_size()) earliest = std::min(earliest, layout.ReadFixed(record).time);
    });
    first[worker] = earliest;
  });
  return *std::min_element(first.begin(), first.end());
}

absl::Status PlanTimeRange(const Recording& recording, unsigned threads, CountingPlan& plan) {
  const std::optional<TimeRange>& range = plan.options->time;
  if (!range) return absl::OkStatus();
  for (const CountedEvent& event : plan.events) {
    if (!event.layout.has_time())
      return absl::InvalidArgumentError(StrCat("select by time: ", recording.path(), " has no times"));
  }
  if (range->begin_ns >= range->end_ns)
    return absl::InvalidArgumentError("select by time: the range ends before it begins");
  const uint64_t first = FirstSampleTime(recording, plan, threads);
  const auto absolute = [first](uint64_t relative) {
    const uint64_t room = std::numeric_limits<uint64_t>::max() - first;
    return first + std::min(relative, room);
  };
  plan.begin_time = absolute(range->begin_ns);
  plan.end_time = absolute(range->end_ns);
  return absl::OkStatus();
}

bool IsDummy(const EventDescription& event) {
  return event.type == PERF_TYPE_SOFTWARE && event.config == PERF_COUNT_SW_DUMMY;
}

std::vector<ProfileEvent> DescribeEvents(const Recording& recording, const CountingPlan& plan) {
  std::vector<ProfileEvent> events;
  const auto& meta = recording.ksamp().meta;
  for (size_t i = 0; i < plan.events.size(); ++i) {
    const EventDescription& event = recording.events()[i];
    events.push_back({.name = event.name,
                      .frequency_mode = event.frequency_mode,
                      .clock = plan.events[i].clock,
                      .period_or_frequency = event.period_or_frequency,
                      .note = {},
                      .tracking = IsDummy(event)});
    if (const auto note = meta.find("event.note"); i == 0 && note != meta.end())
      events[0].note = note->second;
  }
  return events;
}

// Build-ids that perf found when it ended, for images whose records brought none.
void AddBuildIds(const Recording& recording, std::vector<Image>& images) {
  absl::flat_hash_map<std::string, const std::vector<uint8_t>*> by_path;
  for (const BuildIdEntry& entry : recording.facts().build_ids) {
    const bool kernel = entry.path.starts_with("[kernel");
    by_path.try_emplace(kernel ? "vmlinux" : entry.path, &entry.build_id);
  }
  for (Image& image : images) {
    if (!image.build_id.empty() || image.deleted) continue;
    if (const auto it = by_path.find(image.path); it != by_path.end()) image.build_id = *it->second;
  }
}

std::optional<uint64_t> ObservedDuration(const std::vector<std::unique_ptr<SampleCounter>>& counters) {
  uint64_t first = std::numeric_limits<uint64_t>::max(), last = 0;
  for (const auto& counter : counters) {
    first = std::min(first, counter->first_time());
    last = std::max(last, counter->last_time());
  }
  if (first > last) return std::nullopt;
  return last - first;
}

}  // namespace

absl::StatusOr<Profile> BuildProfile(const Recording& recording, const ProfileOptions& options) {
  const unsigned threads = options.threads != 0 ? options.threads : AvailableCpus();
  KSAMP_ASSIGN_OR_RETURN(CountingPlan plan, PlanCounting(recording, options));
  KSAMP_RETURN_IF_ERROR(PlanTimeRange(recording, threads, plan));

  std::vector<uint64_t> read_formats;
  for (const CountedEvent& event : plan.events) read_formats.push_back(event.layout.read_format());
  SideRecordSweep side = SweepSideRecords(recording, plan.timeless, read_formats);
  plan.table = &side.table;

  const size_t workers = std::max<size_t>(1, std::min<size_t>(threads, recording.chunks().size()));
  std::vector<std::unique_ptr<SampleCounter>> counters;
  for (size_t i = 0; i < workers; ++i) counters.push_back(std::make_unique<SampleCounter>(plan));
  ParallelFor(recording.chunks().size(), static_cast<unsigned>(workers), [&](size_t chunk, unsigned worker) {
    counters[worker]->CountChunk(recording.chunks()[chunk]);
  });

  Profile profile;
  profile.events = DescribeEvents(recording, plan);
  AssembleProfile(counters, side.table, threads, profile);
  AddBuildIds(recording, profile.images);
  profile.losses = std::move(side.losses);
  profile.facts = FactsOf(recording, plan.timeless ? std::nullopt : ObservedDuration(counters));
  profile.facts.notes.insert(profile.facts.notes.end(), side.notes.begin(), side.notes.end());
  return profile;
}

}  // namespace ksamp
