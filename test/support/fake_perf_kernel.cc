// SPDX-License-Identifier: Apache-2.0
#include "test/support/fake_perf_kernel.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "lib/base/byte_writer.h"
#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"

namespace ksamp::testing {
namespace {

size_t PageSize() {
  static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

uint64_t InodeOf(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 ? static_cast<uint64_t>(status.st_ino) : 0;
}

bool IsSampling(const perf_event_attr& attr) {
  const bool dummy = attr.type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_DUMMY;
  return attr.sample_period != 0 && !dummy;
}

// Bytes an older kernel does not know, and that ask for something.
bool HasTail(const perf_event_attr& attr, uint32_t known) {
  const char* bytes = reinterpret_cast<const char*>(&attr);
  const size_t size = std::min<size_t>(attr.size, sizeof(attr));
  for (size_t i = known; i < size; ++i) {
    if (bytes[i] != 0) return true;
  }
  return false;
}

struct RecordHeader {
  uint32_t type;
  uint16_t misc;
  uint16_t size;
};

void Finish(ByteWriter& out) {
  out.PutAt<uint16_t>(6, static_cast<uint16_t>(out.size()));
}

// The fields are written here by hand, not by lib/event: a mistake there must not hide itself.
std::vector<std::byte> SampleBytes(const FakeEvent& event, uint64_t ip, pid_t pid, uint64_t time) {
  const perf_event_attr& attr = event.request.attr;
  ByteWriter out;
  out.Put(RecordHeader{PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 0});
  const auto wants = [&](uint64_t bit) { return (attr.sample_type & bit) != 0; };
  if (wants(PERF_SAMPLE_IDENTIFIER)) out.Put<uint64_t>(event.id);
  if (wants(PERF_SAMPLE_IP)) out.Put<uint64_t>(ip);
  if (wants(PERF_SAMPLE_TID)) out.Put<uint64_t>(static_cast<uint32_t>(pid) * 0x1'0000'0001ull);
  if (wants(PERF_SAMPLE_TIME)) out.Put<uint64_t>(time);
  if (wants(PERF_SAMPLE_ADDR)) out.Put<uint64_t>(0);
  if (wants(PERF_SAMPLE_ID)) out.Put<uint64_t>(event.id);
  if (wants(PERF_SAMPLE_CPU)) out.Put<uint64_t>(static_cast<uint64_t>(std::max(event.request.cpu, 0)));
  if (wants(PERF_SAMPLE_PERIOD)) out.Put<uint64_t>(attr.sample_period);
  if (wants(PERF_SAMPLE_CALLCHAIN)) {
    out.Put<uint64_t>(2);
    out.Put<uint64_t>(static_cast<uint64_t>(-512));
    out.Put<uint64_t>(ip);
  }
  if (wants(PERF_SAMPLE_RAW)) {
    out.Put<uint32_t>(4);
    out.Put<uint32_t>(0);
  }
  Finish(out);
  return std::move(out).Take();
}

// sample_id_all's trailer.
void PutTrailer(ByteWriter& out, const FakeEvent& event, uint64_t time) {
  const perf_event_attr& attr = event.request.attr;
  if (!attr.sample_id_all) return;
  const auto wants = [&](uint64_t bit) { return (attr.sample_type & bit) != 0; };
  if (wants(PERF_SAMPLE_TID)) out.Put<uint64_t>(0);
  if (wants(PERF_SAMPLE_TIME)) out.Put<uint64_t>(time);
  if (wants(PERF_SAMPLE_ID)) out.Put<uint64_t>(event.id);
  if (wants(PERF_SAMPLE_CPU)) out.Put<uint64_t>(static_cast<uint64_t>(std::max(event.request.cpu, 0)));
  if (wants(PERF_SAMPLE_IDENTIFIER)) out.Put<uint64_t>(event.id);
}

}  // namespace

class FakePerfKernel::Ring {
 public:
  explicit Ring(MappedRegion region) : region_(std::move(region)) {}

