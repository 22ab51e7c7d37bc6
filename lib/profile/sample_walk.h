// SPDX-License-Identifier: Apache-2.0
// WalkRecords, ForEachSample: the bare walk over the records of a chunk, inlined into its caller.
//
// Recording::ForEachRecord serves everyone; the sweep over millions of samples wants no call per record.
// Headers were checked once when the recording was opened; the walk still never leaves the chunk.
#ifndef KSAMP_LIB_PROFILE_SAMPLE_WALK_H_
#define KSAMP_LIB_PROFILE_SAMPLE_WALK_H_

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ksamp/perf_data.h"

namespace ksamp {

template <typename T>
T LoadAt(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

// Bytes that follow the record outside its size: AUXTRACE (71) and TRACING_DATA (66) have some.
inline uint64_t TrailingBytes(const perf_event_header& header, const std::byte* payload) {
  constexpr uint32_t kTracingData = 66, kAuxtrace = 71;
  if (header.type == kAuxtrace && header.size >= sizeof(header) + 8) return LoadAt<uint64_t>(payload);
  if (header.type == kTracingData && header.size >= sizeof(header) + 4)
    return (uint64_t{LoadAt<uint32_t>(payload)} + 7) & ~uint64_t{7};
  return 0;
}

// Calls fn(const perf_event_header& header, const std::byte* record, uint64_t offset) for every record.
template <typename Fn>
void WalkRecords(const Recording::Chunk& chunk, Fn&& fn) {
  const std::byte* const begin = chunk.bytes.data();
  const size_t size = chunk.bytes.size();
  for (size_t at = 0; size - at >= sizeof(perf_event_header);) {
    const auto header = LoadAt<perf_event_header>(begin + at);
    if (header.size < sizeof(header) || header.size > size - at) return;
    fn(header, begin + at, chunk.offset + at);
    if (header.type == PERF_RECORD_SAMPLE) {
      at += header.size;
      continue;
    }
    const uint64_t trailing = TrailingBytes(header, begin + at + sizeof(header));
    at += header.size;
    if (trailing > size - at) return;
    at += static_cast<size_t>(trailing);
  }
}

// Calls fn(const std::byte* record, uint16_t size, uint16_t misc, uint64_t offset) for every SAMPLE.
template <typename Fn>
void ForEachSample(const Recording::Chunk& chunk, Fn&& fn) {
  WalkRecords(chunk, [&fn](const perf_event_header& header, const std::byte* record, uint64_t offset) {
    if (header.type == PERF_RECORD_SAMPLE) fn(record, header.size, header.misc, offset);
  });
}

}  // namespace ksamp

#endif  // KSAMP_LIB_PROFILE_SAMPLE_WALK_H_
