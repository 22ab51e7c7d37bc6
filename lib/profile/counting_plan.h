// SPDX-License-Identifier: Apache-2.0
// CountingPlan: what every thread that walks over the samples shares, prepared once and read-only.
//
//   KSAMP_ASSIGN_OR_RETURN(CountingPlan plan, PlanCounting(recording, options, threads));
//   plan.table = &side.table;                      // the first sweep's answer
//   const uint32_t event = plan.EventOf(record, size);
#ifndef KSAMP_LIB_PROFILE_COUNTING_PLAN_H_
#define KSAMP_LIB_PROFILE_COUNTING_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "ksamp/perf_data.h"
#include "ksamp/profile.h"
#include "lib/event/sample_layout.h"
#include "lib/process/process_table.h"
#include "lib/profile/sample_walk.h"

namespace ksamp {

// How the samples of one event are read.
struct CountedEvent {
  SampleLayout layout;
  bool has_ip = false, has_thread = false, has_cpu = false, has_period = false;
  uint64_t fixed_period = 1;
  bool clock = false;
  bool selected = true;  // by ProfileOptions::events
  bool has_callchain = false;
  uint16_t max_stack = 0;  // a chain of this many addresses may have been cut
};

// kCount: how many there are; for a sample: none.
enum class FilterCause : uint8_t { kEvent, kTime, kCpu, kPid, kTid, kComm, kCount };
enum class DropCause : uint8_t { kMalformed, kNoAddress, kUnknownEvent, kCount };
std::string_view Text(FilterCause cause);
std::string_view Text(DropCause cause);

// ":TID", what perf prints for a thread that no record named. The kernel gives -1 for a thread that has ended
// while it still runs.
std::string UnnamedThread(uint32_t tid);

struct CountingPlan {
  const ProcessTable* table = nullptr;
  const ProfileOptions* options = nullptr;
  std::vector<CountedEvent> events;
  absl::flat_hash_map<uint64_t, uint32_t> event_of_id;
  bool timeless = false;  // a record's place in the recording stands for its time
  // Of ProfileOptions::time, in the recording's clock.
  uint64_t begin_time = 0, end_time = std::numeric_limits<uint64_t>::max();

  // Several events are told apart by an id at one place, the same for all of them. kNone32: nobody's id.
  uint32_t EventOf(const std::byte* record, size_t size) const {
    if (events.size() == 1) return 0;
    const uint16_t id_at = events.front().layout.id_at();
    if (id_at == SampleLayout::kAbsent || size < size_t{id_at} + 8) return 0;
    return EventOfId(LoadAt<uint64_t>(record + id_at));
  }
  uint32_t EventOfId(uint64_t id) const {
    const auto it = event_of_id.find(id);
    return it == event_of_id.end() ? kNone32 : it->second;
  }
  // The filter that takes samples of this thread, all but the one by time; kCount: none. `comm` null: no
  // record named the thread.
  FilterCause FilterOf(uint32_t event, uint32_t cpu, uint32_t pid, uint32_t tid,
                       const ThreadComm* comm) const;
  std::vector<uint64_t> ReadFormats() const;
};

// Where the samples of one event went.
struct EventTally {
  uint64_t taken = 0, counted = 0;
  std::array<uint64_t, static_cast<size_t>(FilterCause::kCount)> filtered = {};
  std::array<uint64_t, static_cast<size_t>(DropCause::kCount)> dropped = {};

  void AddTo(Conservation& sum) const;
};

// InvalidArgument: what ProfileOptions asks for and the recording cannot answer. `options` must outlive the
// plan.
absl::StatusOr<CountingPlan> PlanCounting(const Recording& recording, const ProfileOptions& options,
                                          unsigned threads);

// Build-ids that perf found when it ended, for images whose records brought none.
void AddBuildIds(const Recording& recording, std::vector<Image>& images);

}  // namespace ksamp

#endif  // KSAMP_LIB_PROFILE_COUNTING_PLAN_H_
