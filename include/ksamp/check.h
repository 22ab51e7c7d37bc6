// SPDX-License-Identifier: Apache-2.0
// CheckMachine: can this user profile here, how well, and what would make it better?
//
//   const MachineCheck check = CheckMachine({});
//   for (const CheckFinding& finding : check.findings)
//     if (finding.verdict != CheckVerdict::kFine) std::cout << finding.name << ": " << finding.found << "\n";
//
// The event is found by the very ladder that a recording takes, and opened for a moment; everything else is
// read from /proc, /sys and the limits of the process. Nothing is changed, unless `repair` asks for it. What
// cannot be read is a finding, never an error.
//
// Takes some ten milliseconds. The calling thread works for a moment, and may visit other CPUs (hybrid
// machines).
#ifndef KSAMP_CHECK_H_
#define KSAMP_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksamp/export.h"
#include "ksamp/recorder.h"

namespace ksamp {

enum class CheckVerdict {
  kFine,
  kDegraded,  // profiling works, and misses something
  kMissing,   // what it is about does not work at all
};

struct CheckFinding {
  std::string name;  // for scripts, never changed: "event", "kernel_symbols"
  CheckVerdict verdict = CheckVerdict::kFine;
  std::string found;    // what is the case: "cpu-clock, every 250 689 ns"
  std::string meaning;  // what follows from it, whole sentences, one a line; may be empty where all is fine
  std::string remedy;   // what to do about it; empty: nothing, or see `failure`
  OpenFailure failure = OpenFailure::kNone;  // of the finding "event": why the kernel refused
};

struct MachineCheck {
  std::vector<CheckFinding> findings;
  bool can_sample = false;
  // All findings at once: kMissing only where nothing can be sampled.
  KSAMP_EXPORT CheckVerdict verdict() const;
};

struct CheckOptions {
  std::string proc_root = "/proc", sys_root = "/sys";
  std::string file_root;  // put before /usr/lib/debug, /boot and /lib/modules, where a vmlinux may lie
  std::string arch;       // as uname -m; empty: this machine's
  // Limits of the process that will record; nothing: this one's.
  std::optional<uint64_t> open_files, locked_memory;
  // Put the NMI watchdog back on that a killed recording left off.
  bool repair = false;
};

KSAMP_EXPORT MachineCheck CheckMachine(const CheckOptions& options, PerfKernel* kernel = nullptr);

}  // namespace ksamp

#endif  // KSAMP_CHECK_H_
