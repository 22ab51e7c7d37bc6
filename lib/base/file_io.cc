// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file_io.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "absl/strings/cord.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

constexpr char kErrnoPayload[] = "ksamp.errno";

// read(2) and write(2) that survive signals. Negative: errno is set.
template <typename Call>
ssize_t Retry(Call call) {
  ssize_t result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

}  // namespace

absl::Status ErrnoStatus(int error, std::string_view what) {
  absl::Status status = absl::ErrnoToStatus(error, std::string(what));
  status.SetPayload(kErrnoPayload, absl::Cord(std::to_string(error)));
  return status;
}

int StatusErrno(const absl::Status& status) {
  const auto payload = status.GetPayload(kErrnoPayload);
  return payload ? std::atoi(std::string(*payload).c_str()) : 0;
}

absl::StatusOr<std::string> ReadAll(int fd, const std::string& name, size_t limit) {
  std::string text;
  size_t used = 0;
  for (;;) {
    if (used == text.size()) text.resize(std::max<size_t>(4096, text.size() * 2));
    const ssize_t got = Retry([&] { return read(fd, text.data() + used, text.size() - used); });
    if (got < 0) return ErrnoStatus(errno, StrCat("read ", name));
    if (got == 0) break;
    used += static_cast<size_t>(got);
    if (used > limit)
      return absl::ResourceExhaustedError(StrCat("read ", name, ": longer than ", limit, " bytes"));
  }
  text.resize(used);
  return text;
}

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t limit) {
  KSAMP_ASSIGN_OR_RETURN(UniqueFd fd, OpenForReading(path));
  return ReadAll(fd.get(), path, limit);
}

absl::StatusOr<UniqueFd> OpenForReading(const std::string& path) {
  UniqueFd fd(static_cast<int>(Retry([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY); })));
  if (!fd) return ErrnoStatus(errno, StrCat("open ", path));
  return fd;
}

namespace {

absl::StatusOr<UniqueFd> OpenOutputFile(const std::string& path, int keep) {
  const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | keep;
  UniqueFd fd(static_cast<int>(Retry([&] { return open(path.c_str(), flags, 0600); })));
  if (!fd) return ErrnoStatus(errno, StrCat("create ", path));
  return fd;
}

}  // namespace

absl::StatusOr<UniqueFd> CreateOutputFile(const std::string& path) {
  return OpenOutputFile(path, O_TRUNC);
}

absl::StatusOr<UniqueFd> AppendToOutputFile(const std::string& path) {
  return OpenOutputFile(path, O_APPEND);
}

absl::StatusOr<UniqueFd> CreateScratchFile(const std::string& name) {
  UniqueFd fd(memfd_create(name.c_str(), MFD_CLOEXEC));
  if (!fd) return ErrnoStatus(errno, StrCat("memfd_create ", name));
  return fd;
}

absl::StatusOr<UniqueFd> CreateScratchFileOnDisk() {
  const char* folder = std::getenv("TMPDIR");
  if (folder == nullptr || *folder == '\0') folder = "/var/tmp";
  UniqueFd fd(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd) return fd;
  std::string pattern = StrCat(folder, "/ksamp-XXXXXX");  // File systems without O_TMPFILE.
  fd.Reset(mkostemp(pattern.data(), O_CLOEXEC));
  if (!fd) return ErrnoStatus(errno, StrCat("create a scratch file in ", folder));
  unlink(pattern.c_str());
  return fd;
}

absl::Status WriteAll(int fd, std::span<const std::byte> bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t wrote = Retry([&] { return write(fd, bytes.data(), bytes.size()); });
    if (wrote < 0 && errno == EAGAIN) {  // A pipe that somebody else made non-blocking.
      pollfd writable{fd, POLLOUT, 0};
      Retry([&] { return poll(&writable, 1, -1); });
      continue;
    }
    if (wrote < 0) return ErrnoStatus(errno, StrCat("write ", name));
    bytes = bytes.subspan(static_cast<size_t>(wrote));
  }
  return absl::OkStatus();
}

absl::Status WriteAllAt(int fd, std::span<const std::byte> bytes, uint64_t offset, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t wrote =
        Retry([&] { return pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (wrote < 0) return ErrnoStatus(errno, StrCat("write ", name, " at ", offset));
    bytes = bytes.subspan(static_cast<size_t>(wrote));
    offset += static_cast<uint64_t>(wrote);
  }
  return absl::OkStatus();
}

absl::Status WriteFile(const std::string& path, std::string_view text) {
  KSAMP_ASSIGN_OR_RETURN(UniqueFd fd, CreateOutputFile(path));
  return WriteAll(fd.get(), {reinterpret_cast<const std::byte*>(text.data()), text.size()}, path);
}

absl::StatusOr<uint64_t> FileSize(int fd, const std::string& name) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return ErrnoStatus(errno, StrCat("stat ", name));
  return static_cast<uint64_t>(info.st_size);
}

std::string_view Basename(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view Dirname(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace ksamp
