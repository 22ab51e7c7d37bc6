// SPDX-License-Identifier: Apache-2.0
#include "lib/os/process_fd.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"

namespace ksamp {

absl::StatusOr<UniqueFd> OpenProcessFd(pid_t pid) {
  // The wrapper of glibc 2.36 is declared without C linkage; older ones have none.
  UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!fd) return ErrnoStatus(errno, StrCat("pidfd_open ", pid));
  return fd;
}

}  // namespace ksamp
