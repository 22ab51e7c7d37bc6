// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/nmi_watchdog.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

// Between here and the end of this namespace nothing allocates: the guardian is the child of a fork in a
// process that may have threads, where only async-signal-safe calls are allowed.

struct Holder {
  int64_t pid = 0;
  uint64_t start_time = 0;
};

struct State {
  static constexpr size_t kMaxHolders = 128;
  int original = -1;  // -1: nobody has turned it off
  std::array<Holder, kMaxHolders> holders{};
  size_t count = 0;
};

// Reads up to buffer.size() bytes of an open file from its start.
std::string_view ReadFrom(int fd, std::span<char> buffer) {
  ssize_t got = 0;
  do {
    got = pread(fd, buffer.data(), buffer.size(), 0);
  } while (got < 0 && errno == EINTR);
  return {buffer.data(), got > 0 ? static_cast<size_t>(got) : 0};
}

template <typename T>
T NumberAt(std::string_view& text) {
  T value{};
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value).ptr;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

// When a process started, in ticks; 0: there is none. Always the real /proc: pids are this machine's.
uint64_t StartTime(int64_t pid) {
  std::array<char, 1024> buffer;
  std::snprintf(buffer.data(), buffer.size(), "/proc/%lld/stat", static_cast<long long>(pid));
  const int fd = open(buffer.data(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  std::string_view text = ReadFrom(fd, buffer);
  close(fd);
  // The name may hold anything; behind the last parenthesis comes the state, field 3. A zombie holds nothing.
  text.remove_prefix(std::min(text.size(), text.rfind(')') + 1));
  if (text.size() < 3 || text[1] == 'Z' || text[1] == 'X') return 0;
  for (int field = 3; field < 22 && !text.empty(); ++field) {
    text.remove_prefix(1);
    text.remove_prefix(std::min(text.size(), text.find(' ')));
  }
  return NumberAt<uint64_t>(text);
}

// The state without holders that no longer live.
State ReadState(int fd) {
  std::array<char, 8192> buffer;
  State state;
  std::string_view text = ReadFrom(fd, buffer);
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with("original ")) {
      line.remove_prefix(9);
      state.original = NumberAt<int>(line);
    } else if (line.starts_with("holder ") && state.count < State::kMaxHolders) {
      line.remove_prefix(7);
      Holder holder;
      holder.pid = NumberAt<int64_t>(line);
      holder.start_time = NumberAt<uint64_t>(line);
      if (holder.start_time != 0 && StartTime(holder.pid) == holder.start_time)
        state.holders[state.count++] = holder;
    }
  }
  return state;
}

bool WriteWhole(int fd, const char* text, size_t size) {
  return pwrite(fd, text, size, 0) == static_cast<ssize_t>(size);
}

// Empty where nobody holds. False: errno is set.
bool WriteState(int fd, const State& state) {
  std::array<char, 8192> buffer;
  size_t used = 0;
  if (state.count > 0)
    used += static_cast<size_t>(std::snprintf(buffer.data(), buffer.size(), "original %d\n", state.original));
  for (size_t i = 0; i < state.count && used + 64 < buffer.size(); ++i)
    used +=
        static_cast<size_t>(std::snprintf(buffer.data() + used, buffer.size() - used, "holder %lld %llu\n",
                                          static_cast<long long>(state.holders[i].pid),
                                          static_cast<unsigned long long>(state.holders[i].start_time)));
  return ftruncate(fd, 0) == 0 && WriteWhole(fd, buffer.data(), used);
}

bool WriteValue(const char* control, int value) {
  const int fd = open(control, O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (fd < 0) return false;
  std::array<char, 16> text;
  const int size = std::snprintf(text.data(), text.size(), "%d\n", value);
  const bool done = WriteWhole(fd, text.data(), static_cast<size_t>(size));
  const int error = errno;
  close(fd);
  errno = error;
  return done;
}

int OpenLocked(const char* state_path) {
  const int fd = open(state_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  while (fd >= 0 && flock(fd, LOCK_EX) != 0) {
    if (errno != EINTR) {
      close(fd);
      return -1;
    }
  }
  return fd;
}

// The guardian's last deed.
void TakeOff(const char* control, const char* state_path, int64_t self) {
  const int fd = OpenLocked(state_path);
  if (fd < 0) return;
  State state = ReadState(fd);
  Holder* const end = state.holders.data() + state.count;
  Holder* const kept =
      std::remove_if(state.holders.data(), end, [&](const Holder& h) { return h.pid == self; });
  state.count = static_cast<size_t>(kept - state.holders.data());
  // First the value, then the file: if this is interrupted in between, the stale file repeats it.
  if (state.count == 0 && state.original >= 0) WriteValue(control, state.original);
  WriteState(fd, state);
  close(fd);
}

void CloseAllBut(int kept) {
  // A guardian must not keep a pipe of the recorder's open: whoever reads it would wait for ever.
  if (kept > 3) close_range(3, static_cast<unsigned>(kept - 1), 0);
  if (close_range(static_cast<unsigned>(kept + 1), ~0u, 0) == 0) return;
  for (int fd = 3; fd < 65536; ++fd) {
    if (fd != kept) close(fd);
  }
}

// Says by one byte that it is ready, then waits. Requires: all signals are blocked.
[[noreturn]] void RunGuardian(const char* control, const char* state_path, int pipe_end) {
  setsid();
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < 3 && null >= 0; ++fd) dup2(null, fd);
  CloseAllBut(pipe_end);
  char byte = 1;
  ssize_t got = write(pipe_end, &byte, 1);
  do {
    got = read(pipe_end, &byte, 1);
  } while (got > 0 || (got < 0 && errno == EINTR));
  TakeOff(control, state_path, getpid());
  _exit(0);
}

}  // namespace

