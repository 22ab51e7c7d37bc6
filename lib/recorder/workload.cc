// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/workload.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/os/process_fd.h"

namespace ksamp {
namespace {

// What execvp searches where PATH is not set.
constexpr std::string_view kDefaultPath = "/bin:/usr/bin";

struct Pipe {
  UniqueFd read, write;
};

absl::StatusOr<Pipe> MakePipe() {
  std::array<int, 2> fds;
  if (pipe2(fds.data(), O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// 0: can be run. Else the errno that says why not.
int WhyNotExecutable(const std::string& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return access(file.c_str(), X_OK) == 0 ? 0 : errno;
}

absl::Status CannotRun(const std::string& name, int error) {
  if (error == ENOENT || error == ENOTDIR) return ErrnoStatus(ENOENT, StrCat("run ", name));
  return ErrnoStatus(error, StrCat("run ", name));
}

// Everything the child needs, made before the fork: after it only async-signal-safe calls are allowed.
struct ExecPlan {
  explicit ExecPlan(std::vector<std::string> words, std::string program_file)
      : argv_words(std::move(words)), file(std::move(program_file)) {
    for (std::string& word : argv_words) argv.push_back(word.data());
    argv.push_back(nullptr);
    // A file without `#!` is a shell script, as execvp has it.
    shell_argv = {const_cast<char*>("sh"), file.data()};
    shell_argv.insert(shell_argv.end(), argv.begin() + 1, argv.end());
  }
  ExecPlan(const ExecPlan&) = delete;
  ExecPlan& operator=(const ExecPlan&) = delete;

  std::vector<std::string> argv_words;
  std::string file;
  std::vector<char*> argv, shell_argv;
};

// Signals whose handler is one of ours end the child as they would end the command.
void DropHandlers() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action.sa_handler = SIG_DFL;
    action.sa_flags = 0;
    sigaction(number, &action, nullptr);
  }
}

// The child: waits for one byte, then becomes the command. The pipe's end instead of a byte: the recorder
// died or gave up, so there is nothing to run.
[[noreturn]] void RunChild(const ExecPlan& plan, int go, int go_writer, int exec_error) {
  close(go_writer);
  DropHandlers();
  char byte = 0;
  ssize_t got = 0;
  do {
    got = read(go, &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) _exit(0);
  execv(plan.file.c_str(), plan.argv.data());
  if (errno == ENOEXEC) execv("/bin/sh", plan.shell_argv.data());
  const int error = errno;
  // A pipe takes four bytes at once; if the reader is gone, so is anyone to tell.
  if (write(exec_error, &error, sizeof(error)) < 0) _exit(126);
  _exit(127);
}

// A pipe without reader is EPIPE, never SIGPIPE, whatever the process does about that signal.
absl::Status WriteWithoutSignal(int fd, std::byte byte, const std::string& name) {
  sigset_t pipe_signal, before, pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  absl::Status status = WriteAll(fd, {&byte, 1}, StrCat("to the child that runs ", name));
  constexpr timespec kNow{};
  if (!status.ok() && sigismember(&pending, SIGPIPE) == 0) sigtimedwait(&pipe_signal, nullptr, &kNow);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status;
}

void KeepExitStatuses() {
  struct sigaction action {};
  if (sigaction(SIGCHLD, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
    action.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &action, nullptr);
  }
}

}  // namespace

absl::StatusOr<std::string> FindProgram(const std::string& name, std::string_view path) {
  if (name.find('/') != std::string::npos) {
    if (const int error = WhyNotExecutable(name); error != 0) return CannotRun(name, error);
    return name;
  }
  int worst = ENOENT;
  while (!name.empty()) {
    const size_t colon = path.find(':');
    const std::string_view folder = path.substr(0, colon);
    std::string file = folder.empty() ? StrCat("./", name) : StrCat(folder, "/", name);
    const int error = WhyNotExecutable(file);
    if (error == 0) return file;
    if (error == EACCES) worst = EACCES;  // execvp goes on looking, too.
    if (colon == std::string_view::npos) break;
    path.remove_prefix(colon + 1);
  }
  return CannotRun(name, worst);
}

absl::StatusOr<Workload> Workload::Prepare(std::vector<std::string> argv) {
  const char* path = std::getenv("PATH");
  KSAMP_ASSIGN_OR_RETURN(std::string file, FindProgram(argv.front(), path == nullptr ? kDefaultPath : path));
  KSAMP_ASSIGN_OR_RETURN(Pipe go, MakePipe());
  KSAMP_ASSIGN_OR_RETURN(Pipe exec_error, MakePipe());
  Workload workload;
  workload.name_ = argv.front();
  const ExecPlan plan(std::move(argv), std::move(file));
  KeepExitStatuses();
  workload.pid_ = fork();
  if (workload.pid_ < 0) return ErrnoStatus(errno, "fork");
  if (workload.pid_ == 0) RunChild(plan, go.read.get(), go.write.get(), exec_error.write.get());
  workload.go_ = std::move(go.write);
  workload.exec_error_ = std::move(exec_error.read);
  if (absl::StatusOr<UniqueFd> pidfd = OpenProcessFd(workload.pid_); pidfd.ok())
    workload.pidfd_ = *std::move(pidfd);
  return workload;
}

Workload::Workload(Workload&& other) noexcept {
  *this = std::move(other);
}

Workload& Workload::operator=(Workload&& other) noexcept {
  if (this == &other) return *this;
  KillIfNotStarted();
  name_ = std::move(other.name_);
  pid_ = std::exchange(other.pid_, -1);
  go_ = std::move(other.go_);
  exec_error_ = std::move(other.exec_error_);
  pidfd_ = std::move(other.pidfd_);
  started_ = other.started_;
  status_ = other.status_;
  return *this;
}

Workload::~Workload() {
  KillIfNotStarted();
}

void Workload::KillIfNotStarted() {
  if (pid_ < 0 || started_ || status_) return;
  Signal(SIGKILL);
  Wait();
}

absl::Status Workload::Start() {
  started_ = true;
  const std::byte byte{1};
  // The child's end of the pipe is gone only with the child. SIGPIPE may not be ignored here.
  if (TryWait()) return absl::OkStatus();
  if (absl::Status told = WriteWithoutSignal(go_.get(), byte, name_); !told.ok()) {
    if (StatusErrno(told) != EPIPE) return told;
    Wait();
    return absl::OkStatus();
  }
  go_.Reset();
  // The pipe closes when exec succeeds; else an errno comes through it.
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(exec_error_.get(), &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  exec_error_.Reset();
  if (got != sizeof(error)) return absl::OkStatus();
  Wait();
  return CannotRun(name_, error);
}

std::optional<int> Workload::TryWait() {
  int status = 0;
  if (!status_ && pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_;
}

int Workload::Wait() {
  int status = 0;
  while (!status_) {
    const pid_t ended = waitpid(pid_, &status, 0);
    // ECHILD: somebody else reaped it; nobody knows how it ended.
    if (ended == pid_ || (ended < 0 && errno != EINTR)) status_ = status;
  }
  return *status_;
}

void Workload::Signal(int number) {
  if (pid_ > 0 && !TryWait()) kill(pid_, number);
}

}  // namespace ksamp
