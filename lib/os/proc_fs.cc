// SPDX-License-Identifier: Apache-2.0
#include "lib/os/proc_fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

// Longer than any path these functions build: "task" and two numbers.
using RelativePath = std::array<char, 64>;

constexpr size_t kMaxTextBytes = size_t{1} << 28;

template <typename... Args>
RelativePath Format(const char* format, Args... args) {
  RelativePath path;
  std::snprintf(path.data(), path.size(), format, args...);
  return path;
}

template <typename T>
std::optional<T> ParseNumber(std::string_view text, int base = 10) {
  T value{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// Takes what stands before `separator` (or all) off the front of `text`.
std::string_view TakeUntil(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  const std::string_view field = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return field;
}

// Takes a hexadecimal (or decimal) number and the separator behind it. False: no such thing there.
template <typename T>
bool TakeNumber(const char*& at, const char* end, char separator, int base, T* out) {
  const auto result = std::from_chars(at, end, *out, base);
  if (result.ec != std::errc() || result.ptr == end || *result.ptr != separator) return false;
  at = result.ptr + 1;
  return true;
}

// seq_path() writes a newline of a file's name as "\012" and nothing else escaped.
size_t UnescapeNewlines(char* text, size_t size) {
  if (std::memchr(text, '\\', size) == nullptr) return size;
  size_t out = 0;
  for (size_t in = 0; in < size; ++out) {
    if (size - in >= 4 && std::memcmp(text + in, "\\012", 4) == 0) {
      text[out] = '\n';
      in += 4;
    } else {
      text[out] = text[in++];
    }
  }
  return out;
}

std::vector<std::string_view> Fields(std::string_view text) {
  std::vector<std::string_view> fields;
  constexpr std::string_view kBlanks = " \t";
  for (size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const size_t end = text.find_first_of(kBlanks, at);
    fields.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    at = text.find_first_not_of(kBlanks, end);
  }
  return fields;
}

void ParseStatusLine(std::string_view key, std::string_view value, ProcessStatus& out) {
  const std::vector<std::string_view> fields = Fields(value);
  if (fields.empty()) return;
  const uint32_t first = ParseNumber<uint32_t>(fields[0]).value_or(0);
  if (key == "Tgid") out.tgid = first;
  if (key == "PPid") out.ppid = first;
  if (key == "Threads") out.threads = first;
  if (key == "Seccomp") out.seccomp = static_cast<int>(first);
  if (key == "CapEff") out.effective_capabilities = ParseNumber<uint64_t>(fields[0], 16).value_or(0);
  if (key == "Uid") {
    out.uid = first;
    if (fields.size() > 1) out.euid = ParseNumber<uint32_t>(fields[1]).value_or(0);
  }
  if (key == "NSpid") {
    for (std::string_view field : fields) out.ns_pids.push_back(ParseNumber<uint32_t>(field).value_or(0));
  }
}

}  // namespace

bool ParseMapsLine(std::span<char> line, MapsLine* out) {
  // start-end rwxp offset maj:min inode          path
  const char* at = line.data();
  const char* const end = at + line.size();
  if (!TakeNumber(at, end, '-', 16, &out->start) || !TakeNumber(at, end, ' ', 16, &out->end)) return false;
  if (end - at < 5 || at[4] != ' ' || out->start >= out->end) return false;
  out->protection = (at[0] == 'r' ? static_cast<uint32_t>(PROT_READ) : 0u) |
                    (at[1] == 'w' ? static_cast<uint32_t>(PROT_WRITE) : 0u) |
                    (at[2] == 'x' ? static_cast<uint32_t>(PROT_EXEC) : 0u);
  out->flags = at[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
  at += 5;
  if (!TakeNumber(at, end, ' ', 16, &out->offset) || !TakeNumber(at, end, ':', 16, &out->maj) ||
      !TakeNumber(at, end, ' ', 16, &out->min))
    return false;
  const auto inode = std::from_chars(at, end, out->inode);
  if (inode.ec != std::errc()) return false;
  // Blanks up to the path; a path that starts with one is not possible (it starts with / or [).
  at = std::find_if(inode.ptr, end, [](char c) { return c != ' '; });
  char* const path = line.data() + (at - line.data());
  out->path = {path, UnescapeNewlines(path, static_cast<size_t>(end - at))};
  return true;
}

std::vector<LoadedModule> ParseModules(std::string_view text) {
  std::vector<LoadedModule> modules;
  while (!text.empty()) {
    // name size refcount users state address [taints]
    const std::vector<std::string_view> fields = Fields(TakeUntil(text, '\n'));
    if (fields.size() < 6 || !fields[5].starts_with("0x")) continue;
    const auto size = ParseNumber<uint64_t>(fields[1]);
    const auto address = ParseNumber<uint64_t>(fields[5].substr(2), 16);
    if (size && address) modules.push_back({std::string(fields[0]), *address, *size});
  }
  return modules;
}

bool ParseKallsymsLine(std::string_view line, KallsymsLine* out) {
  // address type name[\t[module]]
  const char* at = line.data();
  const char* const end = at + line.size();
  if (!TakeNumber(at, end, ' ', 16, &out->address)) return false;
  if (end - at < 3 || at[1] != ' ') return false;
  out->type = at[0];
  std::string_view rest(at + 2, static_cast<size_t>(end - at - 2));
  out->name = TakeUntil(rest, '\t');
  out->module = rest.size() > 2 && rest.front() == '[' && rest.back() == ']' ? rest.substr(1, rest.size() - 2)
                                                                             : std::string_view();
  return !out->name.empty();
}

absl::StatusOr<ProcFs> ProcFs::Open(const std::string& root) {
  UniqueFd fd(open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return ErrnoStatus(errno, StrCat("open ", root));
  return ProcFs(root, std::move(fd));
}

std::vector<pid_t> ProcFs::Numbers(const char* relative) const {
  std::vector<pid_t> numbers;
  const UniqueFd folder(openat(fd_.get(), relative, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return numbers;
  alignas(dirent64) std::array<char, 32 * 1024> entries;
  // readdir() would allocate as much for every process; here it is a page or two of the stack.
  for (ssize_t size; (size = getdents64(folder.get(), entries.data(), entries.size())) > 0;) {
    for (size_t at = 0; at < static_cast<size_t>(size);) {
      uint16_t length = 0;
      std::memcpy(&length, entries.data() + at + offsetof(dirent64, d_reclen), sizeof(length));
      const char* name = entries.data() + at + offsetof(dirent64, d_name);
      if (auto number = ParseNumber<pid_t>(name); number && *number > 0) numbers.push_back(*number);
      at += length;
    }
  }
  if (!std::is_sorted(numbers.begin(), numbers.end())) std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::vector<pid_t> ProcFs::Processes() const {
  return Numbers(".");
}

std::vector<pid_t> ProcFs::Threads(pid_t pid) const {
  return Numbers(Format("%d/task", pid).data());
}

std::optional<pid_t> ProcFs::ProcessOf(pid_t tid) const {
  // Hidden from listings, /proc/TID is there for every thread.
  absl::StatusOr<ProcessStatus> status = ReadStatus(tid);
  if (!status.ok() || status->tgid == 0) return std::nullopt;
  return static_cast<pid_t>(status->tgid);
}

absl::StatusOr<UniqueFd> ProcFs::OpenFile(const char* relative) const {
  UniqueFd fd(openat(fd_.get(), relative, O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) return ErrnoStatus(errno == ESRCH ? ENOENT : errno, StrCat("open ", root_, "/", relative));
  return fd;
}

absl::StatusOr<std::span<char>> ProcFs::Read(const char* relative, std::string& scratch) const {
  KSAMP_ASSIGN_OR_RETURN(const UniqueFd fd, OpenFile(relative));
  size_t used = 0;
  for (;;) {
    if (scratch.size() - used < 4096) scratch.resize(std::max<size_t>(16 * 1024, scratch.size() * 2));
    const ssize_t got = read(fd.get(), scratch.data() + used, scratch.size() - used);
    if (got < 0 && errno == EINTR) continue;
    // ESRCH: the process ended after the file was opened.
    if (got < 0) return ErrnoStatus(errno == ESRCH ? ENOENT : errno, StrCat("read ", root_, "/", relative));
    if (got == 0) return std::span(scratch.data(), used);
    used += static_cast<size_t>(got);
    if (used > kMaxTextBytes)
      return absl::ResourceExhaustedError(StrCat("read ", root_, "/", relative, ": does not end"));
  }
}

absl::StatusOr<std::string_view> ProcFs::ReadComm(pid_t pid, pid_t tid, std::string& scratch) const {
  KSAMP_ASSIGN_OR_RETURN(const std::span<char> text,
                         Read(Format("%d/task/%d/comm", pid, tid).data(), scratch));
  std::string_view comm(text.data(), text.size());
  // The kernel adds one newline; others are the name's own.
  if (comm.ends_with('\n')) comm.remove_suffix(1);
  return comm;
}

absl::StatusOr<ProcessStatus> ProcFs::ReadStatus(pid_t pid) const {
  std::string scratch;
  KSAMP_ASSIGN_OR_RETURN(const std::span<char> text, Read(Format("%d/status", pid).data(), scratch));
  ProcessStatus status;
  for (std::string_view rest(text.data(), text.size()); !rest.empty();) {
    std::string_view value = TakeUntil(rest, '\n');
    const std::string_view key = TakeUntil(value, ':');
    ParseStatusLine(key, value, status);
  }
  return status;
}

absl::StatusOr<uint64_t> ProcFs::ReadStartTime(pid_t pid) const {
  std::string scratch;
  KSAMP_ASSIGN_OR_RETURN(const std::span<char> text, Read(Format("%d/stat", pid).data(), scratch));
  std::string_view rest(text.data(), text.size());
  // The comm, in parentheses, may hold parentheses: the last one ends it.
  const size_t close = rest.rfind(')');
  if (close != std::string_view::npos) {
    rest.remove_prefix(close + 1);
    const std::vector<std::string_view> fields = Fields(rest);  // From field 3, the state, on.
    if (fields.size() > 19) {
      if (auto ticks = ParseNumber<uint64_t>(fields[19])) return *ticks;
    }
  }
  return absl::DataLossError(StrCat("read ", root_, "/", pid, "/stat: no start time"));
}

absl::StatusOr<std::span<char>> ProcFs::ReadMaps(pid_t pid, pid_t tid, std::string& scratch) const {
  const RelativePath path = tid == pid ? Format("%d/maps", pid) : Format("%d/task/%d/maps", pid, tid);
  return Read(path.data(), scratch);
}

absl::StatusOr<std::string_view> ProcFs::ReadExe(pid_t pid, std::string& scratch) const {
  if (scratch.size() < PATH_MAX) scratch.resize(PATH_MAX);
  const RelativePath path = Format("%d/exe", pid);
  const ssize_t length = readlinkat(fd_.get(), path.data(), scratch.data(), scratch.size());
  if (length >= 0) return std::string_view(scratch.data(), static_cast<size_t>(length));
  // A kernel thread has no executable: its link is there and leads nowhere.
  const int error = errno;
  struct stat link {};
  if (error == ENOENT && fstatat(fd_.get(), path.data(), &link, AT_SYMLINK_NOFOLLOW) == 0)
    return std::string_view();
  errno = error;
  return ErrnoStatus(errno == ESRCH ? ENOENT : errno, StrCat("readlink ", root_, "/", path.data()));
}

}  // namespace ksamp
