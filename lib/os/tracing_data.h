// SPDX-License-Identifier: Apache-2.0
// ReadTracingData: what a reader needs to take the raw bytes of tracepoint samples apart.
//
//   KSAMP_ASSIGN_OR_RETURN(TracingData data, ReadTracingData(FindTracefs("/sys"), {314}));
//   preamble[perfdata::kTracingData] = data.bytes;
//
// perf.data carries copies of tracefs format files in trace-cmd's container, version 0.6; perf refuses
// recordings of tracepoints without it. Only the formats of the tracepoints asked for go in.
// Source: tools/perf/util/trace-event-info.c, the order of its writes.
#ifndef KSAMP_LIB_OS_TRACING_DATA_H_
#define KSAMP_LIB_OS_TRACING_DATA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ksamp {

// Where tracefs is below `sys_root`: its own mount point, else debugfs's. The first where there is none.
std::string FindTracefs(const std::string& sys_root);

struct TracingData {
  std::vector<std::byte> bytes;
  std::map<uint64_t, std::string> names;  // of the tracepoints asked for that this kernel has: "system:name"
};

// `ids`: perf_event_attr.config of the tracepoints. NotFound or PermissionDenied: no readable tracefs there.
absl::StatusOr<TracingData> ReadTracingData(const std::string& tracefs_root, std::span<const uint64_t> ids);

}  // namespace ksamp

#endif  // KSAMP_LIB_OS_TRACING_DATA_H_
