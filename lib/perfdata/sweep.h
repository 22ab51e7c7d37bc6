// SPDX-License-Identifier: Apache-2.0
// The sweep: one pass over the headers of all records, which every opening of a recording makes.
//
// It cuts the bytes into chunks of about a megabyte at record boundaries, keeps the records that are no
// samples, and counts. A sample costs a load, a bounds check and an addition, so the pass runs at the speed
// the pages arrive; nothing of a sample but its header is read.
//
//   SweepResult result;
//   SweepRecords(data, offset_of_data, result);      // once per file of a directory
//   for (const Recording::Chunk& chunk : result.chunks) ...
//
// Damage is stepped over: after a record with an impossible size the search goes on, in steps of 8 bytes, for
// a place from which several plausible records follow. Chunks hold sound records only.
#ifndef KSAMP_LIB_PERFDATA_SWEEP_H_
#define KSAMP_LIB_PERFDATA_SWEEP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ksamp/perf_data.h"

namespace ksamp::perfdata {

inline constexpr size_t kChunkBytes = size_t{1} << 20;

// One step over a file: the record, and what stands behind it outside its size.
struct RecordStep {
  RawRecord record;                     // header fields in host byte order; `bytes` as they are in the file
  std::span<const std::byte> trailing;  // TRACING_DATA, AUXTRACE
  size_t advance = 0;                   // to the next record; 0: no sound record stands here
};

// The record at the start of `bytes`. Knows the two kinds with bytes outside their size, and COMPRESSED2,
// whose 16-bit size Linux 6.16 lets wrap: there the bytes are the real ones.
RecordStep ReadStep(std::span<const std::byte> bytes, uint64_t offset, bool foreign);

// How far from `bytes`, which do not start with a sound record, records go on; bytes.size() where never.
size_t FindNextRecord(std::span<const std::byte> bytes, bool foreign);

struct SweepResult {
  std::vector<Recording::Chunk> chunks;
  std::vector<RawRecord> side_records;
  RecordCounts counts;
  std::vector<Damage> damage;
  std::span<const std::byte> tracing_data;
  bool has_compressed = false;  // COMPRESSED or COMPRESSED2 records
  bool misaligned = false;      // records at odd places, whose arrays cannot be read in place
};

// Appends `data`, whose first byte is at `offset`, to `result`. Host byte order only. `walked`, where given,
// is told of each chunk once the sweep is through with it.
void SweepRecords(std::span<const std::byte> data, uint64_t offset, SweepResult& result,
                  const std::function<void(std::span<const std::byte>)>& walked = {});

}  // namespace ksamp::perfdata

#endif  // KSAMP_LIB_PERFDATA_SWEEP_H_
