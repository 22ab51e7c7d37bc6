// SPDX-License-Identifier: Apache-2.0
// Any text as a perf-PID.map: parsed, then asked for addresses around those it names.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "lib/object/perf_map.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ksamp::PerfMap map = ksamp::PerfMap::Parse(std::string(reinterpret_cast<const char*>(data), size));
  for (const uint64_t address : {uint64_t{0}, uint64_t{0x1000}, uint64_t{0x1010}, uint64_t{0x7f0000001000},
                                 ~uint64_t{0} - 1, ~uint64_t{0}}) {
    const auto match = map.Find(address);
    if (match && (match->name.empty() || address - match->start >= match->size)) std::abort();
  }
  if (map.size() + map.damaged_lines() > size + 1) std::abort();
  return 0;
}
