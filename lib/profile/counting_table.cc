// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/counting_table.h"

#include <sys/mman.h>

#include <new>
#include <random>
#include <utility>

namespace ksamp {
namespace {

constexpr size_t kFirstSlots = 4096;

uint64_t ProcessSeed(size_t which) {
  static const struct Seeds {
    uint64_t value[2];
    Seeds() {
      std::random_device device;
      for (uint64_t& v : value) v = uint64_t{device()} << 32 | device();
    }
  } seeds;
  return seeds.value[which];
}

}  // namespace

CountedArray::CountedArray(size_t count) {
  if (count == 0) return;
  absl::StatusOr<MappedRegion> memory = MappedRegion::MapAnonymous(count * sizeof(CountedAddress));
  if (!memory.ok()) throw std::bad_alloc();
  memory_ = *std::move(memory);
  // Advice: where it is not taken, everything works, only slower.
  madvise(memory_.mutable_bytes().data(), memory_.size(), MADV_HUGEPAGE);
  data_ = reinterpret_cast<CountedAddress*>(memory_.mutable_bytes().data());
}

CountingTable::CountingTable()
    : seed_{ProcessSeed(0), ProcessSeed(1)}, mask_(kFirstSlots - 1), slots_(kFirstSlots) {}

void CountingTable::Grow() {
  const size_t old_count = mask_ + 1;
  const CountedArray old = std::exchange(slots_, CountedArray(old_count * 2));
  mask_ = old_count * 2 - 1;
  for (size_t i = 0; i < old_count; ++i) {
    if (old[i].counts.samples == 0) continue;
    size_t at = SlotOf(Hash(old[i].key, old[i].image, old[i].address));
    while (slots_[at].counts.samples != 0) at = (at + 1) & mask_;
    slots_[at] = old[i];
  }
}

std::vector<CountedAddress> CountingTable::Entries() const {
  std::vector<CountedAddress> entries;
  entries.reserve(size_);
  ForEach([&](const CountedAddress& entry) { entries.push_back(entry); });
  return entries;
}

}  // namespace ksamp
