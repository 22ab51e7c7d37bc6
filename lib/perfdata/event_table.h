// SPDX-License-Identifier: Apache-2.0
// EventTable: the events of a recording, their layouts, and which of them a record belongs to.
//
// A record names its event by id: IDENTIFIER at the start of a sample and at the end of any other record, or
// ID at a place that sample_type fixes and that all events must share. One event needs no id. Records that
// perf synthesised carry id 0 and count as the first event's, as in perf.
//
// Const use from several threads is fine.
#ifndef KSAMP_LIB_PERFDATA_EVENT_TABLE_H_
#define KSAMP_LIB_PERFDATA_EVENT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "ksamp/perf_data.h"
#include "lib/event/sample_layout.h"

namespace ksamp::perfdata {

class EventTable {
 public:
  // `attr` in host byte order. InvalidArgument: shorter than the first version of the struct.
  absl::Status Add(std::span<const std::byte> attr, std::vector<uint64_t> ids);

  const std::vector<EventDescription>& events() const { return events_; }
  const SampleLayout& layout(size_t event) const { return layouts_[event]; }
  void SetName(size_t event, std::string name) { events_[event].name = std::move(name); }
  // The event that lists `id`.
  std::optional<size_t> FindId(uint64_t id) const;

  // `foreign`: the record is still in the other byte order, except its header.
  std::optional<size_t> EventOf(uint32_t type, std::span<const std::byte> record, bool foreign = false) const;
  // The layout to decode a record by: its event's; where that is unknown, the one all events share.
  const SampleLayout* LayoutOf(uint32_t type, std::span<const std::byte> record, bool foreign = false) const;

 private:
  std::vector<EventDescription> events_;
  std::vector<SampleLayout> layouts_;
  absl::flat_hash_map<uint64_t, size_t> by_id_;
  bool uniform_ = true;  // every event has the first one's layout
};

}  // namespace ksamp::perfdata

#endif  // KSAMP_LIB_PERFDATA_EVENT_TABLE_H_
