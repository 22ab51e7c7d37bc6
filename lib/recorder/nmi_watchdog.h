// SPDX-License-Identifier: Apache-2.0
// NmiWatchdogOff: the kernel's NMI watchdog off for the time of a recording, and back on whatever happens.
//
// The watchdog holds one hardware counter of every CPU. Turning it off is a change to the machine, so it must
// be undone also when the recorder is killed by SIGKILL. A guardian does that:
//
//   recorder ──pipe──▶ guardian (own session, all signals blocked, waits for the pipe's end)
//                          └─ then, under the lock of the state file: takes itself off the list of holders;
//                             the last one writes the original value back
//
//   KSAMP_ASSIGN_OR_RETURN(NmiWatchdogOff off, NmiWatchdogOff::Acquire());
//   …record…                                     // ~NmiWatchdogOff waits until the value is back
//
// The state file, RUN_DIR/ksamp-nmi-watchdog, is empty or holds the original value and the holders, each a
// guardian's pid and start time:
//
//   original 1
//   holder 4711 8812345
//
// Holders that no longer live (the guardian was killed as well, or the file outlived a crash) do not count:
// the next Acquire starts from the recorded original, not from the zero it finds.
//
// Several recorders may hold it at once, also in one process. One thread per object.
#ifndef KSAMP_LIB_RECORDER_NMI_WATCHDOG_H_
#define KSAMP_LIB_RECORDER_NMI_WATCHDOG_H_

#include <sys/types.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/unique_fd.h"

namespace ksamp {

struct NmiWatchdogPaths {
  std::string proc_root = "/proc";  // below it: sys/kernel/nmi_watchdog
  std::string run_dir = "/run";
};

class NmiWatchdogOff {
 public:
  // NotFound: the kernel has no NMI watchdog. PermissionDenied: needs root. Off already and held by nobody:
  // OK, and nothing to put back.
  static absl::StatusOr<NmiWatchdogOff> Acquire(const NmiWatchdogPaths& paths = {});
  NmiWatchdogOff(NmiWatchdogOff&& other) noexcept;
  NmiWatchdogOff& operator=(NmiWatchdogOff&& other) noexcept;
  ~NmiWatchdogOff();

  // The process that will put it back; -1 where there is nothing to.
  pid_t guardian() const { return guardian_; }
  // Lets the guardian do its work and waits for it. The destructor does the same.
  void Release();

 private:
  NmiWatchdogOff() = default;
  absl::Status StartGuardian(const std::string& control, const std::string& state_path);

  UniqueFd alive_;  // our end of the guardian's pipe: closed by the kernel, however this process ends
  pid_t guardian_ = -1;
};

// Puts the value back that a killed guardian left off, if there is one and nobody holds it. True: it was. For
// `check`, and for the start of every recording.
absl::StatusOr<bool> RepairNmiWatchdog(const NmiWatchdogPaths& paths = {});

}  // namespace ksamp

#endif  // KSAMP_LIB_RECORDER_NMI_WATCHDOG_H_
