// SPDX-License-Identifier: Apache-2.0
// Which recording a command reads, and what is to be said about its state: the same in all commands.
#ifndef KSAMP_TOOLS_RECORDING_INPUT_H_
#define KSAMP_TOOLS_RECORDING_INPUT_H_

#include <string>

#include "absl/status/statusor.h"
#include "ksamp/perf_data.h"
#include "ksamp/profile.h"
#include "tools/world.h"

namespace ksamp {

// `given` (-i), else ksamp.data, else perf.data (said on stderr). The error says how to make one.
absl::StatusOr<std::string> FindRecording(World& world, const std::string& given);

// Damage and an unfinished recorder, on stderr. True where records are missing.
bool WarnOfDamage(World& world, const Recording& recording);

// --time: "A,B", "A," or ",B".
absl::StatusOr<TimeRange> ParseTimeRange(const std::string& text);

}  // namespace ksamp

#endif  // KSAMP_TOOLS_RECORDING_INPUT_H_
