// SPDX-License-Identifier: Apache-2.0
// What /proc/sys, /sys and the resource limits say about this machine, as far as recording needs it.
//
//   KSAMP_ASSIGN_OR_RETURN(std::vector<int> cpus, OnlineCpus("/sys"));
//   PerfLimits limits = ReadPerfLimits("/proc");          // limits.paranoid, limits.mlock_kb, …
//
// Everything is read below the roots given, so tests point it at a tree of plain files. What a kernel does
// not have is absent (nullopt, empty, zero), never an error: each is one fact among many.
#ifndef KSAMP_LIB_OS_SYS_FS_H_
#define KSAMP_LIB_OS_SYS_FS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace ksamp {

// "0-3,8" -> {0, 1, 2, 3, 8}, ascending, each once. InvalidArgument: not such a list, or a CPU above 65 535.
absl::StatusOr<std::vector<int>> ParseCpuList(std::string_view text);
// The inverse: {0, 1, 2, 3, 8} -> "0-3,8". Requires: ascending.
std::string FormatCpuList(std::span<const int> cpus);

// CPUs that run now. Without /sys: as many as sysconf knows.
absl::StatusOr<std::vector<int>> OnlineCpus(const std::string& sys_root);

struct PerfLimits {
  std::optional<int> paranoid;       // kernel.perf_event_paranoid
  std::optional<int> kptr_restrict;  // kernel.kptr_restrict
  std::optional<uint64_t>
      mlock_kb;  // kernel.perf_event_mlock_kb: rings, per CPU and user, free of other limits
  std::optional<uint64_t> max_sample_rate;  // kernel.perf_event_max_sample_rate, Hz
  std::optional<uint64_t> cpu_time_max_percent;
  bool nmi_watchdog = false;  // it holds one hardware counter on each CPU
};
PerfLimits ReadPerfLimits(const std::string& proc_root);

// The facts a recording carries about where it was made.
struct MachineFacts {
  std::string hostname, os_release, arch;
  std::string cpu_desc;  // "AMD EPYC 7763 64-Core Processor"
  std::string cpu_id;    // as perf writes it: "AuthenticAMD,25,1,1"
  uint64_t total_memory_kb = 0;
  uint32_t cpus_available = 0, cpus_online = 0;
};
MachineFacts ReadMachineFacts(const std::string& proc_root, const std::string& sys_root);

// Nominal frequency of a CPU in Hz, from cpufreq or else from /proc/cpuinfo; nothing where neither says.
std::optional<uint64_t> CpuFrequencyHz(const std::string& proc_root, const std::string& sys_root, int cpu);

// Limits of this process. Raising lifts the soft limit of open files to the hard one and returns it.
uint64_t RaiseOpenFileLimit();
uint64_t LockedMemoryLimit();  // RLIMIT_MEMLOCK, soft

}  // namespace ksamp

#endif  // KSAMP_LIB_OS_SYS_FS_H_
