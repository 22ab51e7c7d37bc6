// SPDX-License-Identifier: Apache-2.0
// Workload: the command that is recorded, from fork to its exit status.
//
//   KSAMP_ASSIGN_OR_RETURN(Workload workload, Workload::Prepare({"ls", "-l"}));   // forked, waits
//   …open events on workload.pid() with enable_on_exec, map rings, write the header…
//   KSAMP_RETURN_IF_ERROR(workload.Start());                                      // execs
//   …poll workload.poll_fd()…
//   if (std::optional<int> status = workload.TryWait()) …                         // wait(2) status
//
// What cannot be started is an error of Prepare, before anything is recorded: NotFound (a shell's 127) or
// PermissionDenied (126). What only the kernel finds out (a wrong format, a missing interpreter) is an error
// of Start, with the exec's errno.
//
// The command gets the signal mask of the thread that called Prepare: prepare first, block signals then.
// Ctrl-C reaches it by itself, as part of the terminal's foreground group, also before it becomes the
// command: handlers of ours are not its. If SIGCHLD is ignored, Prepare puts it back to the default:
// otherwise the kernel would throw the exit status away.
//
// Destroyed before Start: the child is killed and reaped, nothing of the command ran. After Start: it goes
// on. One thread.
#ifndef KSAMP_LIB_RECORDER_WORKLOAD_H_
#define KSAMP_LIB_RECORDER_WORKLOAD_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/unique_fd.h"

namespace ksamp {

// The file that execvp would run for `name` with this PATH. NotFound, or PermissionDenied where there is one
// but it may not be executed.
absl::StatusOr<std::string> FindProgram(const std::string& name, std::string_view path);

class Workload {
 public:
  // Requires: argv is not empty.
  static absl::StatusOr<Workload> Prepare(std::vector<std::string> argv);
  Workload(Workload&& other) noexcept;
  Workload& operator=(Workload&& other) noexcept;
  ~Workload();

  pid_t pid() const { return pid_; }
  // Readable when the command has ended; -1 on kernels without pidfd_open (before 5.3).
  int poll_fd() const { return pidfd_.get(); }

  // Lets the child exec and comes back when it has. A child that a signal ended before is a command that this
  // signal ended: no error, TryWait() tells. Requires: not called before.
  absl::Status Start();
  // The wait(2) status once the command has ended; the same answer from then on.
  std::optional<int> TryWait();
  // Waits for the end.
  int Wait();
  // Sends a signal, unless it has ended.
  void Signal(int number);

 private:
  Workload() = default;
  void KillIfNotStarted();

  std::string name_;
  pid_t pid_ = -1;
  UniqueFd go_, exec_error_, pidfd_;
  bool started_ = false;
  std::optional<int> status_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_RECORDER_WORKLOAD_H_
