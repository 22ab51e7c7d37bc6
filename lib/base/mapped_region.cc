// SPDX-License-Identifier: Apache-2.0
#include "lib/base/mapped_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/base/unique_fd.h"

namespace ksamp {
namespace {

absl::StatusOr<std::byte*> Map(size_t size, int protection, int flags, int fd, int64_t offset,
                               const std::string& name) {
  void* address = mmap(nullptr, size, protection, flags, fd, offset);
  if (address == MAP_FAILED) return ErrnoStatus(errno, StrCat("mmap ", name, " (", size, " bytes)"));
  return static_cast<std::byte*>(address);
}

}  // namespace

MappedRegion& MappedRegion::operator=(MappedRegion&& other) noexcept {
  if (this != &other) {
    if (data_ != nullptr) munmap(data_, size_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

MappedRegion::~MappedRegion() {
  if (data_ != nullptr) munmap(data_, size_);
}

void MappedRegion::ReleasePages(std::span<const std::byte> part) const {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // A touched page brings its neighbours (fault_around_bytes): those before the part came with its first one.
  constexpr size_t kFaultAround = size_t{64} << 10;
  const size_t before = std::max(page, kFaultAround);
  const auto offset = static_cast<size_t>(part.data() - data_);
  const size_t begin = offset / before * before, end = (offset + part.size()) / page * page;
  if (begin < end)
    madvise(data_ + begin, end - begin, MADV_DONTNEED);  // A refusal costs memory, nothing else.
}

absl::StatusOr<MappedRegion> MappedRegion::MapFile(const std::string& path) {
  // A FIFO is refused below; opening one to find that out must not wait for its writer.
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) return ErrnoStatus(errno, StrCat("open ", path));
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, StrCat("stat ", path));
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(StrCat("map ", path, ": not a regular file"));
  return MapDescriptor(fd.get(), static_cast<size_t>(info.st_size), path);
}

absl::StatusOr<MappedRegion> MappedRegion::MapDescriptor(int fd, size_t size, const std::string& name) {
  if (size == 0) return MappedRegion();
  KSAMP_ASSIGN_OR_RETURN(std::byte * data, Map(size, PROT_READ, MAP_PRIVATE, fd, 0, name));
  return MappedRegion(data, size);
}

absl::StatusOr<MappedRegion> MappedRegion::MapShared(int fd, size_t size, int64_t offset,
                                                     const std::string& name) {
  KSAMP_ASSIGN_OR_RETURN(std::byte * data, Map(size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset, name));
  return MappedRegion(data, size);
}

absl::StatusOr<MappedRegion> MappedRegion::MapAnonymous(size_t size) {
  if (size == 0) return MappedRegion();
  KSAMP_ASSIGN_OR_RETURN(std::byte * data,
                         Map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0,
                             "anonymous memory"));
  return MappedRegion(data, size);
}

}  // namespace ksamp
