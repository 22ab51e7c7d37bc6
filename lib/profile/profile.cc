// SPDX-License-Identifier: Apache-2.0
#include "ksamp/profile.h"

namespace ksamp {
namespace {

uint64_t SumOf(const std::map<std::string, uint64_t>& counts) {
  uint64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

}  // namespace

uint64_t Conservation::FilteredTotal() const {
  return SumOf(filtered);
}

uint64_t Conservation::DroppedTotal() const {
  return SumOf(dropped);
}

Conservation Profile::Total() const {
  Conservation total;
  for (const Conservation& c : conservation) {
    total.taken += c.taken;
    total.counted += c.counted;
    total.idle += c.idle;
    for (const auto& [name, count] : c.filtered) total.filtered[name] += count;
    for (const auto& [name, count] : c.dropped) total.dropped[name] += count;
  }
  return total;
}

}  // namespace ksamp
