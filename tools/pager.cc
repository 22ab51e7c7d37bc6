// SPDX-License-Identifier: Apache-2.0
#include "tools/pager.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

// less is the default only where it is installed: a missing one would swallow the report.
std::string DefaultPager(const World& world) {
  std::string path = world.getenv("PATH").value_or("/usr/bin:/bin");
  for (std::string_view rest = path; !rest.empty();) {
    const size_t end = std::min(rest.find(':'), rest.size());
    if (access(StrCat(rest.substr(0, end), "/less").c_str(), X_OK) == 0) return "less";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return "";
}

std::string PagerCommand(const World& world) {
  for (const char* name : {"KSAMP_PAGER", "PAGER"})
    if (const auto command = world.getenv(name)) return *command == "cat" ? "" : *command;
  return DefaultPager(world);
}

}  // namespace

Pager::Pager(World& world, PagerUse use) : world_(world) {
  // A reader that quits is an EPIPE here: the terminal is left in order, and `set -o pipefail` sees success.
  signal(SIGPIPE, SIG_IGN);
  if (use == PagerUse::kNever || !world.out_is_terminal || !world.getenv) return;
  if (const std::string command = PagerCommand(world); !command.empty()) Start(command, world);
}

void Pager::Start(const std::string& command, World& world) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  const UniqueFd reading(ends[0]);
  pipe_.Reset(ends[1]);
  const bool has_options = world.getenv("LESS").has_value();
  child_ = fork();
  if (child_ == 0) {
    dup2(reading.get(), STDIN_FILENO);
    signal(SIGPIPE, SIG_DFL);
    if (!has_options) setenv("LESS", "FRSX", 1);
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  if (child_ < 0) {
    pipe_.Reset();
    return;
  }
  stream_ = std::make_unique<FdStream>(pipe_.get(), "pager");
}

absl::Status Pager::Finish() {
  const absl::Status status = FlushStatus(out());
  stream_.reset();
  pipe_.Reset();
  if (child_ > 0)
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) continue;
  child_ = -1;
  return status;
}

Pager::~Pager() {
  if (child_ > 0) Finish().IgnoreError();
}

}  // namespace ksamp
