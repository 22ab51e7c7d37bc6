// SPDX-License-Identifier: Apache-2.0
// -a, -C, -p, -t: what a command watches, spelled the same everywhere.
//
//   TargetOptions target;
//   target.AddTo(app);
//   KSAMP_RETURN_IF_ERROR(target.Fill(options));      // RecordOptions, CountOptions: same names of members
#ifndef KSAMP_TOOLS_TARGET_OPTIONS_H_
#define KSAMP_TOOLS_TARGET_OPTIONS_H_

#include <string>

#include "absl/status/status.h"
#include "lib/base/status_macros.h"
#include "tools/option_values.h"

namespace CLI {
class App;
}

namespace ksamp {

struct TargetOptions {
  bool all_cpus = false;
  std::string cpus, pids, tids;  // as typed

  void AddTo(CLI::App& app);
  bool whole_cpus() const { return all_cpus || !cpus.empty(); }
  bool threads() const { return !pids.empty() || !tids.empty(); }
  bool any() const { return whole_cpus() || threads(); }

  template <typename Options>
  absl::Status Fill(Options& options) const {
    options.system_wide = all_cpus;
    if (!cpus.empty()) {
      KSAMP_ASSIGN_OR_RETURN(options.cpus, ParseNumberList(cpus));
    }
    if (!pids.empty()) {
      KSAMP_ASSIGN_OR_RETURN(options.pids, ParseNumberList(pids));
    }
    if (!tids.empty()) {
      KSAMP_ASSIGN_OR_RETURN(options.tids, ParseNumberList(tids));
    }
    return absl::OkStatus();
  }
};

// The shell's: of a command that was killed, 128 + the signal's number.
int ExitCodeOf(int wait_status);

}  // namespace ksamp

#endif  // KSAMP_TOOLS_TARGET_OPTIONS_H_
