// SPDX-License-Identifier: Apache-2.0
#include "ksamp/counters.h"

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

#include "ksamp/recorder.h"
#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/event/attr_builder.h"
#include "lib/os/event_catalog.h"
#include "lib/os/perf_kernel.h"
#include "lib/os/sys_fs.h"
#include "lib/recorder/open_failure.h"
#include "lib/recorder/targets.h"
#include "lib/recorder/workload.h"

namespace ksamp {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kLongestSleep{100};  // until it is asked again whether a watched process is there
constexpr milliseconds kPatienceWithCommand{1000};
constexpr uint64_t kFilesOfOurOwn = 64;
constexpr const char* kDefaultOfThreads =
    "task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses";
constexpr const char* kDefaultOfCpus =
    "cpu-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses";

absl::Status CheckTarget(const CountOptions& options) {
  const int targets = int{options.system_wide} + int{!options.cpus.empty()} +
                      int{!options.pids.empty() || !options.tids.empty()};
  if (targets > 1)
    return absl::InvalidArgumentError("count: all CPUs, some CPUs and threads exclude each other");
  if (targets == 0 && options.command.empty())
    return absl::InvalidArgumentError("count: no target: a command, CPUs, processes or threads");
  return absl::OkStatus();
}

// The kernel or its machine has no such event; as opposed to one that this user or this moment may not count.
bool IsUnsupported(OpenFailure failure) {
  return failure == OpenFailure::kNoSuchEvent || failure == OpenFailure::kNoPmu ||
         failure == OpenFailure::kNotSupported || failure == OpenFailure::kOther;
}

nanoseconds TimeOf(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

// User and system time of the children that were waited for.
std::pair<nanoseconds, nanoseconds> ChildrenTimes() {
  rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  return {TimeOf(usage.ru_utime), TimeOf(usage.ru_stime)};
}

// One event and its descriptors.
struct OpenedEvent {
  EventCount count;
  perf_event_attr attr = {};
  size_t leader = 0;          // index of its group's leader; its own for leaders
  std::vector<int> cpus;      // its PMU's; empty: all
  std::vector<UniqueFd> fds;  // by place of `count`
};

class KernelCounters : public Counters {
 public:
  KernelCounters(CountOptions options, PerfKernel& kernel) : options_(std::move(options)), kernel_(kernel) {}

  absl::Status Prepare();

  absl::StatusOr<CountResult> Run(const std::function<void(const CountResult&)>& on_interval) override;
  absl::Status Start() override;
  absl::StatusOr<CountResult> Read() override;
  absl::StatusOr<CountResult> Stop() override;
  void RequestStop() override;

 private:
  struct Place {
    pid_t tid;
    int cpu;
  };
  bool whole_cpus() const { return options_.system_wide || !options_.cpus.empty(); }
  bool own_command() const { return !whole_cpus() && options_.pids.empty() && options_.tids.empty(); }

  absl::Status PrepareCommand();
  absl::Status ChoosePlaces();
  absl::Status ChooseEvents();
  absl::Status OpenAll();
  void OpenEvent(OpenedEvent& event);
  absl::Status OpenIn(OpenedEvent& event, const Place& place);
  size_t IndexOf(const OpenedEvent& event) const { return static_cast<size_t>(&event - events_.data()); }
  void NoteSkipped(const Place& place);
  bool RetryInUserSpace(OpenedEvent& event, const absl::Status& status);
  absl::Status FirstFailure() const;
  AttrOptions CountingOptions() const;

  absl::Status Enable();
  absl::Status ReadEvent(OpenedEvent& event);
  bool IsOver();
  int SleepMs(Clock::time_point next_interval) const;

  CountOptions options_;
  PerfKernel& kernel_;
  std::optional<Workload> workload_;
  OpenCircumstances around_;
  std::vector<Place> places_;
  std::vector<OpenedEvent> events_;
  std::vector<absl::Status> failures_;
  std::vector<std::string> notes_;
  UniqueFd stop_;
  std::atomic<bool> stop_requested_ = false;
  Clock::time_point begin_;
  std::pair<nanoseconds, nanoseconds> children_before_;
};

// ---- Opening

absl::Status KernelCounters::Prepare() {
  KSAMP_RETURN_IF_ERROR(CheckTarget(options_));
  stop_.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop_) return ErrnoStatus(errno, "eventfd");
  KSAMP_RETURN_IF_ERROR(ChooseEvents());
  KSAMP_RETURN_IF_ERROR(PrepareCommand());
  KSAMP_RETURN_IF_ERROR(ChoosePlaces());
  return OpenAll();
}

absl::Status KernelCounters::PrepareCommand() {
  if (options_.command.empty()) return absl::OkStatus();
  absl::StatusOr<Workload> workload = Workload::Prepare(options_.command);
  if (!workload.ok()) return CommandFailure(workload.status());
  workload_ = *std::move(workload);
  return absl::OkStatus();
}

absl::Status KernelCounters::ChoosePlaces() {
  if (own_command()) {
    places_ = {{workload_->pid(), -1}};
    return absl::OkStatus();
  }
  if (whole_cpus()) {
    KSAMP_ASSIGN_OR_RETURN(const std::vector<int> cpus,
                           TargetCpus("count", options_.cpus, options_.sys_root));
    for (const int cpu : cpus) places_.push_back({-1, cpu});
    return absl::OkStatus();
  }
  KSAMP_ASSIGN_OR_RETURN(const std::vector<pid_t> tids,
                         TargetThreads("count", options_.pids, options_.tids, options_.proc_root));
  for (const pid_t tid : tids) places_.push_back({tid, -1});
  return absl::OkStatus();
}

AttrOptions KernelCounters::CountingOptions() const {
  AttrOptions options;
  options.inherit = options_.inherit && (own_command() || !options_.pids.empty());
  options.enable_on_exec = own_command();
  return options;
}

absl::Status KernelCounters::ChooseEvents() {
  const std::unique_ptr<EventCatalog> catalog = SysfsEventCatalog(options_.sys_root);
  std::vector<std::string> wished = options_.events;
  if (wished.empty()) wished = {whole_cpus() ? kDefaultOfCpus : kDefaultOfThreads};
  for (const std::string& text : wished) {
    KSAMP_ASSIGN_OR_RETURN(const std::vector<EventGroup> groups, ParseEvents(text, *catalog));
    for (const EventGroup& group : groups) {
      const size_t leader = events_.size();
      for (const EventSpec& spec : group.events) {
        OpenedEvent event;
        event.count.name = spec.name;
        event.count.spec = spec;
        event.leader = leader;
        event.attr = BuildCountingAttr(spec, CountingOptions());
        // Members follow their leader; one that starts disabled would have to be enabled on its own.
        if (events_.size() != leader) event.attr.disabled = event.attr.enable_on_exec = event.attr.pinned = 0;
        if (!spec.cpus.empty()) {
          KSAMP_ASSIGN_OR_RETURN(event.cpus, ParseCpuList(spec.cpus));
        }
        events_.push_back(std::move(event));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status KernelCounters::OpenAll() {
  around_ = ReadOpenCircumstances(options_.proc_root);
  around_.whole_cpus = whole_cpus();
  around_.files_needed = events_.size() * places_.size() + kFilesOfOurOwn;
  around_.files_allowed = RaiseOpenFileLimit();
  for (OpenedEvent& event : events_) OpenEvent(event);
  const bool any = std::any_of(events_.begin(), events_.end(),
                               [](const OpenedEvent& event) { return event.count.missing.empty(); });
  return any ? absl::OkStatus() : FirstFailure();
}

// Nothing was opened. Events that this machine lacks are an answer; being forbidden to ask is a failure.
absl::Status KernelCounters::FirstFailure() const {
  for (const absl::Status& status : failures_)
    if (!IsUnsupported(FailureOf(status))) return status;
  return absl::OkStatus();
}

void KernelCounters::OpenEvent(OpenedEvent& event) {
  absl::Status status, skipped;
  for (size_t i = 0; i < places_.size() && status.ok(); ++i) {
    const bool elsewhere =
        !event.cpus.empty() && places_[i].cpu >= 0 &&
        std::find(event.cpus.begin(), event.cpus.end(), places_[i].cpu) == event.cpus.end();
    if (elsewhere) continue;
    status = OpenIn(event, places_[i]);
    if (!status.ok() && RetryInUserSpace(event, status)) status = OpenIn(event, places_[i]);
    const int error = StatusErrno(status);
    // A CPU that went offline, a thread that ended: the others count.
    if (error != ENODEV && error != ESRCH) continue;
    skipped = std::exchange(status, absl::OkStatus());
    if (event.leader == IndexOf(event)) NoteSkipped(places_[i]);
  }
  if (status.ok() && !event.fds.empty()) return;
  if (status.ok()) status = skipped;  // It is nowhere: that is the reason.
  if (status.ok())
    status = WithFailure(
        absl::NotFoundError(StrCat("open ", event.count.name, ": its CPUs are not among those counted")),
        OpenFailure::kNotSupported);
  const std::string prefix = StrCat("open ", event.count.spec.name, ": ");
  event.count.missing = MessageOf(status);
  if (event.count.missing.starts_with(prefix)) event.count.missing.erase(0, prefix.size());
  event.count.supported = !IsUnsupported(FailureOf(status));
  event.count.places.clear();
  event.fds.clear();
  failures_.push_back(std::move(status));
}

void KernelCounters::NoteSkipped(const Place& place) {
  std::string note = place.cpu >= 0 ? StrCat("CPU ", place.cpu, " went offline and is not counted.")
                                    : StrCat("Thread ", place.tid, " has ended and is not counted.");
  if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(std::move(note));
}

absl::Status KernelCounters::OpenIn(OpenedEvent& event, const Place& place) {
  int group_fd = -1;
  if (const OpenedEvent& leader = events_[event.leader]; &leader != &event) {
    if (leader.fds.empty()) {
      return WithFailure(
          absl::FailedPreconditionError(StrCat("open ", event.count.name, ": the first event of its group, ",
                                               leader.count.name, ", cannot be counted")),
          OpenFailure::kNotSupported);
    }
    const auto& places = leader.count.places;
    const auto there = std::find_if(places.begin(), places.end(), [&](const PlaceCount& other) {
      return other.cpu == place.cpu && other.tid == place.tid;
    });
    if (there == places.end()) return absl::OkStatus();  // Nor is its leader there.
    group_fd = leader.fds[static_cast<size_t>(there - places.begin())].get();
  }
  absl::StatusOr<UniqueFd> fd = kernel_.Open(event.attr, place.tid, place.cpu, group_fd);
  if (!fd.ok()) return OpenFailureStatus(fd.status(), event.count.spec, event.attr, around_);
  event.fds.push_back(*std::move(fd));
  event.count.places.push_back({.cpu = place.cpu, .tid = place.tid});
  return absl::OkStatus();
}

// A command and threads, where the kernel may not be counted, are counted in user space, told.
bool KernelCounters::RetryInUserSpace(OpenedEvent& event, const absl::Status& status) {
  if (whole_cpus() || event.attr.exclude_kernel || event.attr.exclude_user ||
      FailureOf(status) != OpenFailure::kParanoid)
    return false;
  event.attr.exclude_kernel = event.attr.exclude_hv = 1;
  event.count.spec.exclude_kernel = event.count.spec.exclude_hv = true;
  event.count.name += event.count.name.find(':') == std::string::npos ? ":u" : "u";
  const std::string note =
      "The kernel may not be counted by this user (kernel.perf_event_paranoid): events with :u count user "
      "space only.";
  if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
  return true;
}

// ---- Counting

absl::Status KernelCounters::Enable() {
  for (size_t i = 0; i < events_.size(); ++i) {
    if (events_[i].leader != i) continue;
    for (const UniqueFd& fd : events_[i].fds) KSAMP_RETURN_IF_ERROR(kernel_.Enable(fd.get(), true));
  }
  return absl::OkStatus();
}

absl::Status KernelCounters::Start() {
  children_before_ = ChildrenTimes();
  begin_ = Clock::now();
  if (!own_command()) KSAMP_RETURN_IF_ERROR(Enable());
  if (!workload_) return absl::OkStatus();
  const absl::Status status = workload_->Start();  // Its exec enables what counts it.
  begin_ = Clock::now();
  return status.ok() ? status : CommandFailure(status);
}

absl::Status KernelCounters::ReadEvent(OpenedEvent& event) {
  constexpr size_t kWords = 4;  // value, enabled, running, id
  EventCount& count = event.count;
  count.value = 0;
  count.enabled = count.running = nanoseconds(0);
  for (size_t i = 0; i < event.fds.size(); ++i) {
    KSAMP_ASSIGN_OR_RETURN(const std::vector<uint64_t> words,
                           kernel_.ReadCounter(event.fds[i].get(), kWords));
    PlaceCount& place = count.places[i];
    if (words.size() < 3) continue;
    place.counted = words[0];
    place.enabled = nanoseconds(words[1]);
    place.running = nanoseconds(words[2]);
    count.value += place.Scaled();
    count.enabled += place.enabled;
    count.running += place.running;
  }
  return absl::OkStatus();
}

absl::StatusOr<CountResult> KernelCounters::Read() {
  CountResult result;
  result.elapsed = Clock::now() - begin_;
  for (OpenedEvent& event : events_) {
    KSAMP_RETURN_IF_ERROR(ReadEvent(event));
    result.events.push_back(event.count);
    EventCount& count = result.events.back();
    if (!count.missing.empty() || count.running.count() > 0) continue;
    count.missing = count.enabled.count() > 0 ? "no hardware counter became free for it"
                                              : "nothing of the target ran while it was counted";
  }
  result.notes = notes_;
  if (workload_) result.command_status = workload_->TryWait();
  if (result.command_status) {
    const auto [user, system] = ChildrenTimes();
    result.user = user - children_before_.first;
    result.system = system - children_before_.second;
  }
  return result;
}

absl::StatusOr<CountResult> KernelCounters::Stop() {
  const nanoseconds elapsed = Clock::now() - begin_;
  for (size_t i = 0; i < events_.size(); ++i) {
    if (events_[i].leader != i) continue;
    // One whose CPU went away cannot be stopped, and does not count.
    for (const UniqueFd& fd : events_[i].fds) kernel_.Disable(fd.get(), true).IgnoreError();
  }
  KSAMP_ASSIGN_OR_RETURN(CountResult result, Read());
  result.elapsed = elapsed;
  return result;
}

bool KernelCounters::IsOver() {
  if (stop_requested_) return true;
  if (options_.duration && Clock::now() - begin_ >= *options_.duration) return true;
  if (workload_) return workload_->TryWait().has_value();
  if (whole_cpus()) return false;
  return std::none_of(places_.begin(), places_.end(), [this](const Place& place) {
    return access(StrCat(options_.proc_root, "/", place.tid).c_str(), F_OK) == 0;
  });
}

int KernelCounters::SleepMs(Clock::time_point next_interval) const {
  const Clock::time_point now = Clock::now();
  Clock::duration longest = workload_ && workload_->poll_fd() < 0 ? milliseconds(20) : kLongestSleep;
  if (options_.duration) longest = std::min<Clock::duration>(longest, begin_ + *options_.duration - now);
  if (options_.interval) longest = std::min<Clock::duration>(longest, next_interval - now);
  const auto ms = std::chrono::ceil<milliseconds>(longest).count();
  return static_cast<int>(std::max<decltype(ms)>(ms, 0));
}

absl::StatusOr<CountResult> KernelCounters::Run(const std::function<void(const CountResult&)>& on_interval) {
  KSAMP_RETURN_IF_ERROR(Start());
  Clock::time_point next = begin_ + options_.interval.value_or(nanoseconds(0));
  while (!IsOver()) {
    std::vector<pollfd> watched = {{stop_.get(), POLLIN, 0},
                                   {workload_ ? workload_->poll_fd() : -1, POLLIN, 0}};
    KSAMP_RETURN_IF_ERROR(kernel_.Poll(watched, SleepMs(next)).status());
    if (!options_.interval || Clock::now() < next) continue;
    KSAMP_ASSIGN_OR_RETURN(const CountResult so_far, Read());
    if (on_interval) on_interval(so_far);
    next += *options_.interval;
  }
  KSAMP_ASSIGN_OR_RETURN(CountResult result, Stop());
  result.stop_requested = stop_requested_;
  if (options_.interval && on_interval) on_interval(result);  // The rest, so that the intervals add up.
  if (!workload_ || result.command_status) return result;
  result.command_ended_at_limit = !stop_requested_;
  workload_->Signal(SIGTERM);
  const Clock::time_point deadline = Clock::now() + kPatienceWithCommand;
  while (!result.command_status && Clock::now() < deadline) {
    pollfd ended = {workload_->poll_fd(), POLLIN, 0};
    KSAMP_RETURN_IF_ERROR(kernel_.Poll({&ended, 1}, 20).status());
    result.command_status = workload_->TryWait();
  }
  return result;
}

void KernelCounters::RequestStop() {
  stop_requested_ = true;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(stop_.get(), &one, sizeof(one));
}

}  // namespace

uint64_t PlaceCount::Scaled() const {
  if (running.count() <= 0 || running >= enabled) return counted;
  const auto product = static_cast<unsigned __int128>(counted) * static_cast<uint64_t>(enabled.count());
  return static_cast<uint64_t>(product / static_cast<uint64_t>(running.count()));
}

absl::StatusOr<std::unique_ptr<Counters>> Counters::Open(CountOptions options, PerfKernel* kernel) {
  auto counters =
      std::make_unique<KernelCounters>(std::move(options), kernel == nullptr ? LinuxPerfKernel() : *kernel);
  KSAMP_RETURN_IF_ERROR(counters->Prepare());
  return counters;
}

}  // namespace ksamp
