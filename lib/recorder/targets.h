// SPDX-License-Identifier: Apache-2.0
// Which CPUs and threads a recording or a count is of, as the user named them and as the machine has them
// now.
//
//   KSAMP_ASSIGN_OR_RETURN(std::vector<int> cpus, TargetCpus("record", options.cpus, "/sys"));
//   KSAMP_ASSIGN_OR_RETURN(std::vector<pid_t> tids, TargetThreads("record", options.pids, options.tids,
//   "/proc"));
//
// `what` is the operation's name in errors, which carry FailureOf() (ksamp/recorder.h).
#ifndef KSAMP_LIB_RECORDER_TARGETS_H_
#define KSAMP_LIB_RECORDER_TARGETS_H_

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace ksamp {

// `cpus`, or all that are online where none is named. One that is not online is an error: beyond the last CPU
// it is EINVAL to the kernel, like every other mistake, so it must be told here.
absl::StatusOr<std::vector<int>> TargetCpus(std::string_view what, const std::vector<int>& cpus,
                                            const std::string& sys_root);

// `tids` and all threads of `pids`, ascending, each once. A process that is not there is an error.
absl::StatusOr<std::vector<pid_t>> TargetThreads(std::string_view what, const std::vector<pid_t>& pids,
                                                 const std::vector<pid_t>& tids,
                                                 const std::string& proc_root);

}  // namespace ksamp

#endif  // KSAMP_LIB_RECORDER_TARGETS_H_
