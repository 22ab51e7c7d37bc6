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

FeatureMap DescribeRecording(const RecordingDescription& d) {
  using namespace perfdata;
  FeatureMap features;
  features[kHostname] = EncodeString(d.machine.hostname);
  features[kOsRelease] = EncodeString(d.machine.os_release);
  features[kVersion] = EncodeString(StrCat("ksamp ", KSAMP_VERSION));
  features[kArch] = EncodeString(d.machine.arch);
  features[kNrCpus] = EncodeCpuCounts({d.machine.cpus_available, d.machine.cpus_online});
  features[kCpuDesc] = EncodeString(d.machine.cpu_desc);
  features[kCpuId] = EncodeString(d.machine.cpu_id);
  features[kTotalMem] = EncodeTotalMemory(d.machine.total_memory_kb);
  if (!d.command_line.empty()) features[kCmdline] = EncodeCommandLine(d.command_line);
  if (d.first_sample_time && d.last_sample_time)
    features[kSampleTime] = EncodeSampleTimes({*d.first_sample_time, *d.last_sample_time});
  if (d.clock) {
    features[kClockId] = EncodeClockId(d.clock->resolution_ns);
    features[kClockData] =
        EncodeClockData({static_cast<uint32_t>(d.clock->clockid), d.clock->wall_ns, d.clock->clock_ns});
  }
  features[kKsampMeta] = EncodeMeta(d.meta);
  features[kKsampCounters] = EncodeCounters(d.counters);
  return features;
}

}  // namespace ksamp
