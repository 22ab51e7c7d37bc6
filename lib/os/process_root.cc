// SPDX-License-Identifier: Apache-2.0
#include "lib/os/process_root.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

// O_NONBLOCK: a FIFO of that name must not stop us; it is refused when it is open.
constexpr int kFileFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;

UniqueFd OpenFolder(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

// An absolute link inside would lead out into our own root; openat2 (5.6) keeps it in. Where a filter of
// system calls or an old kernel has none of it, links among the folders are not worth the risk.
UniqueFd OpenInside(int root, const std::string& path) {
  open_how how = {};
  how.flags = kFileFlags;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const long fd = syscall(SYS_openat2, root, path.c_str(), &how, sizeof(how));
  if (fd >= 0) return UniqueFd(static_cast<int>(fd));
  if (errno != ENOSYS && errno != EPERM) return UniqueFd();
  UniqueFd folder(fcntl(root, F_DUPFD_CLOEXEC, 0));
  std::string_view rest = path;
  while (folder) {
    rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
    const size_t end = rest.find('/');
    const std::string name(rest.substr(0, end));
    if (end == std::string_view::npos) return UniqueFd(openat(folder.get(), name.c_str(), kFileFlags));
    if (name == "..") {
      errno = ELOOP;
      return UniqueFd();
    }
    folder.Reset(openat(folder.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    rest.remove_prefix(end);
  }
  return UniqueFd();
}

}  // namespace

absl::StatusOr<ProcessRoot> ProcessRoot::Of(const ProcFs& proc, pid_t pid) {
  KSAMP_ASSIGN_OR_RETURN(const ProcessStatus status, proc.ReadStatus(pid));
  const uint32_t inside = status.ns_pids.empty() ? static_cast<uint32_t>(pid) : status.ns_pids.back();
  std::string name = StrCat(proc.root(), "/", pid, "/root");
  UniqueFd fd = OpenFolder(name);
  if (!fd && (errno == EACCES || errno == EPERM) && status.ns_pids.size() <= 1) {
    name.clear();
    fd = OpenFolder("/");
  }
  if (!fd) return ErrnoStatus(errno, StrCat("open ", name));
  return ProcessRoot(std::move(fd), std::move(name), inside, status.euid);
}

absl::StatusOr<ProcessRoot> ProcessRoot::OfEnded(pid_t pid, const std::string& root) {
  UniqueFd fd = OpenFolder(root);
  if (!fd) return ErrnoStatus(errno, StrCat("open ", root));
  return ProcessRoot(std::move(fd), root == "/" ? std::string() : root, static_cast<uint32_t>(pid),
                     geteuid());
}

absl::StatusOr<UniqueFd> ProcessRoot::OpenOwned(const std::string& path) const {
  const std::string shown = StrCat(name_, path);
  UniqueFd fd = OpenInside(fd_.get(), path);
  if (!fd && errno == ELOOP)
    return absl::FailedPreconditionError(StrCat("open ", shown, ": a symbolic link; not used"));
  if (!fd) return ErrnoStatus(errno, StrCat("open ", shown));
  struct stat file {};
  if (fstat(fd.get(), &file) != 0) return ErrnoStatus(errno, StrCat("stat ", shown));
  if (!S_ISREG(file.st_mode))
    return absl::FailedPreconditionError(StrCat("open ", shown, ": not a regular file; not used"));
  if (file.st_uid != 0 && file.st_uid != user_)
    return absl::FailedPreconditionError(StrCat("open ", shown, ": belongs to user ", file.st_uid,
                                                ", its process to user ", user_, "; not used"));
  return fd;
}

std::string PerfMapPath(uint32_t pid_inside) {
  return StrCat("/tmp/perf-", pid_inside, ".map");
}

}  // namespace ksamp
