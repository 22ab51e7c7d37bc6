// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/counting_plan.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "lib/base/parallel.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/event/attr_builder.h"

namespace ksamp {
namespace {

template <typename T>
bool Contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

uint16_t MaxStackOf(std::span<const std::byte> attr) {
  constexpr size_t kAt = offsetof(perf_event_attr, sample_max_stack);
  constexpr uint16_t kKernelDefault = 127;  // of kernel.perf_event_max_stack
  const uint16_t asked =
      attr.size() < kAt + sizeof(asked) ? uint16_t{0} : LoadAt<uint16_t>(attr.data() + kAt);
  return asked != 0 ? asked : kKernelDefault;
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
  plan.has_callchain = (type & PERF_SAMPLE_CALLCHAIN) != 0;
  plan.max_stack = MaxStackOf(event.attr);
  plan.clock = IsClockEvent(event.type, event.config);
  plan.selected = options.events.empty() || Contains(options.events, event.name);
  return plan;
}

absl::StatusOr<CountingPlan> PlanWithoutTime(const Recording& recording, const ProfileOptions& options) {
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

}  // namespace

std::string_view Text(FilterCause cause) {
  static constexpr std::string_view kTexts[] = {"event", "time", "cpu", "pid", "tid", "comm"};
  return kTexts[static_cast<size_t>(cause)];
}

std::string_view Text(DropCause cause) {
  static constexpr std::string_view kTexts[] = {"malformed record", "no address in the sample",
                                                "no event has its id"};
  return kTexts[static_cast<size_t>(cause)];
}

std::string UnnamedThread(uint32_t tid) {
  return StrCat(":", static_cast<int32_t>(tid));
}

FilterCause CountingPlan::FilterOf(uint32_t event, uint32_t cpu, uint32_t pid, uint32_t tid,
                                   const ThreadComm* comm) const {
  const auto passes = [](const std::vector<uint32_t>& list, uint32_t value) {
    return list.empty() || Contains(list, value);
  };
  if (!events[event].selected) return FilterCause::kEvent;
  if (!passes(options->cpus, cpu)) return FilterCause::kCpu;
  if (!passes(options->pids, pid)) return FilterCause::kPid;
  if (!passes(options->tids, tid)) return FilterCause::kTid;
  if (!options->comms.empty()) {
    const std::string name =
        comm != nullptr ? std::string(table->names().Get(comm->name)) : UnnamedThread(tid);
    if (!Contains(options->comms, name)) return FilterCause::kComm;
  }
  return FilterCause::kCount;
}

std::vector<uint64_t> CountingPlan::ReadFormats() const {
  std::vector<uint64_t> formats;
  for (const CountedEvent& event : events) formats.push_back(event.layout.read_format());
  return formats;
}

void EventTally::AddTo(Conservation& sum) const {
  sum.taken += taken;
  sum.counted += counted;
  for (size_t i = 0; i < filtered.size(); ++i)
    if (filtered[i] != 0) sum.filtered[std::string(Text(static_cast<FilterCause>(i)))] += filtered[i];
  for (size_t i = 0; i < dropped.size(); ++i)
    if (dropped[i] != 0) sum.dropped[std::string(Text(static_cast<DropCause>(i)))] += dropped[i];
}

absl::StatusOr<CountingPlan> PlanCounting(const Recording& recording, const ProfileOptions& options,
                                          unsigned threads) {
  KSAMP_ASSIGN_OR_RETURN(CountingPlan plan, PlanWithoutTime(recording, options));
  KSAMP_RETURN_IF_ERROR(PlanTimeRange(recording, threads, plan));
  return plan;
}

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

}  // namespace ksamp
