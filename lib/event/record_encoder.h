// SPDX-License-Identifier: Apache-2.0
// The only encoder of perf records: a Record + layout -> bytes, in host byte order.
//
// Used to synthesise records of processes already running, by the aggregating recorder, and by the builders
// of tests. decode(encode(r)) == r for every record kind and layout; a test walks them all.
#ifndef KSAMP_LIB_EVENT_RECORD_ENCODER_H_
#define KSAMP_LIB_EVENT_RECORD_ENCODER_H_

#include "absl/status/status.h"
#include "ksamp/record.h"
#include "lib/base/byte_writer.h"
#include "lib/event/sample_layout.h"

namespace ksamp {

// Appends the record to `out`. Fields the layout asks for and the record lacks are written as zero; fields
// the layout lacks are left out; a raw field is filled up to whole words, as the kernel's are.
// InvalidArgument, and nothing appended: longer than 65 535 bytes, arrays that do not fit the layout, or
// UnknownRecord.
absl::Status EncodeRecord(const Record& record, const SampleLayout& layout, ByteWriter& out);

}  // namespace ksamp

#endif  // KSAMP_LIB_EVENT_RECORD_ENCODER_H_
