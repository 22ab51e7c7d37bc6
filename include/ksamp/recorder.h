// SPDX-License-Identifier: Apache-2.0
// Recorder: open events, drain rings, write a recording.
//
//   RecordOptions options;
//   options.system_wide = true;
//   options.output = "ksamp.data";
//   options.duration = std::chrono::seconds(10);
//   absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Open(options);
//   absl::StatusOr<RecordSummary> summary = (*recorder)->Run();          // until the duration, the command's
//   end or Stop()
//
// In memory, around a region of the own process:
//
//   options.pids = {getpid()}; options.in_memory = true;
//   (*recorder)->Start();  Work();  (*recorder)->Stop();
//   absl::StatusOr<Recording> recording = (*recorder)->TakeRecording();
//
// Life: Open (events are opened and probed, rings mapped, running processes described, the file has a valid
// header) → Start (counting begins) → Run/Drain → Stop → Close (features). Run() does Start to Close. Nothing
// is recorded before everything that can fail at opening has succeeded: an impossible request fails in Open,
// with its remedy; a degraded one goes on and is told in RecordSummary::notes and in the recording (design
// D5).
//
// Threads: Open, Start, Run, Close from one thread; RequestStop from any thread or signal handler.
#ifndef KSAMP_RECORDER_H_
#define KSAMP_RECORDER_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ksamp/event_spec.h"
#include "ksamp/export.h"
#include "ksamp/perf_data.h"

namespace ksamp {

class PerfKernel;  // lib/os/perf_kernel.h

struct RecordOptions {
  // Target: exactly one of these, or a command alone (the command and its children).
  bool system_wide = false;          // -a
  std::vector<int> cpus;             // -C
  std::vector<pid_t> pids, tids;     // -p, -t
  std::vector<std::string> command;  // run; ends the recording when it exits. Combines with any target.

  std::vector<std::string> events;    // -e, each as typed; empty: the ladder from cycles (design D5)
  std::optional<uint64_t> frequency;  // -F, Hz
  std::optional<uint64_t> period;     // -c
  bool callchain = false;             // -g, frame pointers

  std::string output = "ksamp.data";  // "-": pipe to standard output. An existing recording becomes .old
  bool in_memory = false;             // no file: TakeRecording()
  std::optional<std::chrono::nanoseconds> duration;
  std::optional<std::chrono::milliseconds> delay;  // start counting this long after the command started
  uint64_t max_size = 0;                           // stop after this many bytes of data; 0: no limit
  uint64_t ring_bytes = 0;  // per CPU; 0: sized for the rate, 4 MiB at most, largest that fits
  int zstd_level = 0;
  bool kernel_symbols = true;     // --no-kernel-symbols
  bool nmi_watchdog_off = false;  // --nmi-watchdog=off
  bool exclude_self = false;      // leave the recorder's own samples out
  std::optional<std::string> clockid;
  std::string proc_root = "/proc", sys_root = "/sys";
};

// What happened, for the last line and for the recording.
struct RecordSummary {
  uint64_t samples = 0;
  std::chrono::nanoseconds elapsed{0};
  uint32_t cpus = 0;
  std::vector<std::string> events;  // as really opened, "cpu-clock, every 250 689 ns"
  std::map<std::string, uint64_t>
      lost;  // by cause; absent: none. "ring full", "kernel dropped", "recorder: disk full"
  uint64_t throttles = 0;
  std::string output;
  uint64_t file_bytes = 0;
  std::chrono::nanoseconds recorder_cpu{0};
  std::optional<int> command_status;  // wait(2) status of the command
  // The duration or size asked for was reached first, and the command was asked to end: its status is ours.
  bool command_ended_at_limit = false;
  bool stopped_by_signal = false;
  // A full disk, or a limit of the file's size, ended the recording (and the command): which write, and why.
  // What had been written by the last commit is there.
  std::optional<std::string> write_failure;
  std::vector<std::string> notes;  // what was degraded and why, whole sentences
};

class KSAMP_EXPORT Recorder {
 public:
  // FailedPrecondition, PermissionDenied, …: the message is operation, object, cause; FailureOf(status) names
  // the case for the tool's remedy.
  static absl::StatusOr<std::unique_ptr<Recorder>> Open(RecordOptions options, PerfKernel* kernel = nullptr);
  virtual ~Recorder() = default;

  virtual absl::StatusOr<RecordSummary> Run() = 0;
  virtual absl::Status Start() = 0;
  virtual absl::Status Stop() = 0;
  virtual void RequestStop() = 0;                             // async-signal-safe
  virtual absl::StatusOr<Recording> TakeRecording() = 0;      // Requires: in_memory, after Stop
  virtual const std::vector<std::string>& notes() const = 0;  // known after Open, before the first sample
};

// Why opening failed, from the decision table over (errno, event, target, paranoid, capabilities, …).
enum class OpenFailure {
  kNone,
  kParanoid,
  kNoCapability,
  kSeccomp,
  kNoSuchEvent,
  kNoPmu,
  kBusy,
  kTooManyFiles,
  kNoSuchCpu,
  kNoSuchProcess,
  kMlockLimit,
  kRateTooHigh,
  kNotSupported,
  kNoTracefs,
  kTracefsForbidden,
  kKernelTooOld,
  kCommandNotFound,
  kCommandNotExecutable,
  kOther,
};
KSAMP_EXPORT OpenFailure FailureOf(const absl::Status& status);

// Whether the kernel takes an event here, asked by opening it, never started, on the calling thread (or, of a
// PMU that counts for whole CPUs, on its first CPU). Failures read "open EVENT: CAUSE" and carry FailureOf().
struct EventTrial {
  absl::Status counting;         // OK: it can at least be counted
  absl::Status sampling;         // OK: `ksamp record` can use it
  bool user_space_only = false;  // only with `:u`: the kernel may not be profiled by us
};
KSAMP_EXPORT EventTrial TryEvent(const EventSpec& event, PerfKernel* kernel = nullptr,
                                 const std::string& proc_root = "/proc");

}  // namespace ksamp

#endif  // KSAMP_RECORDER_H_
