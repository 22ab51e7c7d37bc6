// SPDX-License-Identifier: Apache-2.0
// ProcessRoot: the file system as a process sees it, for the files that a process leaves about itself
// (/tmp/perf-PID.map, jit-PID.dump), also where it lives in a container.
//
//   KSAMP_ASSIGN_OR_RETURN(ProcessRoot root, ProcessRoot::Of(proc, pid));
//   absl::StatusOr<UniqueFd> map = root.OpenOwned(StrCat("/tmp/perf-", root.pid_inside(), ".map"));
//
// Such files lie where anyone may write, so one is believed only where its owner is the process's own user or
// root, and only a regular file, not reached by a symbolic link of its own name: else another user could name
// our functions, or have us copy /etc/shadow. Links among the folders above are followed as the process
// would, never out of its root.
//
// The root stays open, so its files can be read shortly after the process has ended; it also keeps a
// container's file system busy, so hold it no longer than needed. One thread at a time may be opening; const.
#ifndef KSAMP_LIB_OS_PROCESS_ROOT_H_
#define KSAMP_LIB_OS_PROCESS_ROOT_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "lib/base/unique_fd.h"
#include "lib/os/proc_fs.h"

namespace ksamp {

class ProcessRoot {
 public:
  // A running process. NotFound: it has ended. Of a process in our own pid namespace whose root we may not
  // open, our own root.
  static absl::StatusOr<ProcessRoot> Of(const ProcFs& proc, pid_t pid);
  // For a process that has ended: `root` is ours, its user is taken to be ours too.
  static absl::StatusOr<ProcessRoot> OfEnded(pid_t pid, const std::string& root = "/");

  // The process's number in its own pid namespace: the one it puts into names of files.
  uint32_t pid_inside() const { return pid_inside_; }
  uint32_t user() const { return user_; }
  // "/proc/77/root": for messages, before a path inside.
  const std::string& name() const { return name_; }

  // The file at `path` inside, for reading. PermissionDenied, FailedPrecondition: not to be believed, and
  // why.
  absl::StatusOr<UniqueFd> OpenOwned(const std::string& path) const;

 private:
  ProcessRoot(UniqueFd fd, std::string name, uint32_t pid_inside, uint32_t user)
      : fd_(std::move(fd)), name_(std::move(name)), pid_inside_(pid_inside), user_(user) {}

  UniqueFd fd_;
  std::string name_;
  uint32_t pid_inside_, user_;
};

// "/tmp/perf-PID.map".
std::string PerfMapPath(uint32_t pid_inside);

}  // namespace ksamp

#endif  // KSAMP_LIB_OS_PROCESS_ROOT_H_
