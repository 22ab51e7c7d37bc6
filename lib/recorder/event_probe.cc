// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/event_probe.h"

#include <sched.h>

#include <chrono>
#include <ctime>
#include <memory>
#include <string_view>
#include <utility>

#include "lib/event/attr_builder.h"
#include "lib/os/ring_reader.h"
#include "lib/recorder/event_opener.h"

namespace ksamp {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kLongest = std::chrono::milliseconds(10);
constexpr size_t kRingPages = 8;
// A few samples within the probe: a million cycles is half a millisecond or less, and a multiple of 16 (IBS).
constexpr uint64_t kProbePeriod = 1'000'000, kProbeClockPeriodNs = 250'000;

nanoseconds ThreadTime() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

// Keeps the thread on some CPUs while it lives.
class AffinityScope {
 public:
  explicit AffinityScope(const std::vector<int>& cpus) {
    if (cpus.empty() || sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    for (int cpu : cpus) {
      if (cpu < CPU_SETSIZE) CPU_SET(static_cast<size_t>(cpu), &wanted);
    }
    moved_ = sched_setaffinity(0, sizeof(wanted), &wanted) == 0;
  }
  ~AffinityScope() {
    if (moved_) sched_setaffinity(0, sizeof(before_), &before_);
  }
  AffinityScope(const AffinityScope&) = delete;
  AffinityScope& operator=(const AffinityScope&) = delete;

 private:
  cpu_set_t before_ = {};
  bool moved_ = false;
};

perf_event_attr ForProbe(perf_event_attr attr) {
  attr.disabled = 1;
  attr.inherit = 0;
  attr.enable_on_exec = 0;
  attr.pinned = 0;
  attr.freq = 0;
  attr.sample_period = IsClockEvent(attr.type, attr.config) ? kProbeClockPeriodNs : kProbePeriod;
  attr.watermark = 0;
  attr.wakeup_events = 1;
  attr.read_format = 0;
  attr.mmap = attr.mmap2 = attr.comm = attr.task = attr.context_switch = 0;
  attr.ksymbol = attr.bpf_event = attr.namespaces = attr.cgroup = attr.text_poke = 0;
  return attr;
}

// Works until a sample is there or the time is up; the CPU time it took.
nanoseconds WorkUntilSample(const RingReader& ring) {
  const nanoseconds begin = ThreadTime();
  nanoseconds spent{0};
  do {
    for (int i = 0; i < 50'000; ++i) asm volatile("");  // Work that no optimiser removes.
    spent = ThreadTime() - begin;
  } while (spent < kLongest && ring.Available().empty());
  return spent;
}

}  // namespace

ProbeResult ProbeEvent(PerfKernel& kernel, perf_event_attr attr, const std::vector<int>& cpus) {
  const AffinityScope on_its_cpus(cpus);
  ProbeResult result;
  perf_event_attr probe = ForProbe(attr);
  std::vector<std::string_view> left_out;
  absl::StatusOr<UniqueFd> fd = OpenDegrading(kernel, probe, 0, -1, -1, &left_out);
  if (!fd.ok()) {
    result.refusal = fd.status();
    return result;
  }
  absl::StatusOr<std::unique_ptr<RingMemory>> memory = kernel.MapRing(fd->get(), kRingPages);
  if (!memory.ok()) {
    result.refusal = memory.status();
    return result;
  }
  const RingReader ring(*std::move(memory));
  if (result.refusal = kernel.Enable(fd->get(), false); !result.refusal.ok()) return result;
  const nanoseconds spent = WorkUntilSample(ring);
  result.refusal = kernel.Disable(fd->get(), false);
  const absl::StatusOr<std::vector<uint64_t>> words = kernel.ReadCounter(fd->get(), 1);
  if (result.refusal.ok()) result.refusal = words.status();
  if (!result.refusal.ok()) return result;
  const uint64_t count = words->empty() ? 0 : words->front();
  result.counts_per_second = static_cast<double>(count) / std::chrono::duration<double>(spent).count();
  if (count == 0) {
    result.outcome = ProbeOutcome::kCountsNothing;
  } else {
    result.outcome = ring.Available().empty() ? ProbeOutcome::kDeliversNothing : ProbeOutcome::kWorks;
  }
  return result;
}

}  // namespace ksamp
