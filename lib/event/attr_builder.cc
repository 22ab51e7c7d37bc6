// SPDX-License-Identifier: Apache-2.0
#include "lib/event/attr_builder.h"

#include <cstring>

#include "lib/event/perf_constants.h"

namespace ksamp {
namespace {

// What both kinds share: which event, whose work counts, how it starts and whom it follows.
perf_event_attr BuildCommonPart(const EventSpec& spec, const AttrOptions& options) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = spec.type;
  attr.config = spec.config;
  attr.config1 = spec.config1;
  attr.config2 = spec.config2;
  // By place: headers older than 6.3 have no such member, and the event parser refuses config3 with those.
  if constexpr (sizeof(attr) >= kAttrSizeVer8)
    std::memcpy(reinterpret_cast<std::byte*>(&attr) + kAttrConfig3At, &spec.config3, sizeof(spec.config3));
  attr.exclude_user = spec.exclude_user;
  attr.exclude_kernel = spec.exclude_kernel;
  attr.exclude_hv = spec.exclude_hv;
  attr.exclude_idle = spec.exclude_idle;
  attr.exclude_host = spec.exclude_host;
  attr.exclude_guest = spec.exclude_guest;
  attr.pinned = spec.pinned;
  attr.exclusive = spec.exclusive;
  attr.inherit = options.inherit;
  attr.disabled = options.start_disabled || options.enable_on_exec;
  attr.enable_on_exec = options.enable_on_exec;
  return attr;
}

// The event's own wish, then the options', then what suits its kind.
void ChooseRate(const EventSpec& spec, const AttrOptions& options, perf_event_attr& attr) {
  const auto fixed = [&](uint64_t period) { attr.sample_period = period; };
  const auto adapted = [&](uint64_t hertz) {
    attr.freq = 1;
    attr.sample_freq = hertz;
    attr.sample_type |= PERF_SAMPLE_PERIOD;  // each sample has a period of its own
  };
  if (spec.period) return fixed(*spec.period);
  if (spec.frequency) return adapted(*spec.frequency);
  if (options.period) return fixed(*options.period);
  if (options.frequency) return adapted(*options.frequency);
  if (spec.type == PERF_TYPE_TRACEPOINT) return fixed(1);
  if (IsClockEvent(spec.type, spec.config)) return fixed(kDefaultClockPeriodNs);
  adapted(kDefaultRateHz);
}

// Who maps, runs, forks, renames: needed once per CPU or thread, on the event that carries them.
void TrackSideRecords(const AttrOptions& options, perf_event_attr& attr) {
  attr.mmap = 1;
  attr.mmap2 = 1;
  attr.build_id = options.build_id_in_mmap;
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.task = 1;
  attr.ksymbol = 1;
  attr.bpf_event = 1;
}

}  // namespace

perf_event_attr BuildSamplingAttr(const EventSpec& spec, const AttrOptions& options) {
  perf_event_attr attr = BuildCommonPart(spec, options);
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  if (options.want_cpu) attr.sample_type |= PERF_SAMPLE_CPU;
  if (options.want_addr) attr.sample_type |= PERF_SAMPLE_ADDR;
  if (spec.type == PERF_TYPE_TRACEPOINT) attr.sample_type |= PERF_SAMPLE_RAW;
  attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
  if (spec.sample_read) {
    attr.sample_type |= PERF_SAMPLE_READ;
    attr.read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  }
  ChooseRate(spec, options, attr);
  attr.precise_ip = spec.precise_ip & 3;
  attr.sample_id_all = 1;
  if (options.callchain) {
    attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
    attr.sample_max_stack = options.max_stack;
  }
  if (options.track_side_records) TrackSideRecords(options, attr);
  attr.context_switch = options.context_switch;
  if (options.clockid) {
    attr.use_clockid = 1;
    attr.clockid = *options.clockid;
  }
  if (options.wakeup_watermark > 0) {
    attr.watermark = 1;
    attr.wakeup_watermark = options.wakeup_watermark;
  }
  return attr;
}

perf_event_attr BuildCountingAttr(const EventSpec& spec, const AttrOptions& options) {
  perf_event_attr attr = BuildCommonPart(spec, options);
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
  return attr;
}

bool IsClockEvent(uint32_t type, uint64_t config) {
  return type == PERF_TYPE_SOFTWARE &&
         (config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK);
}

}  // namespace ksamp
