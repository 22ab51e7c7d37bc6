// SPDX-License-Identifier: Apache-2.0
// The first sweep of a report: the side records of a recording -> who was mapped where, and what was lost.
//
// Side records are few, so each is decoded whole. One that cannot be decoded is skipped and told in a note:
// the samples it would have named appear as unresolved rows. One thread.
#ifndef KSAMP_LIB_PROFILE_RECORDING_SWEEP_H_
#define KSAMP_LIB_PROFILE_RECORDING_SWEEP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksamp/perf_data.h"
#include "ksamp/profile.h"
#include "lib/process/process_table.h"

namespace ksamp {

struct SideRecordSweep {
  ProcessTable table;
  Losses losses;
  std::vector<std::string> notes;
};

// `timeless`: a record's place in the recording stands for its time. `read_formats`: of each event.
// `jit_dumps`: what those processes generated, when.
SideRecordSweep SweepSideRecords(const Recording& recording, bool timeless,
                                 const std::vector<uint64_t>& read_formats,
                                 const std::vector<JitDumpText>& jit_dumps = {});

// Those of the options, else those the recording holds.
std::vector<JitDumpText> JitDumpsFor(const Recording& recording, const ProfileOptions& options);

// File, machine, duration as recorded; notes about damage. `observed_ns`: from the first sample to the last.
ProfileFacts FactsOf(const Recording& recording, std::optional<uint64_t> observed_ns);

}  // namespace ksamp

#endif  // KSAMP_LIB_PROFILE_RECORDING_SWEEP_H_
