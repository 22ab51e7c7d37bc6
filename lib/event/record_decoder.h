// SPDX-License-Identifier: Apache-2.0
// The only decoder of perf records: bytes + layout -> a view.
//
//   absl::StatusOr<Record> record = DecodeRecord(raw, layout);
//
// Host byte order only: recordings of the other order are turned round once, record by record, by
// SwapRecord() (the reader does it while spooling). A record that promises more than its bytes hold is
// DataLoss naming record type, field and offset; nothing outside raw.bytes is ever read. Arrays of numbers
// are handed out in place, so raw.bytes must start at a multiple of 8 in memory, as records do in the
// kernel's ring and in its files; a reader copies others (a pipe's may be odd) first, else they are DataLoss
// too. Pure; any thread.
#ifndef KSAMP_LIB_EVENT_RECORD_DECODER_H_
#define KSAMP_LIB_EVENT_RECORD_DECODER_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ksamp/record.h"
#include "lib/event/sample_layout.h"

namespace ksamp {

absl::StatusOr<Record> DecodeRecord(const RawRecord& raw, const SampleLayout& layout);

// The i-th value of a READ. Requires: i < values.count. `read_format` as in the layout.
ReadValue DecodeReadValue(const ReadValues& values, uint64_t read_format, uint64_t i);

struct BranchEntry {
  uint64_t from = 0, to = 0, flags = 0;
};
// The branch stack of a sample, newest first. `sample.branch_stack` is the whole field: number, [index],
// entries, [counters].
std::vector<BranchEntry> DecodeBranchStack(const SampleRecord& sample, const SampleLayout& layout);

// Turns one whole record (header already in host order) from the other byte order, in place. Types it does
// not know are left alone: they are skipped anyway.
absl::Status SwapRecord(std::span<std::byte> record, const SampleLayout& layout);
// The same for a perf_event_attr, bit fields included.
void SwapAttr(std::span<std::byte> attr);

// "MMAP2", "SAMPLE", ...; "type 93" for a number without a name.
std::string RecordTypeName(uint32_t type);

}  // namespace ksamp

#endif  // KSAMP_LIB_EVENT_RECORD_DECODER_H_
