// SPDX-License-Identifier: Apache-2.0
// SampleCounter: the second sweep of a report. Samples in, counts per (key, image, address) out.
//
// One counter per thread, any chunk to any counter. What all counters share is prepared once and read-only: a
// CountingPlan. A sample costs a few loads (SampleLayout::ReadFixed), two small caches — who is (pid, tid,
// cpu) now; what is mapped here: first where this thread was last, then a table by (process, page) — and one
// addition to a CountingTable, made some samples later so that its slot is in the cache by then. Nothing is
// allocated per sample.
//
//   const CountingPlan plan = …;
//   SampleCounter counter(plan);
//   counter.CountChunk(chunk);
//   counter.table(), counter.keys(), counter.tallies()
#ifndef KSAMP_LIB_PROFILE_SAMPLE_COUNTER_H_
#define KSAMP_LIB_PROFILE_SAMPLE_COUNTER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ksamp/perf_data.h"
#include "ksamp/profile.h"
#include "lib/base/string_pool.h"
#include "lib/event/sample_layout.h"
#include "lib/process/process_table.h"
#include "lib/profile/counting_table.h"

namespace ksamp {

// Image numbers above those of the ProcessTable: addresses that no mapping explains, by reason.
inline constexpr uint32_t kFirstReasonImage = kNone32 - 32;
inline constexpr uint32_t kKernelWithoutMap =
    kFirstReasonImage - 1;  // kernel mode, and no record told its map
inline uint32_t ReasonImage(UnresolvedReason reason) {
  return kFirstReasonImage + static_cast<uint32_t>(reason);
}

// How the samples of one event are read.
struct CountedEvent {
  SampleLayout layout;
  bool has_ip = false, has_thread = false, has_cpu = false, has_period = false;
  uint64_t fixed_period = 1;
  bool clock = false;
  bool selected = true;  // by ProfileOptions::events
};

struct CountingPlan {
  const ProcessTable* table = nullptr;
  const ProfileOptions* options = nullptr;
  std::vector<CountedEvent> events;
  absl::flat_hash_map<uint64_t, uint32_t> event_of_id;
  bool timeless = false;  // a record's place in the recording stands for its time
  // Of ProfileOptions::time, in the recording's clock.
  uint64_t begin_time = 0, end_time = std::numeric_limits<uint64_t>::max();
};

// kCount: how many there are; for a sample: none.
enum class FilterCause : uint8_t { kEvent, kTime, kCpu, kPid, kTid, kComm, kCount };
enum class DropCause : uint8_t { kMalformed, kNoAddress, kUnknownEvent, kCount };
std::string_view Text(FilterCause cause);
std::string_view Text(DropCause cause);

// Where the samples of one event went.
struct EventTally {
  uint64_t taken = 0, counted = 0;
  std::array<uint64_t, static_cast<size_t>(FilterCause::kCount)> filtered = {};
  std::array<uint64_t, static_cast<size_t>(DropCause::kCount)> dropped = {};
};

class SampleCounter {
 public:
  explicit SampleCounter(const CountingPlan& plan);

  void CountChunk(const Recording::Chunk& chunk);

  const CountingTable& table() const { return table_; }
  void FreeTable() { table_ = CountingTable(); }
  // CountedAddress::key is an index into this; names in it are ids of names().
  const std::vector<ProfileKey>& keys() const { return keys_; }
  std::string_view Name(uint32_t id) const;
  const std::vector<EventTally>& tallies() const { return tallies_; }
  uint64_t first_time() const { return first_time_; }
  uint64_t last_time() const { return last_time_; }

 private:
  // What lies at [start, end) of an address space during [from, until).
  struct Place {
    uint32_t epoch = kNone32 - 1;
    uint32_t image = 0;
    uint64_t start = 1, end = 0, from = 0, until = 0;
    uint64_t delta = 0;  // address = ip + delta, modulo 2^64
    bool Covers(uint32_t space, uint64_t ip, uint64_t time) const {
      return epoch == space && start <= ip && ip < end && from <= time && time < until;
    }
  };
  // A thread on a CPU during [from, until): which keys its samples get, or which filter takes them.
  struct Context {
    uint32_t event = kNone32, pid = 0, tid = 0, cpu = 0;
    uint64_t from = 1, until = 0;
    uint32_t epoch = 0;  // kNone32: unknown process
    uint32_t user_key = 0, kernel_key = 0;
    FilterCause filter = FilterCause::kCount;
    const Place* last_place = nullptr;  // into places_: where its last user sample was; whoever's it is now
  };
  using KeyTuple = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, bool>;
  struct Pending {
    uint64_t hash = 0;
    CountedAddress added;
  };
  static constexpr uint32_t kKernelEpoch = kNone32 - 2;
  static constexpr size_t kContexts = 1024, kPlaces = 4096, kPending = 32;

  void CountSample(const std::byte* record, uint16_t size, uint16_t misc, uint64_t offset);
  uint32_t EventOf(const std::byte* record, size_t size);
  uint32_t EventOfId(uint64_t id) const;
  Context& ContextOf(uint32_t event, const FixedSampleFields& fields, uint64_t time);
  void FillContext(Context& context, uint64_t time);
  FilterCause FilterOf(const Context& context, const ThreadComm* comm) const;
  const Place& PlaceOf(const Place*& last, uint32_t epoch, uint64_t ip, uint64_t time);
  void FillPlace(Place& place, uint64_t ip, uint64_t time) const;
  void Count(uint32_t key, uint32_t image, uint64_t address, uint64_t period);
  void Flush();
  uint32_t InternKey(const ProfileKey& key);
  uint32_t ExtraName(const std::string& text);

  const CountingPlan& plan_;
  const bool single_event_;
  const bool cpu_matters_, comm_matters_;
  CountingTable table_;
  std::vector<Context> contexts_;
  std::vector<Place> places_;
  const Place* last_kernel_place_;
  uint64_t last_id_ = 0;  // its event is last_event_: samples of one ring share their id, and come in a row
  uint32_t last_event_;
  std::array<Pending, kPending> pending_ = {};
  size_t pending_count_ = 0;
  std::vector<EventTally> tallies_;
  std::vector<ProfileKey> keys_;
  absl::flat_hash_map<KeyTuple, uint32_t> key_ids_;
  StringPool extra_names_;  // ids from table names().size() on
  uint64_t first_time_ = std::numeric_limits<uint64_t>::max(), last_time_ = 0;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_PROFILE_SAMPLE_COUNTER_H_
