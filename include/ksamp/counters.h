// SPDX-License-Identifier: Apache-2.0
// Counters: how often events happened, without samples.
//
//   CountOptions options;
//   options.command = {"make", "-j8"};            // or system_wide, cpus, pids, tids
//   absl::StatusOr<std::unique_ptr<Counters>> counters = Counters::Open(options);
//   // Until the command's end, the duration or RequestStop():
//   absl::StatusOr<CountResult> result = (*counters)->Run();
//   for (const EventCount& event : result->events)
//     std::cout << event.name << " " << event.value << "\n";
//
// Around a region of the own process:
//
//   options.tids = {gettid()}; options.events = {"instructions,page-faults"};
//   (*counters)->Start();  Work();  CountResult result = *(*counters)->Stop();
//
// An event that this machine cannot count does not fail the others: it is in the result with the reason.
// Where there are more events than hardware counters, the kernel lets them take turns; a value is then what
// was counted, scaled to the whole time (value = counted * enabled / running, as perf stat), and `running`
// tells how much was really seen.
//
// A command is counted with its children, from its exec to its end. Processes (`pids`) with the threads they
// have and those they start meanwhile; `tids` alone.
//
// Threads: Open, Start, Read, Stop, Run from one thread; RequestStop from any thread or signal handler.
#ifndef KSAMP_COUNTERS_H_
#define KSAMP_COUNTERS_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ksamp/event_spec.h"
#include "ksamp/export.h"

namespace ksamp {

class PerfKernel;  // lib/os/perf_kernel.h

struct CountOptions {
  // Target: exactly one of these, or a command alone.
  bool system_wide = false;
  std::vector<int> cpus;
  std::vector<pid_t> pids, tids;
  std::vector<std::string> command;  // run; its end is the end. Combines with any target.

  // As typed behind each -e; empty: what a first look needs (task-clock, context-switches, cpu-migrations,
  // page-faults, cycles, instructions, branches, branch-misses).
  std::vector<std::string> events;
  bool inherit = true;  // children of the command, later threads of a process
  std::optional<std::chrono::nanoseconds> duration;
  // Every so often, and once at the end, Run hands the counts so far to `on_interval`.
  std::optional<std::chrono::nanoseconds> interval;
  std::string proc_root = "/proc", sys_root = "/sys";
};

// One event on one CPU or thread.
struct PlaceCount {
  int cpu = -1;    // -1: wherever the thread ran
  pid_t tid = -1;  // -1: every thread of the CPU
  uint64_t counted = 0;
  std::chrono::nanoseconds enabled{0}, running{0};

  uint64_t Scaled() const;  // counted, scaled to the whole time
};

struct EventCount {
  std::string name;  // as typed, modifiers included
  EventSpec spec;
  uint64_t value = 0;  // of all places, each scaled
  std::chrono::nanoseconds enabled{0}, running{0};
  bool supported = true;  // false: this machine cannot count it, `missing` says why
  std::string missing;    // why there is no value, half a sentence; empty: there is one
  std::vector<PlaceCount> places;
};

struct CountResult {
  std::vector<EventCount> events;
  std::chrono::nanoseconds elapsed{0};
  std::chrono::nanoseconds user{0}, system{0};  // CPU time of the command and its children, once it has ended
  std::optional<int> command_status;            // wait(2) status
  bool command_ended_at_limit = false;  // the duration was over first, and the command was asked to end
  bool stop_requested = false;          // RequestStop() ended it
  std::vector<std::string> notes;       // what was degraded and why, whole sentences
};

class KSAMP_EXPORT Counters {
 public:
  // FailedPrecondition, PermissionDenied, …: not one event could be opened, or the command cannot be started;
  // the message is operation, object, cause, FailureOf(status) (ksamp/recorder.h) names the case.
  static absl::StatusOr<std::unique_ptr<Counters>> Open(CountOptions options, PerfKernel* kernel = nullptr);
  virtual ~Counters() = default;

  virtual absl::StatusOr<CountResult> Run(
      const std::function<void(const CountResult&)>& on_interval = {}) = 0;
  virtual absl::Status Start() = 0;
  virtual absl::StatusOr<CountResult> Read() = 0;  // so far; counting goes on
  virtual absl::StatusOr<CountResult> Stop() = 0;
  virtual void RequestStop() = 0;  // async-signal-safe
};

}  // namespace ksamp

#endif  // KSAMP_COUNTERS_H_
