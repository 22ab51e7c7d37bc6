// SPDX-License-Identifier: Apache-2.0
// EventSpec + sampling options -> perf_event_attr. Pure: every bit is tested on any machine.
#ifndef KSAMP_LIB_EVENT_ATTR_BUILDER_H_
#define KSAMP_LIB_EVENT_ATTR_BUILDER_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>

#include "ksamp/event_spec.h"

namespace ksamp {

// 4 000 a second is the usual rate; the nearest prime below keeps sampling out of step with the tick
// (decision 24).
inline constexpr uint64_t kDefaultRateHz = 3989;
inline constexpr uint64_t kDefaultClockPeriodNs = 250'689;

struct AttrOptions {
  std::optional<uint64_t> period;     // fixed period; else frequency
  std::optional<uint64_t> frequency;  // Hz, kernel-adapted
  bool callchain = false;             // -g
  uint16_t max_stack = 0;             // 0: kernel's default
  bool want_cpu = true;               // PERF_SAMPLE_CPU
  bool want_addr = false;
  bool inherit = false;         // children and new threads of the target
  bool enable_on_exec = false;  // start with the command's exec
  bool start_disabled = true;
  bool track_side_records = false;  // mmap2, comm, task, ksymbol, bpf… on this event (one per CPU or thread)
  bool build_id_in_mmap = true;
  bool context_switch = false;
  std::optional<int32_t> clockid;
  uint32_t wakeup_watermark = 0;  // bytes in the ring before poll() returns
};

// A sampling attr: IDENTIFIER|IP|TID|TIME[|CPU][|PERIOD in frequency mode][|CALLCHAIN], sample_id_all,
// read_format with ID and LOST. Tracepoints get RAW and period 1 unless told otherwise.
perf_event_attr BuildSamplingAttr(const EventSpec& spec, const AttrOptions& options);

// A counting attr: no samples; read_format TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID.
perf_event_attr BuildCountingAttr(const EventSpec& spec, const AttrOptions& options);

// True for events whose "period" is nanoseconds of a timer (cpu-clock, task-clock): idle is counted (design
// D6).
bool IsClockEvent(uint32_t type, uint64_t config);

}  // namespace ksamp

#endif  // KSAMP_LIB_EVENT_ATTR_BUILDER_H_
