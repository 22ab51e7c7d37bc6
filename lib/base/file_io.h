// SPDX-License-Identifier: Apache-2.0
// Whole files in and out, with the path and the cause in every error.
//
// Output is created so that nobody else can read it or redirect it: mode 0600, O_NOFOLLOW. Inputs from /proc
// and /sys have no size, so ReadFile reads to the end, up to a limit that keeps a hostile endless file out of
// memory.
#ifndef KSAMP_LIB_BASE_FILE_IO_H_
#define KSAMP_LIB_BASE_FILE_IO_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/unique_fd.h"

namespace ksamp {

inline constexpr size_t kMaxReadFileBytes = size_t{1} << 30;

// All of the file at `path`. More than `limit` bytes: ResourceExhausted.
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t limit = kMaxReadFileBytes);
// The same from an open descriptor, from its current position.
absl::StatusOr<std::string> ReadAll(int fd, const std::string& name, size_t limit = kMaxReadFileBytes);

absl::StatusOr<UniqueFd> OpenForReading(const std::string& path);
// A new or truncated file of ours for writing and reading: 0600, never through a symbolic link. Devices and
// FIFOs that exist (`-o /dev/null`) are opened as they are.
absl::StatusOr<UniqueFd> CreateOutputFile(const std::string& path);
// The same, but what is in the file stays, and writes go behind it.
absl::StatusOr<UniqueFd> AppendToOutputFile(const std::string& path);
// An unlinked scratch file: memory (memfd) by name `name`.
absl::StatusOr<UniqueFd> CreateScratchFile(const std::string& name);
// An unlinked scratch file on disk, in $TMPDIR or /var/tmp, for what may not fit in memory.
absl::StatusOr<UniqueFd> CreateScratchFileOnDisk();

// Writes all of it, resuming after EINTR and short writes. The error carries errno (ENOSPC, EPIPE, ...).
absl::Status WriteAll(int fd, std::span<const std::byte> bytes, const std::string& name);
absl::Status WriteAllAt(int fd, std::span<const std::byte> bytes, uint64_t offset, const std::string& name);
// Replaces or creates `path` with `text`, mode 0600.
absl::Status WriteFile(const std::string& path, std::string_view text);

absl::StatusOr<uint64_t> FileSize(int fd, const std::string& name);

// "a/b/c.so" -> "c.so"; "" stays "".
std::string_view Basename(std::string_view path);
// "a/b/c.so" -> "a/b"; "c.so" -> ".".
std::string_view Dirname(std::string_view path);

// The errno a status of this room was made from (a payload), or 0.
int StatusErrno(const absl::Status& status);
// absl::ErrnoToStatus with the errno kept for StatusErrno(). `what` is "operation object"; the cause is
// added.
absl::Status ErrnoStatus(int error, std::string_view what);

}  // namespace ksamp

#endif  // KSAMP_LIB_BASE_FILE_IO_H_
