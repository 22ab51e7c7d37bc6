// SPDX-License-Identifier: Apache-2.0
#include "test/support/capability.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "lib/base/unique_fd.h"

namespace ksamp::testing {
namespace {

UniqueFd OpenEvent(uint32_t type, uint64_t config, pid_t pid, int cpu) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = type;
  attr.config = config;
  attr.sample_period = 1'000'000;
  return UniqueFd(static_cast<int>(syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
}

Missing Opens(uint32_t type, uint64_t config, pid_t pid, int cpu, const char* what) {
  if (OpenEvent(type, config, pid, cpu)) return std::nullopt;
  return std::string(what) + " cannot be opened here: " + std::strerror(errno);
}

}  // namespace

Missing CanSample() {
  return Opens(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, -1, "cpu-clock");
}

Missing CanSampleSystemWide() {
  return Opens(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, -1, 0, "cpu-clock, system-wide");
}

Missing HasHardwareCycles() {
  UniqueFd fd = OpenEvent(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, -1);
  if (!fd) return std::string("cycles cannot be opened here: ") + std::strerror(errno);
  uint64_t count = 0;
  // Something to count that no optimiser removes.
  for (int i = 0; i < 1'000'000; ++i) asm volatile("");
  if (read(fd.get(), &count, sizeof(count)) != sizeof(count) || count == 0)
    return "cycles opens but counts nothing";
  return std::nullopt;
}

Missing IsRoot() {
  if (geteuid() == 0) return std::nullopt;
  return "needs root";
}

Missing HasTracefs() {
  for (const char* root : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    std::error_code ignored;
    if (std::filesystem::exists(std::string(root) + "/events/sched/sched_switch/id", ignored))
      return std::nullopt;
  }
  return "tracefs is not mounted or not readable";
}

Missing HasTool(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((folder + "/" + name).c_str(), X_OK) == 0) return std::nullopt;
  }
  return name + " is not installed";
}

}  // namespace ksamp::testing
