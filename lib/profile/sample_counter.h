// SPDX-License-Identifier: Apache-2.0
// SampleCounter: the second sweep of a report. Samples in, counts per (key, image, address) out.
//
// One counter per thread, any chunk to any counter. What all counters share is prepared once and read-only: a
// CountingPlan. A sample costs a few loads (SampleLayout::ReadFixed), two small caches — who is (pid, tid,
// cpu) now; what is mapped here: first where this thread was last, then a table by (process, page) — and one
// addition to a CountingTable, made some samples later so that its slot is in the cache by then. Nothing is
// allocated per sample.
//
//   const CountingPlan plan = …;                   // lib/profile/counting_plan.h
//   SampleCounter counter(plan);
//   counter.CountChunk(chunk);
//   counter.table(), counter.key_numbers(), counter.tallies()
#ifndef KSAMP_LIB_PROFILE_SAMPLE_COUNTER_H_
#define KSAMP_LIB_PROFILE_SAMPLE_COUNTER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "ksamp/perf_data.h"
#include "ksamp/profile.h"
#include "lib/process/process_table.h"
#include "lib/profile/counting_plan.h"
#include "lib/profile/counting_table.h"
#include "lib/profile/key_numbers.h"
#include "lib/profile/place_cache.h"

namespace ksamp {

class SampleCounter {
 public:
  explicit SampleCounter(const CountingPlan& plan);

  void CountChunk(const Recording::Chunk& chunk);

  const CountingTable& table() const { return table_; }
  void FreeTable() { table_ = CountingTable(); }
  // CountedAddress::key is an index into its keys.
  const KeyNumbers& key_numbers() const { return key_numbers_; }
  const std::vector<EventTally>& tallies() const { return tallies_; }
  uint64_t first_time() const { return first_time_; }
  uint64_t last_time() const { return last_time_; }

 private:
  // A thread on a CPU during [from, until): which keys its samples get, or which filter takes them.
  struct Context {
    uint32_t event = kNone32, pid = 0, tid = 0, cpu = 0;
    uint64_t from = 1, until = 0;
    uint32_t epoch = 0;  // kNone32: unknown process
    uint32_t user_key = 0, kernel_key = 0;
    FilterCause filter = FilterCause::kCount;
    const Place* last_place = nullptr;  // into places_: where its last user sample was; whoever's it is now
  };
  struct Pending {
    uint64_t hash = 0;
    CountedAddress added;
  };
  static constexpr size_t kContexts = 1024, kPending = 32;

  void CountSample(const std::byte* record, uint16_t size, uint16_t misc, uint64_t offset);
  uint32_t EventOf(const std::byte* record, size_t size);
  Context& ContextOf(uint32_t event, const FixedSampleFields& fields, uint64_t time);
  void FillContext(Context& context, uint64_t time);
  void Count(uint32_t key, uint32_t image, uint64_t address, uint64_t period);
  void Flush();

  const CountingPlan& plan_;
  const bool single_event_;
  const bool cpu_matters_, comm_matters_;
  CountingTable table_;
  std::vector<Context> contexts_;
  PlaceCache places_;
  const Place* last_kernel_place_;
  uint64_t last_id_ = 0;  // its event is last_event_: samples of one ring share their id, and come in a row
  uint32_t last_event_;
  std::array<Pending, kPending> pending_ = {};
  size_t pending_count_ = 0;
  std::vector<EventTally> tallies_;
  KeyNumbers key_numbers_;
  uint64_t first_time_ = std::numeric_limits<uint64_t>::max(), last_time_ = 0;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_PROFILE_SAMPLE_COUNTER_H_
