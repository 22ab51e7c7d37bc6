// SPDX-License-Identifier: Apache-2.0
// The feature sections that say where, how and with what loss a recording was made.
//
//   writer.preamble = DescribeOrigin({...});   // before the first sample: a killed recording has it too
//   writer.Close(DescribeRecording({...}));    // what only the end knows
#ifndef KSAMP_LIB_RECORDER_RECORDING_FACTS_H_
#define KSAMP_LIB_RECORDER_RECORDING_FACTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/os/sys_fs.h"
#include "lib/perfdata/writer.h"

namespace ksamp {

// A moment on the recording's clock and on the wall, so that samples can be dated.
struct ClockMoment {
  int32_t clockid = 0;
  uint64_t resolution_ns = 1, wall_ns = 0, clock_ns = 0;
};

// Where and how: known before the first sample.
struct RecordingOrigin {
  MachineFacts machine;
  std::vector<std::string> command_line;
  std::optional<ClockMoment> clock;
};

FeatureMap DescribeOrigin(const RecordingOrigin& origin);

// What came out.
struct RecordingDescription {
  std::optional<uint64_t> first_sample_time, last_sample_time;
  std::map<std::string, std::string> meta;
  std::map<std::string, uint64_t> counters;
};

FeatureMap DescribeRecording(const RecordingDescription& description);

// "monotonic", "monotonic_raw", "realtime", "boottime", "tai", or a number: the CLOCK_* constant.
absl::StatusOr<int32_t> ParseClockId(const std::string& name);
ClockMoment ReadClockMoment(int32_t clockid);

}  // namespace ksamp

#endif  // KSAMP_LIB_RECORDER_RECORDING_FACTS_H_
