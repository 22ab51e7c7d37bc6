// SPDX-License-Identifier: Apache-2.0
#include "tools/target_options.h"

#include <sys/wait.h>

#include <CLI/CLI.hpp>

namespace ksamp {

void TargetOptions::AddTo(CLI::App& app) {
  app.add_flag("-a,--all-cpus", all_cpus, "the whole machine; alone, until Ctrl-C or --duration");
  app.add_option("-C,--cpu", cpus, "these CPUs: 0-3,8");
  app.add_option("-p,--pid", pids, "these processes, with all their threads: 4711,4712");
  app.add_option("-t,--tid", tids, "these threads");
}

int ExitCodeOf(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace ksamp
