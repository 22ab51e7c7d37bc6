// SPDX-License-Identifier: Apache-2.0
#include <linux/perf_event.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ksamp/profile.h"
#include "lib/base/parallel.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/profile/counting_plan.h"
#include "lib/profile/profile_assembly.h"
#include "lib/profile/recording_sweep.h"
#include "lib/profile/sample_counter.h"
#include "lib/profile/stack_assembly.h"
#include "lib/profile/stack_counter.h"

namespace ksamp {
namespace {

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
                      .has_stacks = plan.events[i].has_callchain,
                      .tracking = IsDummy(event)});
    if (const auto note = meta.find("event.note"); i == 0 && note != meta.end())
      events[0].note = note->second;
  }
  return events;
}

// The first and the last time that any of several counters saw.
struct TimeSpan {
  uint64_t first = std::numeric_limits<uint64_t>::max(), last = 0;
  template <typename Counter>
  void Add(const Counter& counter) {
    first = std::min(first, counter.first_time());
    last = std::max(last, counter.last_time());
  }
  std::optional<uint64_t> length() const { return first > last ? std::nullopt : std::optional(last - first); }
};

// Every chunk to one of several counters, as many as there are threads.
template <typename Counter>
std::vector<std::unique_ptr<Counter>> CountChunks(const Recording& recording, const CountingPlan& plan,
                                                  unsigned threads) {
  const size_t chunks = recording.chunks().size();
  const size_t workers = std::max<size_t>(1, std::min<size_t>(threads, chunks));
  std::vector<std::unique_ptr<Counter>> counters;
  for (size_t i = 0; i < workers; ++i) counters.push_back(std::make_unique<Counter>(plan));
  ParallelFor(chunks, static_cast<unsigned>(workers), [&](size_t chunk, unsigned worker) {
    counters[worker]->CountChunk(recording.chunks()[chunk]);
    recording.ReleaseChunk(recording.chunks()[chunk]);
  });
  return counters;
}

absl::Status CheckStacks(const Recording& recording, const CountingPlan& plan) {
  for (const CountedEvent& event : plan.events)
    if (event.selected && event.has_callchain) return absl::OkStatus();
  return absl::FailedPreconditionError(
      StrCat("call graph of ", recording.path(), ": it holds no stacks; record with -g"));
}

}  // namespace

absl::StatusOr<Profile> BuildProfile(const Recording& recording, const ProfileOptions& options) {
  const unsigned threads = options.threads != 0 ? options.threads : AvailableCpus();
  KSAMP_ASSIGN_OR_RETURN(CountingPlan plan, PlanCounting(recording, options, threads));
  if (options.stacks) KSAMP_RETURN_IF_ERROR(CheckStacks(recording, plan));
  SideRecordSweep side =
      SweepSideRecords(recording, plan.timeless, plan.ReadFormats(), JitDumpsFor(recording, options));
  plan.table = &side.table;

  Profile profile;
  profile.events = DescribeEvents(recording, plan);
  TimeSpan observed;
  if (options.stacks) {
    const auto counters = CountChunks<StackCounter>(recording, plan, threads);
    for (const auto& counter : counters) observed.Add(counter->attributor());
    AssembleStacks(counters, side.table, profile);
  } else {
    const auto counters = CountChunks<SampleCounter>(recording, plan, threads);
    for (const auto& counter : counters) observed.Add(*counter);
    AssembleProfile(counters, side.table, threads, profile);
  }
  AddBuildIds(recording, profile.images);
  profile.losses = std::move(side.losses);
  profile.facts = FactsOf(recording, plan.timeless ? std::nullopt : observed.length());
  profile.facts.notes.insert(profile.facts.notes.end(), side.notes.begin(), side.notes.end());
  return profile;
}

}  // namespace ksamp
