// SPDX-License-Identifier: Apache-2.0
// Opening an event on a kernel that may be older than our wishes.
//
// A kernel refuses a perf_event_attr that holds a bit it does not know (EINVAL, or E2BIG where the struct has
// grown since), and does not say which one. OpenDegrading leaves wishes out one by one, the youngest first,
// until the event opens. What was left out stays out of `attr`, so the same attr opens on the other CPUs at
// once.
//
//   perf_event_attr attr = BuildSamplingAttr(spec, options);
//   std::vector<std::string_view> left_out;
//   absl::StatusOr<UniqueFd> fd = OpenDegrading(kernel, attr, pid, cpu, -1, &left_out);
//
// Only wishes a recording can do without are in the table; what the user asked for by name is never left out.
#ifndef KSAMP_LIB_RECORDER_EVENT_OPENER_H_
#define KSAMP_LIB_RECORDER_EVENT_OPENER_H_

#include <linux/perf_event.h>
#include <sys/types.h>

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/os/perf_kernel.h"

namespace ksamp {

// The names of what was left out are appended to `left_out`. If nothing helps, `attr` is as it was and the
// error is the first one.
absl::StatusOr<UniqueFd> OpenDegrading(PerfKernel& kernel, perf_event_attr& attr, pid_t pid, int cpu,
                                       int group_fd, std::vector<std::string_view>* left_out);

}  // namespace ksamp

#endif  // KSAMP_LIB_RECORDER_EVENT_OPENER_H_
