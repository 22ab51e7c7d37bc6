// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/scratch_file.h"

#include <utility>

#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"

namespace ksamp::perfdata {
namespace {

constexpr char kName[] = "scratch file";
constexpr size_t kBufferBytes = size_t{1} << 20;

}  // namespace

absl::Status ScratchFile::Append(std::span<const std::byte> bytes) {
  if (buffer_.capacity() == 0) buffer_.reserve(kBufferBytes);
  if (buffer_.size() + bytes.size() > kBufferBytes) KSAMP_RETURN_IF_ERROR(Flush());
  if (bytes.size() < kBufferBytes) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return absl::OkStatus();
  }
  KSAMP_RETURN_IF_ERROR(MakeRoom());
  KSAMP_RETURN_IF_ERROR(WriteAll(fd_.get(), bytes, kName));
  written_ += bytes.size();
  return absl::OkStatus();
}

absl::Status ScratchFile::Flush() {
  if (buffer_.empty()) return absl::OkStatus();
  KSAMP_RETURN_IF_ERROR(MakeRoom());
  KSAMP_RETURN_IF_ERROR(WriteAll(fd_.get(), buffer_, kName));
  written_ += buffer_.size();
  buffer_.clear();
  return absl::OkStatus();
}

// A descriptor to write to: memory at first, the disk from the limit on.
absl::Status ScratchFile::MakeRoom() {
  if (on_disk_ || (fd_ && written_ < memory_limit_)) return absl::OkStatus();
  if (!fd_) {
    KSAMP_ASSIGN_OR_RETURN(fd_, CreateScratchFile("ksamp-scratch"));
    return absl::OkStatus();
  }
  KSAMP_ASSIGN_OR_RETURN(UniqueFd disk, CreateScratchFileOnDisk());
  KSAMP_ASSIGN_OR_RETURN(MappedRegion so_far, MappedRegion::MapDescriptor(fd_.get(), written_, kName));
  KSAMP_RETURN_IF_ERROR(WriteAll(disk.get(), so_far.bytes(), kName));
  fd_ = std::move(disk);
  on_disk_ = true;
  return absl::OkStatus();
}

absl::StatusOr<MappedRegion> ScratchFile::Finish() && {
  KSAMP_RETURN_IF_ERROR(Flush());
  if (!fd_) return MappedRegion();
  return MappedRegion::MapDescriptor(fd_.get(), written_, kName);
}

}  // namespace ksamp::perfdata
