// SPDX-License-Identifier: Apache-2.0
// ProcFs: what /proc says about processes, read fast enough for thousands of them.
//
//   KSAMP_ASSIGN_OR_RETURN(ProcFs proc, ProcFs::Open("/proc"));
//   std::string scratch;
//   for (pid_t pid : proc.Processes()) {
//     absl::StatusOr<std::span<char>> maps = proc.ReadMaps(pid, pid, scratch);
//     if (!maps.ok()) continue;                       // it ended meanwhile: nothing wrong
//     ForEachMapsLine(*maps, [&](const MapsLine& line) { … });
//   }
//
// A process may vanish between any two calls. That is an answer like any other: NotFound, or an empty list.
// PermissionDenied stays apart, because it hides processes that are there.
//
// Everything is read below one open folder, so tests point it at a tree of plain files. Text is parsed where
// it was read: names are views into the caller's scratch string, valid until its next use. Const calls may be
// made from several threads, each with a scratch of its own.
#ifndef KSAMP_LIB_OS_PROC_FS_H_
#define KSAMP_LIB_OS_PROC_FS_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/unique_fd.h"

namespace ksamp {

// The lines of /proc/PID/status that ksamp has a use for; absent ones are zero.
struct ProcessStatus {
  uint32_t tgid = 0, ppid = 0, uid = 0, euid = 0, threads = 0;
  std::vector<uint32_t> ns_pids;  // from the outermost namespace we see to the process's own
  int seccomp = 0;                // 0 off, 1 strict, 2 filter
  uint64_t effective_capabilities = 0;
};

// One line of /proc/PID/maps. `path` is as the kernel's own MMAP2 record would have it: "\012" turned back
// into a newline, " (deleted)" left on, empty for anonymous memory.
struct MapsLine {
  uint64_t start = 0, end = 0, offset = 0;
  uint32_t protection = 0;  // PROT_*
  uint32_t flags = 0;       // MAP_SHARED or MAP_PRIVATE
  uint32_t maj = 0, min = 0;
  uint64_t inode = 0;
  std::string_view path;
};

// Parses one line, without its newline, in place (escapes in the path are undone there). False: not such a
// line.
bool ParseMapsLine(std::span<char> line, MapsLine* out);

// fn(const MapsLine&) for each well-formed line of a maps text; others are passed over.
template <typename Fn>
void ForEachMapsLine(std::span<char> text, Fn&& fn) {
  while (!text.empty()) {
    const size_t length = std::string_view(text.data(), text.size()).find('\n');
    const size_t line = length == std::string_view::npos ? text.size() : length;
    MapsLine parsed;
    if (ParseMapsLine(text.first(line), &parsed)) fn(static_cast<const MapsLine&>(parsed));
    text = text.subspan(line == text.size() ? line : line + 1);
  }
}

// A line of /proc/modules. Address 0: hidden by kptr_restrict.
struct LoadedModule {
  std::string name;
  uint64_t address = 0, size = 0;
  friend bool operator==(const LoadedModule&, const LoadedModule&) = default;
};
std::vector<LoadedModule> ParseModules(std::string_view text);

// A line of /proc/kallsyms; `module` is empty for the kernel proper.
struct KallsymsLine {
  uint64_t address = 0;
  char type = 0;
  std::string_view name, module;
};
bool ParseKallsymsLine(std::string_view line, KallsymsLine* out);

class ProcFs {
 public:
  static absl::StatusOr<ProcFs> Open(const std::string& root = "/proc");

  const std::string& root() const { return root_; }
  int descriptor() const { return fd_.get(); }  // of the root folder, for openat()

  // All processes, ascending.
  std::vector<pid_t> Processes() const;
  // All threads of a process, ascending; empty where it has ended.
  std::vector<pid_t> Threads(pid_t pid) const;
  // The process a thread belongs to; nothing where it has ended.
  std::optional<pid_t> ProcessOf(pid_t tid) const;

  // The name of a thread, unescaped: it may hold any byte but NUL.
  absl::StatusOr<std::string_view> ReadComm(pid_t pid, pid_t tid, std::string& scratch) const;
  absl::StatusOr<ProcessStatus> ReadStatus(pid_t pid) const;
  // Ticks after boot (`stat`, field 22): with the pid, who a process is.
  absl::StatusOr<uint64_t> ReadStartTime(pid_t pid) const;
  // The text of /proc/PID/maps; empty for kernel threads, and for a main thread that ended before the others:
  // then `tid` gives another thread, which still has the address space.
  absl::StatusOr<std::span<char>> ReadMaps(pid_t pid, pid_t tid, std::string& scratch) const;
  // Target of /proc/PID/exe as the kernel spells it, " (deleted)" included; empty for kernel threads.
  absl::StatusOr<std::string_view> ReadExe(pid_t pid, std::string& scratch) const;

  // Any file below the root, whole, into `scratch`.
  absl::StatusOr<std::span<char>> Read(const char* relative, std::string& scratch) const;
  absl::StatusOr<UniqueFd> OpenFile(const char* relative) const;

 private:
  ProcFs(std::string root, UniqueFd fd) : root_(std::move(root)), fd_(std::move(fd)) {}
  // Names of the folder below the root that are numbers.
  std::vector<pid_t> Numbers(const char* relative) const;

  std::string root_;
  UniqueFd fd_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_OS_PROC_FS_H_
