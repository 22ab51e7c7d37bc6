// SPDX-License-Identifier: Apache-2.0
#include "lib/os/sys_fs.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

constexpr int kMaxCpu = 65'535;
constexpr size_t kMaxFileBytes = size_t{64} << 20;  // /proc/cpuinfo of thousands of CPUs

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string ReadOrEmpty(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path, kMaxFileBytes);
  return text.ok() ? *std::move(text) : std::string();
}

template <typename T>
std::optional<T> ReadNumber(const std::string& path) {
  const std::string text = ReadOrEmpty(path);
  return ParseNumber<T>(Trim(text));
}

// The value of the first line "key : value".
std::string_view FieldOf(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && Trim(line.substr(0, colon)) == key)
      return Trim(line.substr(colon + 1));
  }
  return {};
}

// One piece of a list, "8" or "0-3".
bool ParseRange(std::string_view piece, std::pair<int, int>* out) {
  const size_t dash = piece.find('-');
  const std::optional<int> first = ParseNumber<int>(piece.substr(0, dash));
  const std::optional<int> last =
      dash == std::string_view::npos ? first : ParseNumber<int>(piece.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first || *last > kMaxCpu) return false;
  *out = {*first, *last};
  return true;
}

std::string CpuId(std::string_view cpuinfo) {
  const std::string_view vendor = FieldOf(cpuinfo, "vendor_id");
  if (vendor.empty()) return std::string(FieldOf(cpuinfo, "CPU part"));
  return StrCat(vendor, ",", FieldOf(cpuinfo, "cpu family"), ",", FieldOf(cpuinfo, "model"), ",",
                FieldOf(cpuinfo, "stepping"));
}

}  // namespace

absl::StatusOr<std::vector<int>> ParseCpuList(std::string_view text) {
  std::string_view rest = Trim(text);
  if (rest.empty()) return absl::InvalidArgumentError("parse CPU list: it is empty");
  std::vector<int> cpus;
  while (!rest.empty()) {
    const std::string_view piece = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), piece.size() + 1));
    std::pair<int, int> range;
    if (!ParseRange(Trim(piece), &range))
      return absl::InvalidArgumentError(
          StrCat("parse CPU list ", text, ": '", piece, "' is no CPU or range"));
    for (int cpu = range.first; cpu <= range.second; ++cpu) cpus.push_back(cpu);
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::string FormatCpuList(std::span<const int> cpus) {
  std::string text;
  for (size_t i = 0; i < cpus.size();) {
    size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    StrAppend(&text, text.empty() ? "" : ",", cpus[i]);
    if (end - i > 1) StrAppend(&text, "-", cpus[end - 1]);
    i = end;
  }
  return text;
}

absl::StatusOr<std::vector<int>> OnlineCpus(const std::string& sys_root) {
  const absl::StatusOr<std::string> text = ReadFile(StrCat(sys_root, "/devices/system/cpu/online"));
  if (text.ok()) return ParseCpuList(*text);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); ++cpu) cpus.push_back(cpu);
  return cpus;
}

PerfLimits ReadPerfLimits(const std::string& proc_root) {
  const std::string kernel = StrCat(proc_root, "/sys/kernel/");
  PerfLimits limits;
  limits.paranoid = ReadNumber<int>(kernel + "perf_event_paranoid");
  limits.kptr_restrict = ReadNumber<int>(kernel + "kptr_restrict");
  limits.mlock_kb = ReadNumber<uint64_t>(kernel + "perf_event_mlock_kb");
  limits.max_sample_rate = ReadNumber<uint64_t>(kernel + "perf_event_max_sample_rate");
  limits.cpu_time_max_percent = ReadNumber<uint64_t>(kernel + "perf_cpu_time_max_percent");
  limits.nmi_watchdog = ReadNumber<int>(kernel + "nmi_watchdog").value_or(0) != 0;
  return limits;
}

MachineFacts ReadMachineFacts(const std::string& proc_root, const std::string& sys_root) {
  MachineFacts facts;
  utsname names{};
  uname(&names);
  facts.hostname = names.nodename;
  facts.os_release = names.release;
  facts.arch = names.machine;
  const std::string cpuinfo = ReadOrEmpty(StrCat(proc_root, "/cpuinfo"));
  facts.cpu_desc = FieldOf(cpuinfo, "model name");
  facts.cpu_id = CpuId(cpuinfo);
  const std::string meminfo = ReadOrEmpty(StrCat(proc_root, "/meminfo"));
  const std::string_view total = FieldOf(meminfo, "MemTotal");
  facts.total_memory_kb = ParseNumber<uint64_t>(total.substr(0, total.find(' '))).value_or(0);
  const auto count = [](const absl::StatusOr<std::vector<int>>& cpus) {
    return cpus.ok() ? static_cast<uint32_t>(cpus->size()) : 0;
  };
  facts.cpus_online = count(OnlineCpus(sys_root));
  facts.cpus_available = count(ParseCpuList(ReadOrEmpty(StrCat(sys_root, "/devices/system/cpu/present"))));
  facts.cpus_available = std::max(facts.cpus_available, facts.cpus_online);
  return facts;
}

std::optional<uint64_t> CpuFrequencyHz(const std::string& proc_root, const std::string& sys_root, int cpu) {
  const std::string cpufreq = StrCat(sys_root, "/devices/system/cpu/cpu", cpu, "/cpufreq/");
  for (const char* file : {"base_frequency", "cpuinfo_max_freq"}) {
    const std::optional<uint64_t> khz = ReadNumber<uint64_t>(cpufreq + file);
    if (khz && *khz > 0) return *khz * 1000;
  }
  const std::string cpuinfo = ReadOrEmpty(StrCat(proc_root, "/cpuinfo"));
  const std::optional<double> mhz = ParseNumber<double>(FieldOf(cpuinfo, "cpu MHz"));
  if (!mhz || *mhz < 1 || *mhz > 1e6) return std::nullopt;
  return static_cast<uint64_t>(*mhz * 1e6);
}

uint64_t RaiseOpenFileLimit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < limit.rlim_max) {
    const rlimit raised{limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) return raised.rlim_cur;
  }
  return limit.rlim_cur;
}

uint64_t LockedMemoryLimit() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  return limit.rlim_cur;
}

}  // namespace ksamp