  bool Write(std::span<const std::byte> record) {
    const std::span<std::byte> data = region_.mutable_bytes().subspan(PageSize());
    const uint64_t tail = __atomic_load_n(&control()->data_tail, __ATOMIC_ACQUIRE);
    const uint64_t head = control()->data_head;
    if (head + record.size() - tail > data.size()) return false;
    for (size_t i = 0; i < record.size();) {
      const size_t at = static_cast<size_t>((head + i) % data.size());
      const size_t piece = std::min(record.size() - i, data.size() - at);
      std::memcpy(data.data() + at, record.data() + i, piece);
      i += piece;
    }
    __atomic_store_n(&control()->data_head, head + record.size(), __ATOMIC_RELEASE);
    return true;
  }

  bool empty() { return control()->data_head == __atomic_load_n(&control()->data_tail, __ATOMIC_ACQUIRE); }
  uint64_t lost = 0;  // not yet told by a LOST record

 private:
  perf_event_mmap_page* control() {
    return reinterpret_cast<perf_event_mmap_page*>(region_.mutable_bytes().data());
  }
  MappedRegion region_;
};

class FakePerfKernel::RingHandle : public RingMemory {
 public:
  RingHandle(FakePerfKernel* kernel, int fd, MappedRegion region)
      : kernel_(kernel), fd_(fd), region_(std::move(region)) {}
  ~RingHandle() override { kernel_->Unmapped(fd_, region_.size()); }
  perf_event_mmap_page* control() override {
    return reinterpret_cast<perf_event_mmap_page*>(region_.mutable_bytes().data());
  }
  std::span<std::byte> data() override { return region_.mutable_bytes().subspan(PageSize()); }

