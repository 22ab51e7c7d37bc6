// SPDX-License-Identifier: Apache-2.0
// Where a recording goes: a file, a pipe, or memory.
//
//   KSAMP_ASSIGN_OR_RETURN(RecordingOutput output, OpenRecordingFile("ksamp.data"));
//   // ksamp.data.old is what ksamp.data was
//
// A file is new: 0600, and nothing is written through a symbolic link. What was there before gets the name
// PATH.old, so that a recording is never lost by typing the same line twice.
#ifndef KSAMP_LIB_RECORDER_RECORDING_OUTPUT_H_
#define KSAMP_LIB_RECORDER_RECORDING_OUTPUT_H_

#include <string>

#include "absl/status/statusor.h"
#include "lib/base/unique_fd.h"

namespace ksamp {

struct RecordingOutput {
  UniqueFd fd;
  std::string name;   // for people
  bool pipe = false;  // cannot seek: pipe format
};

// "-" is standard output. Devices and FIFOs that exist are opened as they are.
absl::StatusOr<RecordingOutput> OpenRecordingFile(const std::string& path);
absl::StatusOr<RecordingOutput> OpenRecordingInMemory();

}  // namespace ksamp

#endif  // KSAMP_LIB_RECORDER_RECORDING_OUTPUT_H_
