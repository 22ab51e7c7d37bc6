// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/place_cache.h"

namespace ksamp {

void PlaceCache::Fill(Place& place, uint64_t ip, uint64_t time) const {
  const bool kernel = place.epoch == kKernelEpoch;
  FoundMapping found{.start = ProcessAddress(ip), .end = ProcessAddress(ip + 1)};
  if (kernel) {
    found = table_.FindKernel(ProcessAddress(ip), time);
  } else if (place.epoch != kUnknownEpoch) {
    found = table_.Find(place.epoch, ProcessAddress(ip), time);
  }
  place.start = found.start.value;
  place.end = found.end.value;
  place.from = found.from;
  place.until = found.until;
  place.delta = 0;
  if (found.mapping != nullptr) {
    place.image = found.mapping->image;
    const ImageKind kind = table_.images()[place.image].kind;
    if (kind == ImageKind::kFile || kind == ImageKind::kVdso)
      place.delta = found.mapping->ToFileOffset(ProcessAddress(ip)).value - ip;
  } else if (kernel) {
    place.image = table_.has_kernel_map() ? ReasonImage(UnresolvedReason::kNoMapping) : kKernelWithoutMap;
  } else {
    place.image = ReasonImage(place.epoch == kUnknownEpoch ? UnresolvedReason::kUnknownProcess
                                                           : UnresolvedReason::kNoMapping);
  }
}

}  // namespace ksamp
