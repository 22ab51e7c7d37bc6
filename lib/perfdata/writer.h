// SPDX-License-Identifier: Apache-2.0
// PerfDataWriter: writes a perf.data file that is readable at every moment (design D4).
//
//   header | ids | attrs | our block (machine, events, kernel symbols, …) | data ……… | feature table |
//   features
//
//   KSAMP_ASSIGN_OR_RETURN(auto writer, PerfDataWriter::Create(fd, path, events, preamble));
//   writer.Append(spans.first); writer.Append(spans.second);   // whole records between two Commits
//   writer.Commit();                                           // header's data.size := what is written
//   writer.Close(features);
//
// The header is valid from the first byte; Commit() makes everything appended so far part of the file for any
// reader, so a killed recorder costs what came after the last commit. Append copies into one large buffer
// that goes out in large writes (a piece larger than the buffer goes out as it is, without a copy); nothing
// is allocated per record.
//
// Pipe mode (Create with pipe = true): 16-byte header, attrs and features as records, no seeking; our own
// features are left out, because perf stops at feature ids it does not know there (decision 6). One thread.
// After an error every further call returns it.
#ifndef KSAMP_LIB_PERFDATA_WRITER_H_
#define KSAMP_LIB_PERFDATA_WRITER_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/unique_fd.h"

namespace ksamp {

struct WriterEvent {
  perf_event_attr attr = {};
  std::string name;
  std::vector<uint64_t> ids;
};

// Feature bit -> payload. Encoders of the payloads: lib/perfdata/features.h.
using FeatureMap = std::map<unsigned, std::vector<std::byte>>;

struct WriterOptions {
  std::string name;  // for errors
  std::vector<WriterEvent> events;
  FeatureMap
      preamble;  // what is known at the start: written before the data, so that a kill costs none of it
  bool pipe = false;
  int zstd_level = 0;  // > 0: records are written as COMPRESSED, one complete frame each
};

class PerfDataWriter {
 public:
  static absl::StatusOr<PerfDataWriter> Create(UniqueFd fd, WriterOptions options);
  PerfDataWriter(PerfDataWriter&&) noexcept;
  PerfDataWriter& operator=(PerfDataWriter&&) noexcept;
  ~PerfDataWriter();  // flushes nothing: Close() is the end

  // Bytes of whole records, or part of one whose rest follows in the next call.
  absl::Status Append(std::span<const std::byte> bytes);
  // Requires: what was appended ends at a record boundary.
  absl::Status Commit();
  // Commit, then the table of all features, of the preamble too, and `features`, then the final header.
  absl::Status Close(const FeatureMap& features);

  // After a write that failed: gives up what came after the last commit, and puts the end of the file there.
  // The room it needs is mostly what it gives up. Requires: no pipe.
  absl::Status CloseAtLastCommit(const FeatureMap& features);

  uint64_t data_bytes() const;  // appended so far, uncompressed
  uint64_t file_bytes() const;  // size of the file so far
  int descriptor() const;

 private:
  struct State;
  explicit PerfDataWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_PERFDATA_WRITER_H_
