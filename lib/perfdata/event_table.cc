// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/event_table.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/perfdata/field_reader.h"
#include "lib/perfdata/format.h"

namespace ksamp::perfdata {
namespace {

constexpr auto kHardwareNames = std::to_array<std::string_view>(
    {"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles",
     "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"});
constexpr auto kSoftwareNames = std::to_array<std::string_view>(
    {"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults",
     "major-faults", "alignment-faults", "emulation-faults", "dummy", "bpf-output", "cgroup-switches"});

// For files without EVENT_DESC, such as killed ones.
std::string NameByNumber(const perf_event_attr& attr) {
  if (attr.type == PERF_TYPE_HARDWARE && attr.config < kHardwareNames.size())
    return std::string(kHardwareNames[attr.config]);
  if (attr.type == PERF_TYPE_SOFTWARE && attr.config < kSoftwareNames.size())
    return std::string(kSoftwareNames[attr.config]);
  if (attr.type == PERF_TYPE_RAW) return "r" + StrCat(Hex(attr.config)).substr(2);
  if (attr.type == PERF_TYPE_TRACEPOINT) return StrCat("tracepoint ", attr.config);
  return StrCat("event type ", attr.type, " config ", Hex(attr.config));
}

EventDescription Describe(std::span<const std::byte> bytes) {
  perf_event_attr attr{};
  std::memcpy(&attr, bytes.data(), std::min(bytes.size(), sizeof(attr)));
  EventDescription event;
  event.name = NameByNumber(attr);
  event.type = attr.type;
  event.config = attr.config;
  event.sample_type = attr.sample_type;
  event.frequency_mode = attr.freq != 0;
  event.period_or_frequency = attr.sample_period;
  event.exclude_kernel = attr.exclude_kernel != 0;
  event.exclude_user = attr.exclude_user != 0;
  event.attr.assign(bytes.begin(), bytes.end());
  return event;
}

bool SameLayout(const SampleLayout& a, const SampleLayout& b) {
  return a.sample_type() == b.sample_type() && a.read_format() == b.read_format() &&
         a.branch_sample_type() == b.branch_sample_type() && a.sample_regs_user() == b.sample_regs_user() &&
         a.sample_regs_intr() == b.sample_regs_intr() && a.sample_id_all() == b.sample_id_all();
}

}  // namespace

absl::Status EventTable::Add(std::span<const std::byte> attr, std::vector<uint64_t> ids) {
  KSAMP_ASSIGN_OR_RETURN(SampleLayout layout, SampleLayout::FromAttr(attr));
  EventDescription event = Describe(attr);
  event.ids = std::move(ids);
  for (uint64_t id : event.ids) by_id_.try_emplace(id, events_.size());
  if (!layouts_.empty() && !SameLayout(layouts_.front(), layout)) uniform_ = false;
  layouts_.push_back(layout);
  events_.push_back(std::move(event));
  return absl::OkStatus();
}

std::optional<size_t> EventTable::FindId(uint64_t id) const {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return std::nullopt;
  return found->second;
}

std::optional<size_t> EventTable::EventOf(uint32_t type, std::span<const std::byte> record,
                                          bool foreign) const {
  if (events_.empty()) return std::nullopt;
  if (events_.size() == 1 || type >= kHeaderAttr) return 0;
  const SampleLayout& layout = layouts_.front();
  size_t at = 0;
  if (type == PERF_RECORD_SAMPLE) {
    if (layout.id_at() == SampleLayout::kAbsent) return 0;
    at = layout.id_at();
  } else {
    if (layout.id_from_end() == 0) return 0;
    if (record.size() < sizeof(perf_event_header) + layout.id_from_end()) return std::nullopt;
    at = record.size() - layout.id_from_end();
  }
  uint64_t id = 0;
  if (record.size() < at + sizeof(id)) return std::nullopt;
  std::memcpy(&id, record.data() + at, sizeof(id));
  if (id == 0) return 0;
  return FindId(foreign ? SwapBytes(id) : id);
}

const SampleLayout* EventTable::LayoutOf(uint32_t type, std::span<const std::byte> record,
                                         bool foreign) const {
  const std::optional<size_t> event = EventOf(type, record, foreign);
  if (event) return &layouts_[*event];
  if (uniform_ && !layouts_.empty()) return &layouts_.front();
  return nullptr;
}

}  // namespace ksamp::perfdata
