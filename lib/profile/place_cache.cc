// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/place_cache.h"

namespace ksamp {
namespace {

constexpr uint64_t kInitCodeReach = uint64_t{64} << 20;

}  // namespace

// The map of the kernel ends with its text. Behind it lies code that ran at boot: the stack of the first
// CPU's idle task begins there (start_kernel).
uint32_t PlaceCache::KernelImageWithoutMap(uint64_t ip, uint64_t time) const {
  if (!table_.has_kernel_map()) return kKernelWithoutMap;
  const FoundMapping text = table_.FindKernel(ProcessAddress(table_.kernel_reference_address()), time);
  const bool behind = text.mapping != nullptr && ip >= text.end.value && ip - text.end.value < kInitCodeReach;
  return behind ? text.mapping->image : ReasonImage(UnresolvedReason::kNoMapping);
}

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
    if (kind == ImageKind::kFile || kind == ImageKind::kVdso || kind == ImageKind::kJitDump)
      place.delta = found.mapping->ToFileOffset(ProcessAddress(ip)).value - ip;
  } else if (kernel) {
    place.image = KernelImageWithoutMap(ip, time);
  } else {
    place.image = ReasonImage(place.epoch == kUnknownEpoch ? UnresolvedReason::kUnknownProcess
                                                           : UnresolvedReason::kNoMapping);
  }
}

}  // namespace ksamp
