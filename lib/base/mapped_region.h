// SPDX-License-Identifier: Apache-2.0
// MappedRegion owns one mmap. How files are read here: pages come when touched, and big inputs never fill the
// heap.
//
//   KSAMP_ASSIGN_OR_RETURN(MappedRegion file, MappedRegion::MapFile(path));
//   Parse(file.bytes());
//
// A file that shrinks while it is mapped raises SIGBUS on access; that is inherent to mapping and accepted.
// Move-only; the bytes live as long as the region and do not move with it.
#ifndef KSAMP_LIB_BASE_MAPPED_REGION_H_
#define KSAMP_LIB_BASE_MAPPED_REGION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace ksamp {

class MappedRegion {
 public:
  MappedRegion() = default;
  MappedRegion(MappedRegion&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedRegion& operator=(MappedRegion&& other) noexcept;
  MappedRegion(const MappedRegion&) = delete;
  MappedRegion& operator=(const MappedRegion&) = delete;
  ~MappedRegion();

  // The whole file, read-only. An empty file gives empty bytes. Not a regular file: an error.
  static absl::StatusOr<MappedRegion> MapFile(const std::string& path);
  // The first `size` bytes of an open file, read-only; `name` appears in errors.
  static absl::StatusOr<MappedRegion> MapDescriptor(int fd, size_t size, const std::string& name);
  // Shared and writable, as a perf ring wants it: `size` bytes at `offset` of `fd`. errno survives in the
  // status.
  static absl::StatusOr<MappedRegion> MapShared(int fd, size_t size, int64_t offset, const std::string& name);
  // Private zeroed memory, page-aligned; unlike a vector, untouched pages cost nothing.
  static absl::StatusOr<MappedRegion> MapAnonymous(size_t size);

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::span<std::byte> mutable_bytes() { return {data_, size_}; }  // Requires: MapShared or MapAnonymous.
  size_t size() const { return size_; }

  // Gives the memory of `part` back to the kernel; the bytes are the file's and come again when touched. A
  // walk that releases what is behind it uses the same little memory for a file of any size. Requires:
  // MapFile or MapDescriptor; `part` lies within bytes().
  void ReleasePages(std::span<const std::byte> part) const;

 private:
  MappedRegion(std::byte* data, size_t size) : data_(data), size_(size) {}
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_BASE_MAPPED_REGION_H_