 private:
  FakePerfKernel* kernel_;
  int fd_;
  MappedRegion region_;
};

FakePerfKernel::FakePerfKernel(FakeKernelOptions options) : options_(options) {}
FakePerfKernel::~FakePerfKernel() = default;

void FakePerfKernel::Refuse(Condition when, int error) {
  refusals_.push_back({std::move(when), error});
}
void FakePerfKernel::SetParanoid(int level, bool debian) {
  Refuse([=](const FakeRequest&) { return debian && level > 2; }, EACCES);
  Refuse([=](const FakeRequest& r) { return level > 1 && !r.attr.exclude_kernel; }, EACCES);
  Refuse([=](const FakeRequest& r) { return level > 0 && r.pid == -1; }, EACCES);
  Refuse([=](const FakeRequest& r) { return level > -1 && r.attr.type == PERF_TYPE_TRACEPOINT; }, EPERM);
}

void FakePerfKernel::CountNothing(Condition when) {
  count_nothing_.push_back(std::move(when));
}
void FakePerfKernel::DeliverNothing(Condition when) {
  deliver_nothing_.push_back(std::move(when));
}
void FakePerfKernel::SetOffline(int cpu) {
  offline_.insert(cpu);
}

void FakePerfKernel::Vanish(int cpu) {
  const std::lock_guard lock(mutex_);
  offline_.insert(cpu);
  for (auto& [fd, event] : events_) {
    if (event.request.cpu == cpu) event.hung_up = true;
  }
}

void FakePerfKernel::EndThread(pid_t tid) {
  const std::lock_guard lock(mutex_);
  for (auto& [fd, event] : events_) {
    if (event.request.pid == tid) event.hung_up = true;
  }
}

bool FakePerfKernel::Holds(const std::vector<Condition>& conditions, const FakeRequest& request) {
  return std::any_of(conditions.begin(), conditions.end(), [&](const Condition& c) { return c(request); });
}

FakeEvent* FakePerfKernel::Find(int fd) {
  const auto found = events_.find(fd);
  if (found == events_.end() || InodeOf(fd) != found->second.inode) return nullptr;
  return &found->second;
}

FakePerfKernel::Ring* FakePerfKernel::RingOf(int fd, const FakeEvent& event) {
  const auto found = rings_.find(event.output_fd >= 0 ? event.output_fd : fd);
  return found == rings_.end() ? nullptr : found->second.get();
}

size_t FakePerfKernel::open_events() const {
  const std::lock_guard lock(mutex_);
  return static_cast<size_t>(std::count_if(events_.begin(), events_.end(), [](const auto& entry) {
    return InodeOf(entry.first) == entry.second.inode;
  }));
}

size_t FakePerfKernel::mapped_rings() const {
  const std::lock_guard lock(mutex_);
  return rings_.size();
}

std::vector<FakeEvent> FakePerfKernel::events() const {
  const std::lock_guard lock(mutex_);
  std::vector<FakeEvent> open;
  for (const auto& [fd, event] : events_) {
    if (InodeOf(fd) == event.inode) open.push_back(event);
  }
  return open;
}

absl::StatusOr<UniqueFd> FakePerfKernel::Open(const perf_event_attr& attr, pid_t pid, int cpu, int group_fd) {
  const std::lock_guard lock(mutex_);
  const FakeRequest request{attr, pid, cpu, group_fd};
  const auto refused = [&](int error) {
    return ErrnoStatus(error, StrCat("perf_event_open type ", attr.type, " config ", Hex(attr.config),
                                     " pid ", pid, " cpu ", cpu));
  };
  if (HasTail(attr, options_.max_attr_size)) return refused(E2BIG);
  if (pid == -1 && cpu == -1) return refused(EINVAL);
  for (const Rule& rule : refusals_) {
    if (rule.when(request)) return refused(rule.error);
  }
  if (cpu >= options_.cpus || offline_.contains(cpu)) return refused(ENODEV);
  if (group_fd >= 0) {
    const FakeEvent* leader = Find(group_fd);
    if (leader == nullptr) return refused(EBADF);
    const bool same_place = leader->request.pid == pid && leader->request.cpu == cpu;
    if (!same_place || leader->leader_fd >= 0) return refused(EINVAL);
  }
  if (options_.max_events != SIZE_MAX && open_events() >= options_.max_events) return refused(EMFILE);
  UniqueFd fd(memfd_create("perf event", MFD_CLOEXEC));
  if (!fd) return refused(errno);
  FakeEvent event;
  event.request = request;
  event.id = next_id_++;
  event.enabled = !attr.disabled;
  event.fd = fd.get();
  event.leader_fd = group_fd;
  event.inode = InodeOf(fd.get());
  events_[fd.get()] = event;
  requests_.push_back(request);
  return fd;
}

absl::Status FakePerfKernel::Switch(int fd, bool group, bool on) {
  const std::lock_guard lock(mutex_);
  FakeEvent* event = Find(fd);
  if (event == nullptr) return ErrnoStatus(EBADF, on ? "enable perf event" : "disable perf event");
  for (auto& [other_fd, other] : events_) {
    if (other_fd != fd && !(group && other.leader_fd == fd)) continue;
    const bool starts = on && !other.enabled;
    other.enabled = on;
    if (starts) Deliver(other_fd, other, 0x401000, 0);
  }
  return absl::OkStatus();
}

absl::Status FakePerfKernel::Enable(int fd, bool group) {
  return Switch(fd, group, true);
}
absl::Status FakePerfKernel::Disable(int fd, bool group) {
  return Switch(fd, group, false);
}

absl::Status FakePerfKernel::SetOutput(int fd, int ring_fd) {
  const std::lock_guard lock(mutex_);
  FakeEvent* event = Find(fd);
  const FakeEvent* target = Find(ring_fd);
  if (event == nullptr || target == nullptr) return ErrnoStatus(EBADF, "redirect the output of perf event");
  const bool same_clock = event->request.attr.use_clockid == target->request.attr.use_clockid &&
                          event->request.attr.clockid == target->request.attr.clockid;
  if (event->request.cpu != target->request.cpu || !same_clock || !rings_.contains(ring_fd))
    return ErrnoStatus(EINVAL, "redirect the output of perf event");
  event->output_fd = ring_fd;
  return absl::OkStatus();
}

absl::Status FakePerfKernel::SetFilter(int fd, const char*) {
  const std::lock_guard lock(mutex_);
  const FakeEvent* event = Find(fd);
  if (event == nullptr) return ErrnoStatus(EBADF, "set the filter of perf event");
  if (event->request.attr.type != PERF_TYPE_TRACEPOINT)
    return ErrnoStatus(EINVAL, "set the filter of perf event");
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> FakePerfKernel::EventId(int fd) {
  const std::lock_guard lock(mutex_);
  const FakeEvent* event = Find(fd);
  if (event == nullptr) return ErrnoStatus(EBADF, "read the id of perf event");
  return event->id;
}

absl::StatusOr<std::vector<uint64_t>> FakePerfKernel::ReadCounter(int fd, size_t max_words) {
  const std::lock_guard lock(mutex_);
  const FakeEvent* leader = Find(fd);
  if (leader == nullptr) return ErrnoStatus(EBADF, "read perf event");
  const uint64_t format = leader->request.attr.read_format;
  const bool group = (format & PERF_FORMAT_GROUP) != 0;
  std::vector<const FakeEvent*> members{leader};
  for (const auto& [other_fd, other] : events_) {
    if (group && other.leader_fd == fd) members.push_back(&other);
  }
  const auto put_times = [&](std::vector<uint64_t>& words) {
    if (format & PERF_FORMAT_TOTAL_TIME_ENABLED) words.push_back(leader->count);
    if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
      words.push_back(leader->count * options_.running_percent / 100);
  };
  std::vector<uint64_t> words;
  if (group) words.push_back(members.size());
  if (group) put_times(words);
  for (const FakeEvent* event : members) {
    words.push_back(event->count);
    if (!group) put_times(words);
    if (format & PERF_FORMAT_ID) words.push_back(event->id);
    if (format & PERF_FORMAT_LOST) words.push_back(event->lost);
  }
  if (words.size() > max_words) return ErrnoStatus(ENOSPC, "read perf event");
  return words;
}

absl::StatusOr<std::unique_ptr<RingMemory>> FakePerfKernel::MapRing(int fd, size_t data_pages) {
  const std::lock_guard lock(mutex_);
  const FakeEvent* event = Find(fd);
  if (event == nullptr) return ErrnoStatus(EBADF, "mmap perf ring");
  const bool power_of_two = data_pages != 0 && (data_pages & (data_pages - 1)) == 0;
  if (!power_of_two || (event->request.attr.inherit && event->request.cpu == -1))
    return ErrnoStatus(EINVAL, "mmap perf ring");
  const size_t bytes = (1 + data_pages) * PageSize();
  if (mapped_bytes_ + bytes > options_.mlock_bytes)
    return ErrnoStatus(EPERM, StrCat("mmap perf ring (", bytes, ")"));
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0) return ErrnoStatus(errno, "size perf ring");
  KSAMP_ASSIGN_OR_RETURN(MappedRegion ours, MappedRegion::MapShared(fd, bytes, 0, "perf ring"));
  KSAMP_ASSIGN_OR_RETURN(MappedRegion theirs, MappedRegion::MapShared(fd, bytes, 0, "perf ring"));
  std::memset(ours.mutable_bytes().data(), 0, PageSize());
  rings_[fd] = std::make_shared<Ring>(std::move(ours));
  mapped_bytes_ += bytes;
  return std::make_unique<RingHandle>(this, fd, std::move(theirs));
}

void FakePerfKernel::Unmapped(int fd, size_t bytes) {
  const std::lock_guard lock(mutex_);
  rings_.erase(fd);
  mapped_bytes_ -= bytes;
}

bool FakePerfKernel::Deliver(int fd, FakeEvent& event, uint64_t ip, pid_t pid) {
  if (event.hung_up || Holds(count_nothing_, event.request)) return false;
  event.count += std::max<uint64_t>(event.request.attr.sample_period, 1);
  if (!IsSampling(event.request.attr) || Holds(deliver_nothing_, event.request)) return false;
  Ring* ring = RingOf(fd, event);
  if (ring == nullptr) return false;
  time_ += 1000;
  if (ring->lost > 0) {
    ByteWriter lost;
    lost.Put(RecordHeader{PERF_RECORD_LOST, 0, 0});
    lost.Put<uint64_t>(event.id);
    lost.Put<uint64_t>(ring->lost);
    PutTrailer(lost, event, time_);
    Finish(lost);
    if (ring->Write(lost.bytes())) ring->lost = 0;
  }
  if (ring->lost > 0 || !ring->Write(SampleBytes(event, ip, pid, time_))) {
    ++ring->lost;
    ++event.lost;
    return false;
  }
  ++samples_delivered_;
  return true;
}

int FakePerfKernel::FirstOn(int cpu, bool sampling) {
  for (const auto& [fd, event] : events_) {
    if (event.request.cpu != cpu || !event.enabled || Find(fd) == nullptr) continue;
    if (!sampling || IsSampling(event.request.attr)) return fd;
  }
  return -1;
}

bool FakePerfKernel::PushSample(int cpu, uint64_t ip, pid_t pid) {
  const std::lock_guard lock(mutex_);
  const int fd = FirstOn(cpu, true);
  return fd >= 0 && Deliver(fd, events_[fd], ip, pid);
}

bool FakePerfKernel::PushRecord(int cpu, std::span<const std::byte> record) {
  const std::lock_guard lock(mutex_);
  const int fd = FirstOn(cpu, false);
  Ring* ring = fd < 0 ? nullptr : RingOf(fd, events_[fd]);
  if (ring == nullptr) return false;
  if (ring->lost == 0 && ring->Write(record)) return true;
  ++ring->lost;
  return false;
}

bool FakePerfKernel::PushThrottle(int cpu, bool throttled) {
  const std::lock_guard lock(mutex_);
  const int fd = FirstOn(cpu, true);
  if (fd < 0) return false;
  const FakeEvent& event = events_[fd];
  ByteWriter out;
  out.Put(
      RecordHeader{static_cast<uint32_t>(throttled ? PERF_RECORD_THROTTLE : PERF_RECORD_UNTHROTTLE), 0, 0});
  out.Put<uint64_t>(++time_);
  out.Put<uint64_t>(event.id);
  out.Put<uint64_t>(event.id);
  PutTrailer(out, event, time_);
  Finish(out);
  return PushRecord(cpu, out.bytes());
}

absl::StatusOr<int> FakePerfKernel::Poll(std::span<pollfd> fds, int timeout_ms) {
  {
    const std::lock_guard lock(mutex_);
    const int poll = ++polls_;
    for (auto& [fd, event] : events_) {
      if (!event.enabled || options_.samples_per_poll == 0 || Find(fd) == nullptr) continue;
      for (int i = 0; i < options_.samples_per_poll; ++i) Deliver(fd, event, 0x401000, 0);
    }
    if (on_poll_) on_poll_(poll);
  }
  std::vector<pollfd> real(fds.begin(), fds.end());
  int ready = 0;
  {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < fds.size(); ++i) {
      fds[i].revents = 0;
      const FakeEvent* event = fds[i].fd < 0 ? nullptr : Find(fds[i].fd);
      if (event == nullptr) continue;
      real[i].fd = -1;
      Ring* ring = RingOf(fds[i].fd, *event);
      if (ring != nullptr && !ring->empty()) fds[i].revents |= POLLIN;
      if (event->hung_up) fds[i].revents |= POLLHUP;
      if (fds[i].revents != 0) ++ready;
    }
  }
  // Waiting would only make the test slow: the fake's time passes by polls.
  const int wait_ms = ready > 0 ? 0 : (timeout_ms < 0 ? 1 : std::min(timeout_ms, 1));
  if (poll(real.data(), real.size(), wait_ms) > 0) {
    for (size_t i = 0; i < real.size(); ++i) {
      if (real[i].fd < 0 || real[i].revents == 0) continue;
      fds[i].revents = real[i].revents;
      ++ready;
    }
  }
  return ready;
}

}  // namespace ksamp::testing
