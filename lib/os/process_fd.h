// SPDX-License-Identifier: Apache-2.0
// A descriptor that stands for a process: readable when it has ended, so that poll() can wait for it along
// with rings. Unlike a pid it cannot come to mean another process.
#ifndef KSAMP_LIB_OS_PROCESS_FD_H_
#define KSAMP_LIB_OS_PROCESS_FD_H_

#include <sys/types.h>

#include "absl/status/statusor.h"
#include "lib/base/unique_fd.h"

namespace ksamp {

// pidfd_open(2). NotFound: no such process (ESRCH). Unimplemented: the kernel is older than 5.3.
absl::StatusOr<UniqueFd> OpenProcessFd(pid_t pid);

}  // namespace ksamp

#endif  // KSAMP_LIB_OS_PROCESS_FD_H_
