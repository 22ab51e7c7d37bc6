// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/targets.h"

#include <algorithm>

#include "ksamp/recorder.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/os/proc_fs.h"
#include "lib/os/sys_fs.h"
#include "lib/recorder/open_failure.h"

namespace ksamp {

absl::StatusOr<std::vector<int>> TargetCpus(std::string_view what, const std::vector<int>& cpus,
                                            const std::string& sys_root) {
  KSAMP_ASSIGN_OR_RETURN(std::vector<int> online, OnlineCpus(sys_root));
  for (const int cpu : cpus) {
    if (std::binary_search(online.begin(), online.end(), cpu)) continue;
    return WithFailure(absl::NotFoundError(StrCat(
                           what, " CPU ", cpu, ": it is not online (online: ", FormatCpuList(online), ")")),
                       OpenFailure::kNoSuchCpu);
  }
  return cpus.empty() ? online : cpus;
}

absl::StatusOr<std::vector<pid_t>> TargetThreads(std::string_view what, const std::vector<pid_t>& pids,
                                                 const std::vector<pid_t>& tids,
                                                 const std::string& proc_root) {
  std::vector<pid_t> threads = tids;
  if (!pids.empty()) {
    KSAMP_ASSIGN_OR_RETURN(const ProcFs proc, ProcFs::Open(proc_root));
    for (const pid_t pid : pids) {
      const std::vector<pid_t> of_process = proc.Threads(pid);
      if (of_process.empty()) {
        return WithFailure(absl::NotFoundError(StrCat(what, " process ", pid, ": there is no such process")),
                           OpenFailure::kNoSuchProcess);
      }
      threads.insert(threads.end(), of_process.begin(), of_process.end());
    }
  }
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  return threads;
}

}  // namespace ksamp
