// SPDX-License-Identifier: Apache-2.0
// ReadFormat: perf_event_attr.read_format, taken apart once.
//
//   group:  u64 nr, [time_enabled], [time_running], nr × {value, [id], [lost]}
//   single: u64 value, [time_enabled], [time_running], [id], [lost]
#ifndef KSAMP_LIB_EVENT_READ_FORMAT_H_
#define KSAMP_LIB_EVENT_READ_FORMAT_H_

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>

namespace ksamp {

struct ReadFormat {
  explicit ReadFormat(uint64_t bits)
      : enabled(bits & PERF_FORMAT_TOTAL_TIME_ENABLED),
        running(bits & PERF_FORMAT_TOTAL_TIME_RUNNING),
        id(bits & PERF_FORMAT_ID),
        group(bits & PERF_FORMAT_GROUP),
        lost(bits & PERF_FORMAT_LOST) {}

  bool enabled, running, id, group, lost;

  size_t bytes_of_times() const { return 8u * (size_t{enabled} + size_t{running}); }
  // A value and what belongs to it alone.
  size_t bytes_per_value() const { return 8u * (1 + size_t{id} + size_t{lost}); }
  // All of a single counter's field.
  size_t single_bytes() const { return bytes_per_value() + bytes_of_times(); }
};

}  // namespace ksamp

#endif  // KSAMP_LIB_EVENT_READ_FORMAT_H_
