// SPDX-License-Identifier: Apache-2.0
// RecordingBuilder: from a path or descriptor to a Recording.
//
//   map -> head -> sweep -> [decode into a scratch file -> sweep again] -> features
//
// The middle step is for what cannot be read in place: compressed records, the other byte order, records at
// odd addresses. A pipe is first copied into a scratch file; then it is a file like any other.
#ifndef KSAMP_LIB_PERFDATA_RECORDING_BUILDER_H_
#define KSAMP_LIB_PERFDATA_RECORDING_BUILDER_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ksamp/perf_data.h"
#include "lib/base/unique_fd.h"
#include "lib/perfdata/file_head.h"
#include "lib/perfdata/stream_description.h"
#include "lib/perfdata/sweep.h"

namespace ksamp {

class RecordingBuilder {
 public:
  static absl::StatusOr<Recording> FromPath(const std::string& path, const OpenOptions& options);
  static absl::StatusOr<Recording> FromDescriptor(UniqueFd fd, const std::string& name,
                                                  const OpenOptions& options);

 private:
  // Bytes that hold records and nothing else, one per file of the recording.
  struct Range {
    std::span<const std::byte> bytes;
    uint64_t offset = 0;
  };

  RecordingBuilder(std::string name, const OpenOptions& options);
  absl::Status AddFile(UniqueFd fd, const std::string& name);
  absl::Status AddDirectoryFiles(const std::string& path);
  absl::StatusOr<Recording> Build();

  absl::Status ReadHead();
  absl::Status FindRecords();
  absl::Status DecodeRecords();
  void CollectFeatures();
  void ReadFacts();
  void NameEvents();

  OpenOptions options_;
  std::unique_ptr<Recording::State> state_;
  perfdata::FileHead head_;
  std::vector<Range> ranges_;
  std::unique_ptr<perfdata::StreamDescription> description_;
  perfdata::SweepResult swept_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_PERFDATA_RECORDING_BUILDER_H_
