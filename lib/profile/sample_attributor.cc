// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/sample_attributor.h"

#include <linux/perf_event.h>

#include <algorithm>

#include "lib/event/callchain.h"
#include "lib/event/record_decoder.h"

namespace ksamp {
namespace {

constexpr uint64_t kKernelHalf = uint64_t{1} << 63;

CpuMode ModeOf(uint16_t misc, uint64_t ip) {
  const auto mode = static_cast<CpuMode>(misc & PERF_RECORD_MISC_CPUMODE_MASK);
  if (mode != CpuMode::kUnknown) return mode;
  return ip >= kKernelHalf ? CpuMode::kKernel : CpuMode::kUser;
}

}  // namespace

SampleAttributor::SampleAttributor(const CountingPlan& plan)
    : plan_(plan),
      cpu_matters_(plan.options->separate.cpu || !plan.options->cpus.empty()),
      places_(*plan.table),
      last_kernel_place_(places_.start()),
      tallies_(plan.events.size()),
      key_numbers_(plan) {
  contexts_.resize(kContexts, Context{.last_place = places_.start()});
}

bool SampleAttributor::Attribute(const std::byte* record, uint16_t size, uint16_t misc, uint64_t offset) {
  const uint32_t event = plan_.EventOf(record, size);
  EventTally& tally = tallies_[event == kNone32 ? 0 : event];
  const auto drop = [&tally](DropCause cause) {
    ++tally.dropped[static_cast<size_t>(cause)];
    return false;
  };
  ++tally.taken;
  if (event == kNone32) [[unlikely]]
    return drop(DropCause::kUnknownEvent);
  event_ = event;
  const CountedEvent& plan = plan_.events[event];
  if (size < plan.layout.fixed_size()) [[unlikely]]
    return drop(DropCause::kMalformed);
  if (!plan.has_ip) [[unlikely]]
    return drop(DropCause::kNoAddress);
  fields_ = plan.layout.ReadFixed(record);
  if (!plan.has_thread) fields_.pid = fields_.tid = kNone32;
  const uint64_t time = plan_.timeless ? offset : fields_.time;
  first_time_ = std::min(first_time_, time);
  last_time_ = std::max(last_time_, time);

  Context& context = ContextOf(time);
  FilterCause filter = context.filter;
  if (filter != FilterCause::kEvent && (time < plan_.begin_time || time >= plan_.end_time))
    filter = FilterCause::kTime;
  if (filter != FilterCause::kCount) [[unlikely]] {
    ++tally.filtered[static_cast<size_t>(filter)];
    return false;
  }
  const auto chain = ChainOf({.type = PERF_RECORD_SAMPLE, .misc = misc, .bytes = {record, size}});
  if (!chain) [[unlikely]]
    return drop(DropCause::kMalformed);
  ++tally.counted;
  comm_ = context.comm;
  const CpuMode mode = ModeOf(misc, fields_.ip);
  key_ = mode == CpuMode::kUser ? context.keys.user : context.keys.kernel;
  PlaceFrames(context, *chain, mode, time);
  return true;
}

void SampleAttributor::PlaceFrames(Context& context, std::span<const uint64_t> chain, CpuMode mode,
                                   uint64_t time) {
  frames_.clear();
  ForEachCallchainAddress(chain, mode, [&](CpuMode at, uint64_t ip, bool is_return_address) {
    Place(context, at, ip, is_return_address, time);
  });
  if (frames_.empty()) Place(context, mode, fields_.ip, false, time);
  leaf_ = frames_.front();
  if (leaf_.ip == fields_.ip && leaf_.mode == mode) return;
  Place(context, mode, fields_.ip, false, time);
  leaf_ = frames_.back();
  frames_.pop_back();
}

inline SampleAttributor::Context& SampleAttributor::ContextOf(uint64_t time) {
  const uint32_t cpu = cpu_matters_ ? fields_.cpu : 0;
  const uint32_t mix = (fields_.tid + cpu * 37 + event_ * 101) * 0x9e3779b1u;
  Context& context = contexts_[mix >> 22];
  static_assert(kContexts == 1u << 10);
  const bool same = context.tid == fields_.tid && context.pid == fields_.pid && context.cpu == cpu &&
                    context.event == event_ && context.from <= time && time < context.until;
  if (!same) [[unlikely]] {
    context.event = event_;
    context.pid = fields_.pid;
    context.tid = fields_.tid;
    context.cpu = cpu;
    FillContext(context, time);
  }
  return context;
}

void SampleAttributor::FillContext(Context& context, uint64_t time) {
  const std::optional<ProcessState> state = plan_.table->StateAt(context.pid, time);
  const std::optional<ThreadComm> comm = plan_.table->CommAt(context.tid, time);
  context.from = std::max(state ? state->from : 0, comm ? comm->from : 0);
  context.until = std::min(state ? state->until : kForever, comm ? comm->until : kForever);
  context.epoch = state ? state->epoch : PlaceCache::kUnknownEpoch;
  context.comm =
      comm ? plan_.table->names().Get(comm->name) : unnamed_.Get(unnamed_.Intern(UnnamedThread(context.tid)));
  context.filter =
      plan_.FilterOf(context.event, context.cpu, context.pid, context.tid, comm ? &*comm : nullptr);
  if (context.filter == FilterCause::kCount)
    context.keys = key_numbers_.Of(context.event, context.pid, context.tid, context.cpu, state, comm);
}

std::optional<std::span<const uint64_t>> SampleAttributor::ChainOf(const RawRecord& raw) const {
  const SampleLayout& layout = event_plan().layout;
  if ((layout.sample_type() & PERF_SAMPLE_CALLCHAIN) == 0) return std::span<const uint64_t>();
  const auto address = reinterpret_cast<uintptr_t>(raw.bytes.data());
  const bool in_place = (layout.sample_type() & PERF_SAMPLE_READ) == 0 && address % alignof(uint64_t) == 0;
  if (!in_place) {
    const absl::StatusOr<Record> decoded = DecodeRecord(raw, layout);
    if (!decoded.ok()) return std::nullopt;
    return std::get<SampleRecord>(decoded->body).callchain;
  }
  // The chain comes first behind the fixed fields.
  const std::span<const std::byte> rest = raw.bytes.subspan(layout.fixed_size());
  if (rest.size() < sizeof(uint64_t)) return std::nullopt;
  const uint64_t count = LoadAt<uint64_t>(rest.data());
  if (count > rest.size() / sizeof(uint64_t) - 1) return std::nullopt;
  const auto* first = reinterpret_cast<const uint64_t*>(rest.data()) + 1;
  return std::span(first, static_cast<size_t>(count));
}

inline void SampleAttributor::Place(Context& context, CpuMode mode, uint64_t ip, bool is_return_address,
                                    uint64_t time) {
  PlacedFrame frame{.ip = ip,
                    .address = is_return_address ? ip - 1 : ip,
                    .mode = mode,
                    .is_return_address = is_return_address};
  if (mode == CpuMode::kKernel || mode == CpuMode::kUser) {
    const bool kernel = mode == CpuMode::kKernel;
    const ksamp::Place& place =
        kernel ? places_.At(last_kernel_place_, PlaceCache::kKernelEpoch, frame.address, time)
               : places_.At(context.last_place, context.epoch, frame.address, time);
    frame.image = place.image;
    frame.address += place.delta;
  } else {
    frame.image =
        ReasonImage(mode == CpuMode::kHypervisor ? UnresolvedReason::kHypervisor : UnresolvedReason::kGuest);
  }
  frames_.push_back(frame);
}

}  // namespace ksamp
