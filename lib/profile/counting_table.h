// SPDX-License-Identifier: Apache-2.0
// CountingTable: (key, image, address) -> counts, built for millions of additions a second.
//
// Open addressing with linear probing over 32-byte slots, two to a cache line, in one zeroed allocation that
// starts small and doubles. An addition to a big table is a cache miss; callers that know several additions
// ahead hash and Prefetch() first, then Add(). With small pages it would be a TLB miss as well, for which a
// prefetch waits: so the slots lie on huge pages where the kernel has some.
//
//   const uint64_t hash = table.Hash(key, image, address);
//   table.Prefetch(hash);
//   …
//   table.Add(hash, {key, image, address, {1, period}});
//
// The hash is keyed by a number drawn once per process, so a recording cannot be made to collide. The order
// of slots is therefore arbitrary: sort what you take out. One thread.
#ifndef KSAMP_LIB_PROFILE_COUNTING_TABLE_H_
#define KSAMP_LIB_PROFILE_COUNTING_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ksamp/profile.h"
#include "lib/base/mapped_region.h"

namespace ksamp {

// The samples of one address under one key.
struct CountedAddress {
  uint32_t key = 0, image = 0;
  uint64_t address = 0;
  Counts counts;  // samples > 0; in the table 0 marks a free slot
};
static_assert(sizeof(CountedAddress) == 32);

// A fixed number of entries in zeroed memory, on huge pages where the kernel has some. Unlike a vector it is
// not written before it is used, so several threads can fill it, each paying for the pages it touches.
class CountedArray {
 public:
  CountedArray() = default;
  explicit CountedArray(size_t count);  // throws std::bad_alloc, as a vector does

  CountedAddress& operator[](size_t i) { return data_[i]; }
  const CountedAddress& operator[](size_t i) const { return data_[i]; }
  std::span<CountedAddress> entries() { return {data_, memory_.size() / sizeof(CountedAddress)}; }

 private:
  MappedRegion memory_;
  CountedAddress* data_ = nullptr;
};

class CountingTable {
 public:
  CountingTable();

  uint64_t Hash(uint32_t key, uint32_t image, uint64_t address) const {
    const uint64_t who = (uint64_t{key} << 32 | image) ^ seed_[0];
    const auto product = static_cast<unsigned __int128>(address ^ seed_[1]) * (who | 1);
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  void Prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[SlotOf(hash)], 1); }

  // Requires: hash is that of `added`; added.counts.samples > 0.
  void Add(uint64_t hash, const CountedAddress& added) {
    for (size_t at = SlotOf(hash);; at = (at + 1) & mask_) {
      CountedAddress& slot = slots_[at];
      if (slot.counts.samples == 0) {
        slot = added;
        if (++size_ > mask_ / 8 * 5) Grow();
        return;
      }
      if (slot.address == added.address && slot.key == added.key && slot.image == added.image) {
        slot.counts += added.counts;
        return;
      }
    }
  }

  size_t size() const { return size_; }
  // Copies of all entries, in no order.
  std::vector<CountedAddress> Entries() const;
  // Calls fn(const CountedAddress&) for every entry, in no order.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    for (size_t i = 0; i <= mask_; ++i)
      if (slots_[i].counts.samples != 0) fn(slots_[i]);
  }

 private:
  size_t SlotOf(uint64_t hash) const { return static_cast<size_t>(hash) & mask_; }
  void Grow();

  uint64_t seed_[2];
  size_t mask_ = 0, size_ = 0;
  CountedArray slots_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_PROFILE_COUNTING_TABLE_H_
