// SPDX-License-Identifier: Apache-2.0
// From what the user wished for to events that really open here (design D5, decisions 11 and 24).
//
//   nothing named   the ladder: cycles with precise_ip 3, 2, 1, 0, then cpu-clock. Each step is probed: it
//                   must open, count, and deliver samples for a few milliseconds of work. Every step down is
//                   told.
//   -e EVENT        that event or an error: nothing is replaced behind the user's back. One exception, told:
//                   a command and threads, where the kernel may not be profiled, are profiled in user space
//                   (`:u`). Whole CPUs are not: what is missing would be too much.
//
//   LadderContext context = …;                     // kernel, catalog, target, -F, -c
//   KSAMP_ASSIGN_OR_RETURN(EventPlan plan, PlanEvents({}, context));
//   // plan.groups[0][0].attr opens on every CPU as it is; plan.notes are whole sentences; plan.meta goes
//   // into the recording
//
// One thread: the probe makes the calling thread work, and moves it to the CPUs of a hybrid machine's PMU.
#ifndef KSAMP_LIB_RECORDER_EVENT_LADDER_H_
#define KSAMP_LIB_RECORDER_EVENT_LADDER_H_

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ksamp/event_spec.h"
#include "lib/event/attr_builder.h"
#include "lib/os/perf_kernel.h"
#include "lib/recorder/open_failure.h"

namespace ksamp {

struct LadderContext {
  PerfKernel* kernel = nullptr;
  const EventCatalog* catalog = nullptr;
  OpenCircumstances around;
  // Where the events will be opened first: a thread (or -1) and a CPU.
  pid_t pid = -1;
  int cpu = 0;
  AttrOptions options;                        // all but period and frequency
  std::optional<uint64_t> period, frequency;  // -c, -F
  std::optional<uint64_t> cpu_hz;             // nothing: measured by the probe
  bool amd = false;                           // precise means IBS: periods are multiples of 16
};

struct PlannedEvent {
  EventSpec spec;
  perf_event_attr attr = {};
  std::vector<int> cpus;  // of its PMU on a hybrid machine; empty: all
};

struct EventPlan {
  std::vector<std::vector<PlannedEvent>> groups;
  std::vector<std::string> notes;           // whole sentences, for people
  std::map<std::string, std::string> meta;  // "event.wish", "event.actual", "event.note"
};

// `events`: as typed behind each -e; empty: the default.
absl::StatusOr<EventPlan> PlanEvents(const std::vector<std::string>& events, const LadderContext& context);

// "cpu-clock, every 250 689 ns", "cycles, every 526 381 events", "cycles, 3 989 Hz".
std::string DescribeSampling(const PlannedEvent& event);

// The largest prime that is at most `value`. Requires: value >= 2.
uint64_t PrimeAtMost(uint64_t value);

}  // namespace ksamp

#endif  // KSAMP_LIB_RECORDER_EVENT_LADDER_H_
