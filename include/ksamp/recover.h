// SPDX-License-Identifier: Apache-2.0
// RecoverRecording: a recording that was never finished -> one that is, which perf reads too.
//
//   absl::StatusOr<Recording> recording = Recording::Open("perf.data");
//   absl::StatusOr<Recovery> recovery = RecoverRecording(*recording, "recovered.data");
//   if (recovery->bytes_dropped != 0) …
//
// A recorder that was killed leaves the size of its data at zero and no feature table, a full disk or a copy
// cut short leaves half a record at the end. ksamp reports both as they are; perf refuses them. The new file
// has a final header, every sound record, and the features that the old one or its records tell: nothing is
// guessed, and nothing of this machine is put in but the formats of tracepoints (`sys_root`), which perf
// cannot do without. Compressed, piped and foreign input comes out plain, in this machine's byte order.
#ifndef KSAMP_RECOVER_H_
#define KSAMP_RECOVER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ksamp/export.h"
#include "ksamp/perf_data.h"

namespace ksamp {

struct RecoverOptions {
  // Where the formats of tracepoints are looked for, if the recording has tracepoint events; empty: nowhere.
  std::string sys_root = "/sys";
};

struct Recovery {
  uint64_t records = 0, samples = 0;  // kept
  uint64_t bytes_kept = 0;            // of records
  uint64_t bytes_dropped = 0;         // damaged or cut
  std::vector<std::string> notes;     // what is missing and why, for people
};

// AlreadyExists: `output` is the recording itself. Other errors: of opening or writing `output`.
KSAMP_EXPORT absl::StatusOr<Recovery> RecoverRecording(const Recording& recording, const std::string& output,
                                                       const RecoverOptions& options = {});

}  // namespace ksamp

#endif  // KSAMP_RECOVER_H_
