// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/session.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "lib/os/sys_fs.h"
#include "lib/recorder/event_opener.h"

namespace ksamp {
namespace {

constexpr uint64_t kSmallestRing = 128 << 10, kLargestRing = 4 << 20;
constexpr uint64_t kRingForUnknownRate = 1 << 20;
constexpr uint64_t kBytesPerSample = 64, kBytesPerChain = 512;
constexpr uint64_t kRingsPerSecond = 4;  // a ring holds a quarter of a second
constexpr uint64_t kFilesOfOurOwn = 64;
constexpr size_t kMaxGroupWords = 512;

// Samples a second and CPU that an event may deliver; nothing where nobody can know.
std::optional<uint64_t> RateOf(const PlannedEvent& event) {
  if (event.attr.freq) return event.attr.sample_freq;
  if (event.attr.sample_period == 0) return 0;
  if (IsClockEvent(event.attr.type, event.attr.config)) return 1'000'000'000 / event.attr.sample_period;
  if (event.attr.type == PERF_TYPE_HARDWARE) return 5'000'000'000 / event.attr.sample_period;
  return std::nullopt;
}

size_t PageSize() {
  return static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// mmap's refusal of a ring: the limit of locked memory, or no memory at all.
bool IsTooLarge(const absl::Status& status) {
  const int error = StatusErrno(status);
  return error == EPERM || error == ENOMEM;
}

}  // namespace

uint64_t RingBytesFor(const EventPlan& plan) {
  uint64_t bytes_per_second = 0;
  for (const auto& group : plan.groups) {
    for (const PlannedEvent& event : group) {
      const std::optional<uint64_t> rate = RateOf(event);
      if (!rate) return kRingForUnknownRate;
      const bool chain = (event.attr.sample_type & PERF_SAMPLE_CALLCHAIN) != 0;
      bytes_per_second += *rate * (chain ? kBytesPerChain : kBytesPerSample);
    }
  }
  return std::bit_ceil(std::clamp(bytes_per_second / kRingsPerSecond, kSmallestRing, kLargestRing));
}

absl::StatusOr<std::unique_ptr<PerfSession>> PerfSession::Open(PerfKernel& kernel, EventPlan plan,
                                                               SessionOptions options) {
  if (options.ring_bytes == 0) options.ring_bytes = RingBytesFor(plan);
  options.ring_bytes = std::bit_ceil(std::max<uint64_t>(options.ring_bytes, PageSize()));
  std::unique_ptr<PerfSession> session(new PerfSession(kernel, std::move(options)));
  session->TakePlan(std::move(plan));
  KSAMP_RETURN_IF_ERROR(session->OpenAll());
  KSAMP_RETURN_IF_ERROR(session->MapAll());
  return session;
}

void PerfSession::TakePlan(EventPlan plan) {
  for (std::vector<PlannedEvent>& group : plan.groups) {
    const size_t leader = events_.size();
    for (PlannedEvent& planned : group) {
      Event event;
      event.spec = std::move(planned.spec);
      event.attr = planned.attr;
      event.cpus = std::move(planned.cpus);
      event.leader = leader;
      // Members follow their leader; one that starts disabled would have to be enabled on its own.
      if (events_.size() != leader) event.attr.disabled = event.attr.enable_on_exec = event.attr.pinned = 0;
      events_.push_back(std::move(event));
    }
  }
  Event dummy;
  dummy.spec.name = "dummy:u";
  dummy.spec.type = PERF_TYPE_SOFTWARE;
  dummy.spec.config = PERF_COUNT_SW_DUMMY;
  dummy.spec.exclude_kernel = dummy.spec.exclude_hv =
      true;  // Opens for everyone; side records come all the same.
  AttrOptions tracking = options_.tracking;
  tracking.track_side_records = true;
  tracking.callchain = false;
  tracking.period = 1;
  dummy.attr = BuildSamplingAttr(dummy.spec, tracking);
  dummy.leader = events_.size();
  dummy.tracks = true;
  events_.push_back(std::move(dummy));
  SetWatermarks(options_.ring_bytes);
}

void PerfSession::SetWatermarks(uint64_t ring_bytes) {
  for (Event& event : events_) {
    event.attr.watermark = 1;
    event.attr.wakeup_watermark = static_cast<uint32_t>(ring_bytes / 2);
  }
}

absl::Status PerfSession::OpenAll() {
  const std::vector<pid_t> everyone = {-1};
  const std::vector<pid_t>& tids = options_.tids.empty() ? everyone : options_.tids;
  options_.around.files_needed = events_.size() * options_.cpus.size() * tids.size() + kFilesOfOurOwn;
  options_.around.files_allowed = RaiseOpenFileLimit();
  for (const int cpu : options_.cpus) {
    for (const pid_t tid : tids) KSAMP_RETURN_IF_ERROR(OpenPlace(tid, cpu));
  }
  if (places_.empty() && !gone_.empty()) {
    return WithFailure(
        absl::NotFoundError(StrCat("open events of thread ", gone_.front(), ": there is no such thread")),
        OpenFailure::kNoSuchProcess);
  }
  if (places_.empty()) {
    return WithFailure(absl::FailedPreconditionError(StrCat(
                           "open events on CPU ", FormatCpuList(options_.cpus), ": no such CPU is online")),
                       OpenFailure::kNoSuchCpu);
  }
  TellSkippedCpus();
  return absl::OkStatus();
}

void PerfSession::TellSkippedCpus() {
  if (offline_.empty()) return;
  notes_.push_back(StrCat(offline_.size() == 1 ? "CPU " : "CPUs ", FormatCpuList(offline_),
                          offline_.size() == 1 ? " is" : " are", " offline and not recorded."));
}

absl::Status PerfSession::OpenPlace(pid_t tid, int cpu) {
  if (std::binary_search(offline_.begin(), offline_.end(), cpu)) return absl::OkStatus();
  Place place{cpu, std::vector<int>(events_.size(), -1)};
  bool opened = false;
  for (Event& event : events_) {
    if (!event.cpus.empty() && std::find(event.cpus.begin(), event.cpus.end(), cpu) == event.cpus.end())
      continue;
    const absl::Status status = OpenEvent(event, tid, cpu, place);
    if (!status.ok() && !opened && IsTolerable(status, tid, cpu)) return absl::OkStatus();
    KSAMP_RETURN_IF_ERROR(status);
    opened = true;
  }
  if (opened) places_.push_back(std::move(place));
  return absl::OkStatus();
}

// A CPU that went offline, a thread that ended: the others are recorded all the same.
bool PerfSession::IsTolerable(const absl::Status& status, pid_t tid, int cpu) {
  const int error = StatusErrno(status);
  if (error == ENODEV) offline_.push_back(cpu);
  if (error == ESRCH) gone_.push_back(tid);
  return error == ENODEV || error == ESRCH;
}

absl::Status PerfSession::OpenEvent(Event& event, pid_t tid, int cpu, Place& place) {
  const size_t index = static_cast<size_t>(&event - events_.data());
  const int group_fd = event.leader == index ? -1 : place.fds[event.leader];
  // The first opening settles what this kernel does not know; the attr is the same everywhere from then on.
  std::vector<std::string_view> left_out;
  absl::StatusOr<UniqueFd> fd = event.fds.empty()
                                    ? OpenDegrading(kernel_, event.attr, tid, cpu, group_fd, &left_out)
                                    : kernel_.Open(event.attr, tid, cpu, group_fd);
  if (!fd.ok()) return OpenFailureStatus(fd.status(), event.spec, event.attr, options_.around);
  KSAMP_ASSIGN_OR_RETURN(const uint64_t id, kernel_.EventId(fd->get()));
  place.fds[index] = fd->get();
  event_of_id_[id] = static_cast<int>(index);
  event.ids.push_back(id);
  event.fds.push_back(*std::move(fd));
  return absl::OkStatus();
}

absl::Status PerfSession::MapAll() {
  const size_t wished = static_cast<size_t>(options_.ring_bytes) / PageSize();
  absl::Status status;
  size_t pages = wished;
  for (; pages > 0; pages /= 2) {
    status = MapRings(pages);
    if (status.ok() || !IsTooLarge(status)) break;
    rings_.clear();
  }
  if (!status.ok()) {
    if (!IsTooLarge(status)) return status;
    return WithFailure(absl::ResourceExhaustedError(StrCat("map rings of ", options_.cpus.size(),
                                                           " CPUs: the limit of locked memory is reached")),
                       OpenFailure::kMlockLimit);
  }
  if (pages < wished) {
    const PerfLimits limits = ReadPerfLimits(options_.proc_root);
    notes_.push_back(StrCat("rings of ", GroupDigits(pages * PageSize() / 1024), " KiB per CPU instead of ",
                            GroupDigits(wished * PageSize() / 1024),
                            ": no more memory may be locked (kernel.perf_event_mlock_kb is ",
                            limits.mlock_kb.value_or(0), ", RLIMIT_MEMLOCK ",
                            GroupDigits(LockedMemoryLimit() / 1024),
                            " KiB, shared with your other profilers)."));
  }
  return absl::OkStatus();
}

absl::Status PerfSession::MapRings(size_t pages) {
  absl::flat_hash_map<int, size_t> ring_of_cpu;
  for (const Place& place : places_) {
    for (const int fd : place.fds) {
      if (fd < 0) continue;
      if (const auto found = ring_of_cpu.find(place.cpu); found != ring_of_cpu.end()) {
        Ring& ring = rings_[found->second];
        KSAMP_RETURN_IF_ERROR(kernel_.SetOutput(fd, ring.fds.front()));
        ring.fds.push_back(fd);
        continue;
      }
      KSAMP_ASSIGN_OR_RETURN(std::unique_ptr<RingMemory> memory, kernel_.MapRing(fd, pages));
      ring_of_cpu[place.cpu] = rings_.size();
      rings_.push_back(Ring{place.cpu, RingReader(std::move(memory)), {fd}, true});
    }
  }
  cpus_.clear();
  for (const Ring& ring : rings_) cpus_.push_back(ring.cpu);
  return absl::OkStatus();
}

absl::Status PerfSession::EnableTracking() {
  return Switch(true, true);
}
absl::Status PerfSession::Enable() {
  return Switch(false, true);
}
absl::Status PerfSession::Disable() {
  absl::Status status = Switch(false, false);
  status.Update(Switch(true, false));
  return status;
}

absl::Status PerfSession::Switch(bool tracking, bool on) {
  absl::Status first;
  for (size_t index = 0; index < events_.size(); ++index) {
    const Event& event = events_[index];
    if (event.tracks != tracking || event.leader != index) continue;
    for (const UniqueFd& fd : event.fds)
      first.Update(on ? kernel_.Enable(fd.get(), true) : kernel_.Disable(fd.get(), true));
  }
  return first;
}

std::vector<WriterEvent> PerfSession::WriterEvents() const {
  std::vector<WriterEvent> events;
  for (const Event& event : events_) events.push_back({event.attr, event.spec.name, event.ids});
  return events;
}

int PerfSession::EventOfId(uint64_t id) const {
  const auto found = event_of_id_.find(id);
  return found == event_of_id_.end() ? -1 : found->second;
}

std::vector<uint64_t> PerfSession::ReadLost() const {
  std::vector<uint64_t> lost(events_.size(), 0);
  bool known = false;
  for (size_t index = 0; index < events_.size(); ++index) {
    const uint64_t format = events_[index].attr.read_format;
    if ((format & PERF_FORMAT_LOST) == 0 || (format & PERF_FORMAT_GROUP) != 0) continue;
    known = true;
    for (const UniqueFd& fd : events_[index].fds) {
      // LOST is the last word of a single counter's answer.
      const absl::StatusOr<std::vector<uint64_t>> words = kernel_.ReadCounter(fd.get(), kMaxGroupWords);
      if (words.ok() && !words->empty()) lost[index] += words->back();
    }
  }
  return known ? lost : std::vector<uint64_t>();
}

}  // namespace ksamp