namespace {

std::string ControlPath(const NmiWatchdogPaths& paths) {
  return paths.proc_root + "/sys/kernel/nmi_watchdog";
}

std::string StatePath(const NmiWatchdogPaths& paths) {
  return paths.run_dir + "/ksamp-nmi-watchdog";
}

absl::StatusOr<int> ReadValue(const std::string& control) {
  KSAMP_ASSIGN_OR_RETURN(const std::string text, ReadFile(control, 64));
  std::string_view rest = text;
  return NumberAt<int>(rest);
}

// The locked state file.
absl::StatusOr<UniqueFd> LockState(const std::string& path) {
  UniqueFd fd(OpenLocked(path.c_str()));
  if (!fd) return ErrnoStatus(errno, StrCat("lock ", path));
  return fd;
}

// With the lock held: undoes what holders that are gone left behind. True: there was something.
absl::StatusOr<bool> Repair(const std::string& control, int state_fd, State& state) {
  if (state.count > 0 || state.original < 0) return false;
  if (!WriteValue(control.c_str(), state.original)) return ErrnoStatus(errno, StrCat("write ", control));
  state.original = -1;
  if (!WriteState(state_fd, state)) return ErrnoStatus(errno, "write the nmi_watchdog state file");
  return true;
}

}  // namespace

absl::StatusOr<NmiWatchdogOff> NmiWatchdogOff::Acquire(const NmiWatchdogPaths& paths) {
  const std::string control = ControlPath(paths), state_path = StatePath(paths);
  KSAMP_RETURN_IF_ERROR(ReadValue(control).status());
  if (access(control.c_str(), W_OK) != 0) return ErrnoStatus(errno, StrCat("write ", control));
  KSAMP_ASSIGN_OR_RETURN(UniqueFd lock, LockState(state_path));
  State state = ReadState(lock.get());
  KSAMP_RETURN_IF_ERROR(Repair(control, lock.get(), state).status());
  NmiWatchdogOff off;
  if (state.count == 0) {
    KSAMP_ASSIGN_OR_RETURN(state.original, ReadValue(control));
    if (state.original == 0) return off;
  }
  if (state.count == State::kMaxHolders)
    return absl::ResourceExhaustedError(StrCat(state_path, ": too many holders"));
  KSAMP_RETURN_IF_ERROR(off.StartGuardian(control, state_path));
  state.holders[state.count++] = {off.guardian_, StartTime(off.guardian_)};
  // The file before the value: whatever happens after it, somebody can put the value back. From here on an
  // error makes the guardian do so: it only waits for the lock that this function holds.
  const bool done = WriteState(lock.get(), state) && WriteValue(control.c_str(), 0);
  const int error = errno;
  if (done) return off;
  lock.Reset();
  off.Release();
  return ErrnoStatus(error, StrCat("turn off ", control));
}

absl::Status NmiWatchdogOff::StartGuardian(const std::string& control, const std::string& state_path) {
  std::array<int, 2> ends;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return ErrnoStatus(errno, "socketpair");
  const UniqueFd guardian_end(ends[1]);
  alive_.Reset(ends[0]);
  // Blocked before the fork: there is no moment in which Ctrl-C could hit the guardian.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  guardian_ = fork();
  if (guardian_ == 0) RunGuardian(control.c_str(), state_path.c_str(), guardian_end.get());
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (guardian_ < 0) return ErrnoStatus(error, "fork the nmi_watchdog guardian");
  char ready = 0;
  while (read(alive_.get(), &ready, 1) < 0 && errno == EINTR) {
  }
  return absl::OkStatus();
}

NmiWatchdogOff::NmiWatchdogOff(NmiWatchdogOff&& other) noexcept
    : alive_(std::move(other.alive_)), guardian_(std::exchange(other.guardian_, -1)) {}

NmiWatchdogOff& NmiWatchdogOff::operator=(NmiWatchdogOff&& other) noexcept {
  if (this == &other) return *this;
  Release();
  alive_ = std::move(other.alive_);
  guardian_ = std::exchange(other.guardian_, -1);
  return *this;
}

NmiWatchdogOff::~NmiWatchdogOff() {
  Release();
}

void NmiWatchdogOff::Release() {
  alive_.Reset();
  if (guardian_ < 0) return;
  while (waitpid(guardian_, nullptr, 0) < 0 && errno == EINTR) {
  }
  guardian_ = -1;
}

absl::StatusOr<bool> RepairNmiWatchdog(const NmiWatchdogPaths& paths) {
  const std::string state_path = StatePath(paths);
  if (access(state_path.c_str(), F_OK) != 0) return false;
  KSAMP_ASSIGN_OR_RETURN(const UniqueFd lock, LockState(state_path));
  State state = ReadState(lock.get());
  return Repair(ControlPath(paths), lock.get(), state);
}

}  // namespace ksamp
