// SPDX-License-Identifier: Apache-2.0
// RingReader: the consumer end of one perf_event ring.
//
// The kernel appends records and moves `data_head`; we read and move `data_tail`. Bytes between the two are
// ours until Consume(), so draining copies nothing: what is there comes back as one span, or two where it
// wraps.
//
//      tail                       head
//   ...|  A  |   B   |   C   | ...        Available() -> {A B C}; Consume(size) -> tail moves past C
//
//   RingSpans spans = ring.Available();
//   writer.Append(spans.first); writer.Append(spans.second);
//   ring.Consume(spans.size());
//
// Whole records only: the kernel publishes data_head after the record's last byte. One thread per ring. Never
// blocks; waiting is PerfKernel::Poll's business. Memory order: data_head is loaded with acquire, which pairs
// with the store in kernel/events/ring_buffer.c, perf_output_put_handle(); data_tail is stored with release,
// so that the kernel cannot overwrite bytes that are still being read.
#ifndef KSAMP_LIB_OS_RING_READER_H_
#define KSAMP_LIB_OS_RING_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "lib/os/perf_kernel.h"

namespace ksamp {

struct RingSpans {
  std::span<const std::byte> first, second;
  size_t size() const { return first.size() + second.size(); }
  bool empty() const { return size() == 0; }
};

class RingReader {
 public:
  // Requires: memory is not null.
  explicit RingReader(std::unique_ptr<RingMemory> memory);

  RingSpans Available() const;
  // Gives the first `bytes` of what Available() returned back to the kernel.
  void Consume(size_t bytes);
  size_t capacity() const { return memory_->data().size(); }

 private:
  std::unique_ptr<RingMemory> memory_;
  uint64_t tail_ = 0;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_OS_RING_READER_H_
