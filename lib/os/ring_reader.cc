// SPDX-License-Identifier: Apache-2.0
#include "lib/os/ring_reader.h"

#include <algorithm>
#include <utility>

namespace ksamp {

RingReader::RingReader(std::unique_ptr<RingMemory> memory)
    : memory_(std::move(memory)), tail_(memory_->control()->data_tail) {}

RingSpans RingReader::Available() const {
  const std::span<const std::byte> data = memory_->data();
  // Pairs with the kernel's release of data_head: what lies before it is completely written.
  const uint64_t head = __atomic_load_n(&memory_->control()->data_head, __ATOMIC_ACQUIRE);
  const size_t size = static_cast<size_t>(std::min<uint64_t>(head - tail_, data.size()));
  const size_t begin = static_cast<size_t>(tail_ & (data.size() - 1));
  const size_t until_wrap = std::min(size, data.size() - begin);
  return {data.subspan(begin, until_wrap), data.first(size - until_wrap)};
}

void RingReader::Consume(size_t bytes) {
  tail_ += bytes;
  // Our reads are done before the kernel may see the room.
  __atomic_store_n(&memory_->control()->data_tail, tail_, __ATOMIC_RELEASE);
}

}  // namespace ksamp
