// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/sample_counter.h"

#include <linux/perf_event.h>

#include <algorithm>

#include "lib/profile/sample_walk.h"

namespace ksamp {
namespace {

constexpr uint64_t kKernelHalf = uint64_t{1} << 63;

}  // namespace

SampleCounter::SampleCounter(const CountingPlan& plan)
    : plan_(plan),
      single_event_(plan.events.size() == 1),
      cpu_matters_(plan.options->separate.cpu || !plan.options->cpus.empty()),
      comm_matters_(plan.options->separate.comm || !plan.options->comms.empty()),
      places_(*plan.table),
      last_kernel_place_(places_.start()),
      last_event_(plan.EventOfId(0)),
      tallies_(plan.events.size()),
      key_numbers_(plan) {
  contexts_.resize(kContexts, Context{.last_place = places_.start()});
}

void SampleCounter::CountChunk(const Recording::Chunk& chunk) {
  ForEachSample(chunk, [this](const std::byte* record, uint16_t size, uint16_t misc, uint64_t offset) {
    CountSample(record, size, misc, offset);
  });
  Flush();
}

// Several events are told apart by an id at one place, the same for all of them.
inline uint32_t SampleCounter::EventOf(const std::byte* record, size_t size) {
  const uint16_t id_at = plan_.events.front().layout.id_at();
  if (id_at == SampleLayout::kAbsent || size < size_t{id_at} + 8) return 0;
  const auto id = LoadAt<uint64_t>(record + id_at);
  if (id != last_id_) {
    last_event_ = plan_.EventOfId(id);
    last_id_ = id;
  }
  return last_event_;
}

inline void SampleCounter::CountSample(const std::byte* record, uint16_t size, uint16_t misc,
                                       uint64_t offset) {
  const uint32_t event = single_event_ ? 0 : EventOf(record, size);
  if (event == kNone32) [[unlikely]] {
    // It belongs to no event; the sum of all must hold, so the first one carries it.
    ++tallies_[0].taken;
    ++tallies_[0].dropped[static_cast<size_t>(DropCause::kUnknownEvent)];
    return;
  }
  const CountedEvent& plan = plan_.events[event];
  EventTally& tally = tallies_[event];
  ++tally.taken;
  if (size < plan.layout.fixed_size() || !plan.has_ip) [[unlikely]] {
    const DropCause cause = plan.has_ip ? DropCause::kMalformed : DropCause::kNoAddress;
    ++tally.dropped[static_cast<size_t>(cause)];
    return;
  }
  FixedSampleFields fields = plan.layout.ReadFixed(record);
  if (!plan.has_thread) fields.pid = fields.tid = kNone32;
  const uint64_t time = plan_.timeless ? offset : fields.time;
  first_time_ = std::min(first_time_, time);
  last_time_ = std::max(last_time_, time);

  Context& context = ContextOf(event, fields, time);
  FilterCause filter = context.filter;
  if (filter != FilterCause::kEvent && (time < plan_.begin_time || time >= plan_.end_time))
    filter = FilterCause::kTime;
  if (filter != FilterCause::kCount) [[unlikely]] {
    ++tally.filtered[static_cast<size_t>(filter)];
    return;
  }
  ++tally.counted;
  const uint64_t period = plan.has_period ? fields.period : plan.fixed_period;
  uint32_t mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
  if (mode == PERF_RECORD_MISC_CPUMODE_UNKNOWN)
    mode = fields.ip >= kKernelHalf ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
  if (mode == PERF_RECORD_MISC_KERNEL) {
    const Place& place = places_.At(last_kernel_place_, PlaceCache::kKernelEpoch, fields.ip, time);
    Count(context.kernel_key, place.image, fields.ip + place.delta, period);
  } else if (mode == PERF_RECORD_MISC_USER) {
    const Place& place = places_.At(context.last_place, context.epoch, fields.ip, time);
    Count(context.user_key, place.image, fields.ip + place.delta, period);
  } else {
    const bool hypervisor = mode == PERF_RECORD_MISC_HYPERVISOR;
    const auto reason = hypervisor ? UnresolvedReason::kHypervisor : UnresolvedReason::kGuest;
    Count(context.kernel_key, ReasonImage(reason), fields.ip, period);
  }
}

inline SampleCounter::Context& SampleCounter::ContextOf(uint32_t event, const FixedSampleFields& fields,
                                                        uint64_t time) {
  const uint32_t cpu = cpu_matters_ ? fields.cpu : 0;
  const uint32_t mix = (fields.tid + cpu * 37 + event * 101) * 0x9e3779b1u;
  Context& context = contexts_[mix >> 22];
  static_assert(kContexts == 1u << 10);
  const bool same = context.tid == fields.tid && context.pid == fields.pid && context.cpu == cpu &&
                    context.event == event && context.from <= time && time < context.until;
  if (!same) [[unlikely]] {
    context.event = event;
    context.pid = fields.pid;
    context.tid = fields.tid;
    context.cpu = cpu;
    FillContext(context, time);
  }
  return context;
}

void SampleCounter::FillContext(Context& context, uint64_t time) {
  const std::optional<ProcessState> state = plan_.table->StateAt(context.pid, time);
  std::optional<ThreadComm> comm;
  if (comm_matters_ || !state) comm = plan_.table->CommAt(context.tid, time);
  context.from = std::max(state ? state->from : 0, comm ? comm->from : 0);
  context.until = std::min(state ? state->until : kForever, comm ? comm->until : kForever);
  context.epoch = state ? state->epoch : kNone32;
  context.filter =
      plan_.FilterOf(context.event, context.cpu, context.pid, context.tid, comm ? &*comm : nullptr);
  if (context.filter != FilterCause::kCount) return;

  const KeyNumbers::Pair keys =
      key_numbers_.Of(context.event, context.pid, context.tid, context.cpu, state, comm);
  context.user_key = keys.user;
  context.kernel_key = keys.kernel;
}

inline void SampleCounter::Count(uint32_t key, uint32_t image, uint64_t address, uint64_t period) {
  Pending& pending = pending_[pending_count_];
  pending.hash = table_.Hash(key, image, address);
  pending.added = {.key = key, .image = image, .address = address, .counts = {1, period}};
  table_.Prefetch(pending.hash);
  if (++pending_count_ == kPending) Flush();
}

void SampleCounter::Flush() {
  for (size_t i = 0; i < pending_count_; ++i) table_.Add(pending_[i].hash, pending_[i].added);
  pending_count_ = 0;
}

}  // namespace ksamp
