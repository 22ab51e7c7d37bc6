// SPDX-License-Identifier: Apache-2.0
// What ksamp says when something goes wrong or is worth knowing, on stderr, and the exit code that goes with
// it.
//
//   if (!recording.ok()) return Fail(world, recording.status(), kExitNothing);
//   if (!recorder.ok()) return Fail(world, recorder.status(), kExitOwnFailure, RemedyFor(FailureOf(...)));
//
//   ksamp: open perf events: the kernel forbids it (perf_event_paranoid is 3)
//          As root: echo 1 > /proc/sys/kernel/perf_event_paranoid, or run ksamp as root.
//
// The library only returns statuses; remedies live here (design §6). Text is escaped: it may hold names from
// a recording.
#ifndef KSAMP_TOOLS_DIAGNOSTICS_H_
#define KSAMP_TOOLS_DIAGNOSTICS_H_

#include <string_view>

#include "absl/status/status.h"
#include "ksamp/recorder.h"
#include "tools/world.h"

namespace ksamp {

// "ksamp: TEXT" on stderr; further lines of TEXT are indented below the first.
void Say(World& world, std::string_view text);

// Says the status's message and, below it, `remedy` where there is one. Returns `exit_code`. A reader that
// went away (EPIPE) is nobody's mistake: nothing is said and the result is kExitShown.
int Fail(World& world, const absl::Status& status, int exit_code, std::string_view remedy = "");

// What to do about a recorder that could not open its events; empty where the message says it all.
std::string_view RemedyFor(OpenFailure failure);

}  // namespace ksamp

#endif  // KSAMP_TOOLS_DIAGNOSTICS_H_
