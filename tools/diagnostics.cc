// SPDX-License-Identifier: Apache-2.0
#include "tools/diagnostics.h"

#include <cerrno>
#include <ostream>
#include <string>

#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "tools/command.h"

namespace ksamp {

void Say(World& world, std::string_view text) {
  std::string message;
  while (true) {
    const size_t end = text.find('\n');
    StrAppend(&message, message.empty() ? "ksamp: " : "       ", EscapeForTerminal(text.substr(0, end)),
              "\n");
    if (end == std::string_view::npos || end + 1 == text.size()) break;
    text.remove_prefix(end + 1);
  }
  *world.err << message << std::flush;
}

int Fail(World& world, const absl::Status& status, int exit_code, std::string_view remedy) {
  if (StatusErrno(status) == EPIPE) return kExitShown;
  Say(world, remedy.empty() ? MessageOf(status) : StrCat(MessageOf(status), "\n", remedy));
  return exit_code;
}

std::string_view RemedyFor(OpenFailure failure) {
  switch (failure) {
    case OpenFailure::kParanoid:
      return "As root: echo 1 > /proc/sys/kernel/perf_event_paranoid (-1 for -a), or run ksamp as root.";
    case OpenFailure::kNoCapability:
      return "Run ksamp as root, or give it the right: setcap cap_perfmon,cap_syslog+ep ksamp.";
    case OpenFailure::kSeccomp:
      return "A seccomp filter (a container's default) forbids perf_event_open; run outside the container, "
             "or "
             "with a profile that allows it.";
    case OpenFailure::kBusy:
      return "Free them: --nmi-watchdog=off, or end the other profiler; or sample the CPU clock: -e "
             "cpu-clock.";
    case OpenFailure::kNoPmu:
      return "Sample the CPU clock instead: -e cpu-clock.";
    case OpenFailure::kTooManyFiles:
      return "Raise the limit of open files: ulimit -n 65536.";
    case OpenFailure::kMlockLimit:
      return "Raise it: echo 16384 > /proc/sys/kernel/perf_event_mlock_kb, or ulimit -l unlimited.";
    case OpenFailure::kRateTooHigh:
      return "Ask for less with -F, or raise /proc/sys/kernel/perf_event_max_sample_rate.";
    case OpenFailure::kNoTracefs:
      return "Mount it: mount -t tracefs nodev /sys/kernel/tracing.";
    case OpenFailure::kTracefsForbidden:
      return "As root: mount -o remount,mode=755 /sys/kernel/tracing (all users may read it then), or run "
             "ksamp as root.";
    default:
      return "";
  }
}

}  // namespace ksamp
