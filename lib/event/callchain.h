// SPDX-License-Identifier: Apache-2.0
// The kernel's call chains, taken apart: context markers are not addresses.
//
// A chain is a flat list, leaf first: marker KERNEL, kernel ips…, marker USER, user ips…. A value >= -4095 is
// a marker. The ip right after a marker is where that mode was left: the sampled instruction, or the one that
// faulted, was interrupted or comes after the system call. All others are return addresses: the call was one
// byte before, and a symboliser looks up `ip - 1`. USER_DEFERRED (-640) is followed by a cookie, not by an
// address.
#ifndef KSAMP_LIB_EVENT_CALLCHAIN_H_
#define KSAMP_LIB_EVENT_CALLCHAIN_H_

#include <cstdint>
#include <span>

#include "ksamp/record.h"

namespace ksamp {

inline constexpr uint64_t kCallchainMaxMarker = static_cast<uint64_t>(-4095);
inline bool IsCallchainMarker(uint64_t value) {
  return value >= kCallchainMaxMarker;
}

// Calls fn(CpuMode mode, uint64_t ip, bool is_return_address) for every address, leaf first. `initial` is the
// mode of addresses before any marker (the sample's cpumode).
template <typename Fn>
void ForEachCallchainAddress(std::span<const uint64_t> chain, CpuMode initial, Fn&& fn) {
  CpuMode mode = initial;
  bool leaf = true;
  for (size_t i = 0; i < chain.size(); ++i) {
    const uint64_t value = chain[i];
    if (!IsCallchainMarker(value)) {
      fn(mode, value, !leaf);
      leaf = false;
      continue;
    }
    const CpuMode before = mode;
    switch (static_cast<int64_t>(value)) {
      case -32:
        mode = CpuMode::kHypervisor;
        break;
      case -128:
        mode = CpuMode::kKernel;
        break;
      case -512:
        mode = CpuMode::kUser;
        break;
      case -640:
        ++i;
        break;  // the cookie
      case -2048:
      case -2176:
        mode = CpuMode::kGuestKernel;
        break;
      case -2560:
        mode = CpuMode::kGuestUser;
        break;
      default:
        break;  // unknown marker: the mode stays
    }
    leaf |= mode != before;
  }
}

}  // namespace ksamp

#endif  // KSAMP_LIB_EVENT_CALLCHAIN_H_
