// SPDX-License-Identifier: Apache-2.0
// ScratchFile: bytes appended now and mapped later, on nobody's disk for longer than needed.
//
//   ScratchFile scratch;
//   KSAMP_RETURN_IF_ERROR(scratch.Append(bytes));
//   KSAMP_ASSIGN_OR_RETURN(MappedRegion region, std::move(scratch).Finish());
//
// Small content stays in memory (memfd); what grows past kMemoryLimit moves to an unlinked file in $TMPDIR or
// /var/tmp, so a long pipe does not fill the memory. One thread.
#ifndef KSAMP_LIB_PERFDATA_SCRATCH_FILE_H_
#define KSAMP_LIB_PERFDATA_SCRATCH_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/mapped_region.h"
#include "lib/base/unique_fd.h"

namespace ksamp::perfdata {

class ScratchFile {
 public:
  static constexpr uint64_t kMemoryLimit = uint64_t{64} << 20;

  explicit ScratchFile(uint64_t memory_limit = kMemoryLimit) : memory_limit_(memory_limit) {}

  absl::Status Append(std::span<const std::byte> bytes);
  uint64_t size() const { return written_ + buffer_.size(); }
  bool on_disk() const { return on_disk_; }
  // Everything appended, read-only.
  absl::StatusOr<MappedRegion> Finish() &&;

 private:
  absl::Status Flush();
  absl::Status MakeRoom();

  uint64_t memory_limit_;
  UniqueFd fd_;
  bool on_disk_ = false;
  uint64_t written_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace ksamp::perfdata

#endif  // KSAMP_LIB_PERFDATA_SCRATCH_FILE_H_
