// SPDX-License-Identifier: Apache-2.0
// PlaceCache: which image lies at an address of an address space now, remembered from sample to sample.
//
//   PlaceCache places(table);
//   const Place* last = places.start();                              // one per thread of the recording
//   const Place& place = places.At(last, epoch, ip, time);
//   place.image, ip + place.delta        // delta: to the file offset where the image is addressed by it
//
// The ProcessTable answers in a search through a tree; consecutive samples mostly ask the same again: first
// what the caller remembers is tried, then a table by (process, page). One cache per thread that reads. A
// returned Place is valid until the next call; a remembered one may then be another's, which is checked.
#ifndef KSAMP_LIB_PROFILE_PLACE_CACHE_H_
#define KSAMP_LIB_PROFILE_PLACE_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ksamp/profile.h"
#include "lib/process/process_table.h"

namespace ksamp {

// Image numbers above those of the ProcessTable: addresses that no mapping explains, by reason.
inline constexpr uint32_t kFirstReasonImage = kNone32 - 32;
inline constexpr uint32_t kKernelWithoutMap =
    kFirstReasonImage - 1;  // kernel mode, and no record told its map
inline uint32_t ReasonImage(UnresolvedReason reason) {
  return kFirstReasonImage + static_cast<uint32_t>(reason);
}

// What lies at [start, end) of an address space during [from, until).
struct Place {
  uint32_t epoch = kNone32 - 1;
  uint32_t image = 0;
  uint64_t start = 1, end = 0, from = 0, until = 0;
  uint64_t delta = 0;  // address = ip + delta, modulo 2^64
  bool Covers(uint32_t space, uint64_t ip, uint64_t at) const {
    return epoch == space && start <= ip && ip < end && from <= at && at < until;
  }
};

class PlaceCache {
 public:
  static constexpr uint32_t kKernelEpoch = kNone32 - 2;
  static constexpr uint32_t kUnknownEpoch = kNone32;

  // Requires: `table` outlives this.
  explicit PlaceCache(const ProcessTable& table) : table_(table), places_(kPlaces) {}

  // Covers nothing yet.
  const Place* start() const { return places_.data(); }

  const Place& At(const Place*& last, uint32_t epoch, uint64_t ip, uint64_t time) {
    // Most samples of a thread hit the mapping of the one before: no need to touch the table by pages, which
    // is larger than the nearest cache.
    if (last->Covers(epoch, ip, time)) return *last;
    const uint64_t mix = ((ip >> 12) + uint64_t{epoch} * 0x9e3779b97f4a7c15u) * 0x9e3779b97f4a7c15u;
    Place& place = places_[mix >> 52];
    static_assert(kPlaces == 1u << 12);
    if (!place.Covers(epoch, ip, time)) {
      place.epoch = epoch;
      Fill(place, ip, time);
    }
    last = &place;
    return place;
  }

 private:
  static constexpr size_t kPlaces = 4096;

  uint32_t KernelImageWithoutMap(uint64_t ip, uint64_t time) const;
  void Fill(Place& place, uint64_t ip, uint64_t time) const;

  const ProcessTable& table_;
  std::vector<Place> places_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_PROFILE_PLACE_CACHE_H_
