// SPDX-License-Identifier: Apache-2.0
// Dumps: every sample of a recording as a line of text, or every record with all its fields.
//
//   WriteSamples(stream, {}, std::cout);         // as `perf script` prints them
//   WriteRecords(recording, std::cout);          // one line per record
//
// A sample without call chain is one line; one with a chain is a line, a line per frame and an empty line.
// Samples of tracepoints whose formats are in the recording show their fields in place of period and address.
// Columns and widths are perf script's, so that scripts made for it read both; doc/differences.md lists where
// the text is not the same. Text from the recording is escaped for terminals (D10). Both are made for
// millions of samples: nothing is allocated per sample, what follows an address is formatted once per unique
// address.
#ifndef KSAMP_DUMP_H_
#define KSAMP_DUMP_H_

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "ksamp/export.h"
#include "ksamp/perf_data.h"
#include "ksamp/sample_stream.h"

namespace ksamp {

struct DumpOptions {
  // Demangles a name for printing; called once per unique address. Default: as it is.
  std::function<std::string(std::string_view)> demangle = {};
};

// Unavailable: `out` failed.
KSAMP_EXPORT absl::Status WriteSamples(const SampleStream& stream, const DumpOptions& options,
                                       std::ostream& out);

// "0x1a8 COMM misc=0x2000 size=40 pid=7 tid=7 comm="gzip" id.pid=7 id.tid=7 id.time=6028629623000": offset in
// the recording (of decoded input: in the decoded stream), type, header, the record's own fields, what
// sample_id_all added (id.*). A record that cannot be decoded says why. Unavailable: `out` failed.
KSAMP_EXPORT absl::Status WriteRecords(const Recording& recording, std::ostream& out);

}  // namespace ksamp

#endif  // KSAMP_DUMP_H_
