// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/recording_facts.h"

#include <ctime>
#include <utility>

#include "ksamp/version.h"
#include "lib/base/str_cat.h"
#include "lib/perfdata/features.h"
#include "lib/perfdata/format.h"

namespace ksamp {
namespace {

constexpr std::pair<const char*, int32_t> kClocks[] = {
    {"realtime", CLOCK_REALTIME},
    {"real", CLOCK_REALTIME},
    {"r", CLOCK_REALTIME},
    {"monotonic", CLOCK_MONOTONIC},
    {"mono", CLOCK_MONOTONIC},
    {"m", CLOCK_MONOTONIC},
    {"monotonic_raw", CLOCK_MONOTONIC_RAW},
    {"raw", CLOCK_MONOTONIC_RAW},
    {"boottime", CLOCK_BOOTTIME},
    {"boot", CLOCK_BOOTTIME},
    {"tai", CLOCK_TAI},
};

uint64_t Nanoseconds(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

absl::StatusOr<int32_t> ParseClockId(const std::string& name) {
  std::string word = name;
  if (word.rfind("CLOCK_", 0) == 0) word.erase(0, 6);
  for (char& c : word) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  for (const auto& [known, clockid] : kClocks) {
    if (word == known || word == std::to_string(clockid)) return clockid;
  }
  return absl::InvalidArgumentError(
      StrCat("clock '", name, "': not one of monotonic, monotonic_raw, realtime, boottime, tai"));
}

ClockMoment ReadClockMoment(int32_t clockid) {
  ClockMoment moment;
  moment.clockid = clockid;
  timespec clock{}, wall{}, resolution{};
  clock_gettime(clockid, &clock);
  clock_gettime(CLOCK_REALTIME, &wall);
  clock_getres(clockid, &resolution);
  moment.clock_ns = Nanoseconds(clock);
  moment.wall_ns = Nanoseconds(wall);
  moment.resolution_ns = Nanoseconds(resolution);
  return moment;
}

FeatureMap DescribeOrigin(const RecordingOrigin& origin) {
  using namespace perfdata;
  const MachineFacts& machine = origin.machine;
  FeatureMap features;
  features[kHostname] = EncodeString(machine.hostname);
  features[kOsRelease] = EncodeString(machine.os_release);
  features[kVersion] = EncodeString(StrCat("ksamp ", KSAMP_VERSION));
  features[kArch] = EncodeString(machine.arch);
  features[kNrCpus] = EncodeCpuCounts({machine.cpus_available, machine.cpus_online});
  features[kCpuDesc] = EncodeString(machine.cpu_desc);
  features[kCpuId] = EncodeString(machine.cpu_id);
  features[kTotalMem] = EncodeTotalMemory(machine.total_memory_kb);
  if (!origin.command_line.empty()) features[kCmdline] = EncodeCommandLine(origin.command_line);
  if (const std::optional<ClockMoment>& clock = origin.clock) {
    features[kClockId] = EncodeClockId(clock->resolution_ns);
    features[kClockData] =
        EncodeClockData({static_cast<uint32_t>(clock->clockid), clock->wall_ns, clock->clock_ns});
  }
  return features;
}

FeatureMap DescribeRecording(const RecordingDescription& d) {
  using namespace perfdata;
  FeatureMap features;
  if (d.first_sample_time && d.last_sample_time)
    features[kSampleTime] = EncodeSampleTimes({*d.first_sample_time, *d.last_sample_time});
  features[kKsampMeta] = EncodeMeta(d.meta);
  features[kKsampCounters] = EncodeCounters(d.counters);
  return features;
}

}  // namespace ksamp
