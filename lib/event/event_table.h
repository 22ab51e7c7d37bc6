// SPDX-License-Identifier: Apache-2.0
// The events that have a name everywhere: the kernel's generic ones, its cache events, oprofile's.
//
//   const GenericEvent* event = FindGenericEvent("cpu-cycles");     // type and config of `cycles`
//   std::optional<uint64_t> config = ParseCacheEvent("L1-dcache-load-misses");
//   const OprofileEvent* old = FindOprofileEvent("CPU_CLK_UNHALTED");
//
// Names are compared without regard to case, as perf does since 6.4; oprofile's with it. Constant data.
#ifndef KSAMP_LIB_EVENT_EVENT_TABLE_H_
#define KSAMP_LIB_EVENT_EVENT_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ksamp {

struct GenericEvent {
  std::string_view name, alias;  // alias empty: none
  uint32_t type = 0;             // PERF_TYPE_HARDWARE or PERF_TYPE_SOFTWARE
  uint64_t config = 0;
  std::string_view description;
};
std::span<const GenericEvent> GenericEvents();
const GenericEvent* FindGenericEvent(std::string_view name);
const GenericEvent* FindGenericEvent(uint32_t type, uint64_t config);

// config of PERF_TYPE_HW_CACHE from CACHE[-OP][-RESULT], in either order and all of perf's spellings.
// Nothing: no such name, or a combination that no CPU has (a write to the instruction cache).
std::optional<uint64_t> ParseCacheEvent(std::string_view name);
// "L1-dcache-load-misses"; empty where config is no cache event.
std::string CacheEventName(uint64_t config);
// "Level 1 data cache: loads that missed". Requires: CacheEventName(config) is not empty.
std::string DescribeCacheEvent(uint64_t config);
// Every combination there is, by its usual name.
std::vector<std::string> CacheEventNames();

// An oprofile event whose meaning is exactly a generic event's.
struct OprofileEvent {
  std::string_view name;
  std::string_view generic;        // name in GenericEvents()
  uint64_t default_unit_mask = 0;  // the mask of that meaning; 0 is accepted too
};
std::span<const OprofileEvent> OprofileEvents();
const OprofileEvent* FindOprofileEvent(std::string_view name);

bool EqualsIgnoringCase(std::string_view a, std::string_view b);

}  // namespace ksamp

#endif  // KSAMP_LIB_EVENT_EVENT_TABLE_H_
