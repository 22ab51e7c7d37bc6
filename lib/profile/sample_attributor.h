// SPDX-License-Identifier: Apache-2.0
// SampleAttributor: one sample -> who it was of, and which image lies at each of its addresses.
//
//   SampleAttributor attributor(plan);
//   if (attributor.Attribute(record, size, misc, offset))
//     attributor.comm(), attributor.fields(), attributor.frames()
//
// A sample that a filter takes or that cannot be read is tallied by cause and Attribute says false. Nothing
// is allocated per sample. One per thread; samples in any order. Views live until the next call, texts as
// long as the attributor.
#ifndef KSAMP_LIB_PROFILE_SAMPLE_ATTRIBUTOR_H_
#define KSAMP_LIB_PROFILE_SAMPLE_ATTRIBUTOR_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ksamp/record.h"
#include "lib/base/string_pool.h"
#include "lib/event/sample_layout.h"
#include "lib/profile/counting_plan.h"
#include "lib/profile/key_numbers.h"
#include "lib/profile/place_cache.h"

namespace ksamp {

// One address of a sample. `address` is what a symbolizer is asked for in `image` (ksamp/symbolizer.h): of a
// return address, the byte before.
struct PlacedFrame {
  uint64_t ip = 0, address = 0;
  uint32_t image = 0;  // of the ProcessTable, or above its numbers (place_cache.h)
  CpuMode mode = CpuMode::kUnknown;
  bool is_return_address = false;
};

class SampleAttributor {
 public:
  // Requires: the plan outlives this and has its table.
  explicit SampleAttributor(const CountingPlan& plan);

  bool Attribute(const std::byte* record, uint16_t size, uint16_t misc, uint64_t offset);

  // Of the last sample for which Attribute was true.
  uint32_t event() const { return event_; }
  const CountedEvent& event_plan() const { return plan_.events[event_]; }
  const FixedSampleFields& fields() const { return fields_; }
  uint64_t period() const { return event_plan().has_period ? fields_.period : event_plan().fixed_period; }
  std::string_view comm() const { return comm_; }
  std::span<const PlacedFrame> frames() const { return frames_; }  // leaf first
  // Where the sample was taken: the chain's first frame, unless the sample names another place than its
  // chain.
  const PlacedFrame& leaf() const { return leaf_; }
  uint32_t key() const { return key_; }  // of key_numbers().keys(): as the leaf counts

  // Over all calls.
  const std::vector<EventTally>& tallies() const { return tallies_; }  // per event
  const KeyNumbers& key_numbers() const { return key_numbers_; }
  uint64_t first_time() const { return first_time_; }
  uint64_t last_time() const { return last_time_; }

 private:
  // A thread during [from, until).
  struct Context {
    uint32_t event = kNone32, pid = 0, tid = 0, cpu = 0;
    uint64_t from = 1, until = 0;
    uint32_t epoch = PlaceCache::kUnknownEpoch;
    std::string_view comm;
    KeyNumbers::Pair keys;
    FilterCause filter = FilterCause::kCount;
    const ksamp::Place* last_place = nullptr;  // where its last user frame was; whoever's it is now
  };
  static constexpr size_t kContexts = 1024;

  Context& ContextOf(uint64_t time);
  void FillContext(Context& context, uint64_t time);
  // Nothing: the sample promises more than it holds.
  std::optional<std::span<const uint64_t>> ChainOf(const RawRecord& raw) const;
  void PlaceFrames(Context& context, std::span<const uint64_t> chain, CpuMode mode, uint64_t time);
  void Place(Context& context, CpuMode mode, uint64_t ip, bool is_return_address, uint64_t time);

  const CountingPlan& plan_;
  const bool cpu_matters_;
  std::vector<Context> contexts_;
  PlaceCache places_;
  const ksamp::Place* last_kernel_place_;
  StringPool unnamed_;  // ":TID"
  std::vector<EventTally> tallies_;

  KeyNumbers key_numbers_;
  uint64_t first_time_ = std::numeric_limits<uint64_t>::max(), last_time_ = 0;

  uint32_t event_ = 0, key_ = 0;
  FixedSampleFields fields_;
  std::string_view comm_;
  std::vector<PlacedFrame> frames_;
  PlacedFrame leaf_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_PROFILE_SAMPLE_ATTRIBUTOR_H_
