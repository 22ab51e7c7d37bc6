// SPDX-License-Identifier: Apache-2.0
// StreamDescription: what a recording says about itself in records rather than in its head.
//
// A piped recording has no attrs and feature sections; HEADER_ATTR, HEADER_FEATURE, HEADER_BUILD_ID,
// HEADER_TRACING_DATA and EVENT_UPDATE stand between its records instead. Files may hold EVENT_UPDATE too.
#ifndef KSAMP_LIB_PERFDATA_STREAM_DESCRIPTION_H_
#define KSAMP_LIB_PERFDATA_STREAM_DESCRIPTION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ksamp/perf_data.h"
#include "lib/perfdata/event_table.h"

namespace ksamp::perfdata {

class StreamDescription {
 public:
  // `piped`: attrs and features are taken from records; else they are the head's and such records are left.
  StreamDescription(bool piped, bool foreign) : piped_(piped), foreign_(foreign) {}

  // True for the kinds Take() reads.
  static bool Describes(uint32_t type);
  // `record` as in the file: a foreign one not yet turned round, its header fields apart. DataLoss: damaged.
  absl::Status Take(const RawRecord& record, std::span<const std::byte> trailing);

  EventTable events;
  std::map<unsigned, std::vector<std::byte>> features;
  std::vector<BuildIdEntry> build_ids;
  std::map<uint64_t, std::string> names;  // by event id

 private:
  absl::Status TakeAttr(const RawRecord& record);
  absl::Status TakeFeature(const RawRecord& record);
  absl::Status TakeUpdate(const RawRecord& record);

  bool piped_, foreign_;
};

}  // namespace ksamp::perfdata

#endif  // KSAMP_LIB_PERFDATA_STREAM_DESCRIPTION_H_
