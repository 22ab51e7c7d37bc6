// SPDX-License-Identifier: Apache-2.0
// EventProbe: does an event that opens really work? Some virtual machines offer a PMU that counts nothing,
// others one that counts and never interrupts; both open without complaint.
//
//   ProbeResult result = ProbeEvent(kernel, attr, {});
//   if (result.outcome == ProbeOutcome::kSilent) …
//
// Opens the event on the calling thread, works until a sample has arrived, at most 10 ms of CPU time, and
// looks at counter and ring.
#ifndef KSAMP_LIB_RECORDER_EVENT_PROBE_H_
#define KSAMP_LIB_RECORDER_EVENT_PROBE_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "lib/os/perf_kernel.h"

namespace ksamp {

enum class ProbeOutcome {
  kWorks,
  kRefused,         // `refusal` says why
  kCountsNothing,   // opens, and its counter stays zero
  kDeliversNothing  // counts, and no sample arrives
};

struct ProbeResult {
  ProbeOutcome outcome = ProbeOutcome::kRefused;
  absl::Status refusal;
  double counts_per_second = 0;  // of CPU time, where it counts
};

// `attr` as it will be recorded; period, ring and inheritance are the probe's own. `cpus`: of the event's
// PMU, empty for all; the thread works there and returns to where it may run.
ProbeResult ProbeEvent(PerfKernel& kernel, perf_event_attr attr, const std::vector<int>& cpus);

}  // namespace ksamp

#endif  // KSAMP_LIB_RECORDER_EVENT_PROBE_H_
