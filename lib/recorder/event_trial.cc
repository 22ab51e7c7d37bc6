// SPDX-License-Identifier: Apache-2.0
// TryEvent (ksamp/recorder.h): what the kernel says about one event, without running it.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "ksamp/recorder.h"
#include "lib/base/file_io.h"
#include "lib/event/attr_builder.h"
#include "lib/os/perf_kernel.h"
#include "lib/recorder/open_failure.h"

namespace ksamp {
namespace {

// The first CPU of a list as the kernel writes it ("0-15", "8,24"); nothing where there is none.
std::optional<int> FirstCpu(std::string_view cpus) {
  int cpu = 0;
  const auto [end, error] = std::from_chars(cpus.data(), cpus.data() + cpus.size(), cpu);
  if (error != std::errc() || cpu < 0) return std::nullopt;
  return cpu;
}

class Trial {
 public:
  Trial(const EventSpec& event, PerfKernel& kernel, const std::string& proc_root)
      : event_(event), kernel_(kernel), proc_root_(proc_root) {}

  EventTrial Run() {
    EventTrial trial;
    trial.sampling = Open(BuildSamplingAttr(event_, MinimalOptions()));
    trial.counting = trial.sampling.ok() ? trial.sampling : Open(BuildCountingAttr(event_, MinimalOptions()));
    return trial;
  }

 private:
  // The whole question is the event: nothing that an old kernel might refuse beside it.
  static AttrOptions MinimalOptions() {
    AttrOptions options;
    options.want_cpu = false;
    options.build_id_in_mmap = false;
    return options;
  }

  absl::Status Open(perf_event_attr attr) {
    attr.read_format = 0;
    absl::StatusOr<UniqueFd> fd = kernel_.Open(attr, 0, -1, -1);
    if (fd.ok()) return absl::OkStatus();
    bool whole_cpu = false;
    // A PMU outside the cores refuses threads with EINVAL, and says which CPU to ask on.
    if (const std::optional<int> cpu = FirstCpu(event_.cpus); cpu && StatusErrno(fd.status()) == EINVAL) {
      whole_cpu = true;
      fd = kernel_.Open(attr, -1, *cpu, -1);
    }
    if (fd.ok()) return absl::OkStatus();
    OpenCircumstances around = ReadOpenCircumstances(proc_root_);
    around.whole_cpus = whole_cpu;
    return OpenFailureStatus(fd.status(), event_, attr, around);
  }

  const EventSpec& event_;
  PerfKernel& kernel_;
  const std::string& proc_root_;
};

}  // namespace

EventTrial TryEvent(const EventSpec& event, PerfKernel* kernel, const std::string& proc_root) {
  PerfKernel& asked = kernel == nullptr ? LinuxPerfKernel() : *kernel;
  EventTrial trial = Trial(event, asked, proc_root).Run();
  if (FailureOf(trial.counting) != OpenFailure::kParanoid || event.exclude_kernel) return trial;
  EventSpec user = event;
  user.exclude_kernel = true;
  EventTrial in_user_space = Trial(user, asked, proc_root).Run();
  if (!in_user_space.counting.ok()) return trial;  // the reason of what was asked for
  in_user_space.user_space_only = true;
  return in_user_space;
}

}  // namespace ksamp
