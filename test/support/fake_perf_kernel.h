// SPDX-License-Identifier: Apache-2.0
// FakePerfKernel: a PerfKernel without a kernel, with state, real ring memory and real file descriptors.
//
//   FakePerfKernel kernel({.cpus = 512});
//   kernel.Refuse([](const FakeRequest& r) { return r.attr.precise_ip > 1; }, EOPNOTSUPP);
//   kernel.SetOffline(3);                       // opening there: ENODEV
//   kernel.set_on_poll([&](int poll) { kernel.PushSample(0, 0x401000, getpid()); });
//   Recorder::Open(options, &kernel);
//
// An event's descriptor is a memfd, its ring a shared mapping of that memfd, so closing, mapping and
// unmapping are the real thing. The rules of the kernel that a recorder can trip over are kept: SET_OUTPUT
// only between events of one CPU and clock, groups only of events
// of one thread and CPU, no ring for an inherited event without a CPU, a locked-memory
// budget, a limit of open events, LOST records when a ring was full. Each enabled event counts, and delivers
// `samples_per_poll` samples at each Poll() and one when it is enabled (what a probe sees).
//
// Costs about a microsecond per event: 512 CPUs × 4 events are cheap. One thread at a time (a mutex inside).
#ifndef KSAMP_TEST_SUPPORT_FAKE_PERF_KERNEL_H_
#define KSAMP_TEST_SUPPORT_FAKE_PERF_KERNEL_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "lib/base/mapped_region.h"
#include "lib/os/perf_kernel.h"

namespace ksamp::testing {

struct FakeRequest {
  perf_event_attr attr;
  pid_t pid;
  int cpu;
  int group_fd;
};

struct FakeKernelOptions {
  int cpus = 2;
  uint32_t max_attr_size = sizeof(perf_event_attr);  // non-zero bytes behind it: E2BIG
  size_t max_events = SIZE_MAX;                      // more open at once: EMFILE
  size_t mlock_bytes = SIZE_MAX;                     // rings beyond: EPERM
  int samples_per_poll = 0;                          // of every enabled event
  uint64_t running_percent = 100;  // of the time that counters were enabled; less: they took turns
};

// What the fake knows about one opened event.
struct FakeEvent {
  FakeRequest request = {};
  uint64_t id = 0;
  bool enabled = false;
  bool hung_up = false;
  int output_fd = -1;  // whose ring its records go to; -1: its own
  int fd = -1, leader_fd = -1;
  uint64_t count = 0, lost = 0;
  uint64_t inode = 0;  // of its memfd: tells a closed descriptor that was used again
};

class FakePerfKernel : public PerfKernel {
 public:
  explicit FakePerfKernel(FakeKernelOptions options = {});
  ~FakePerfKernel() override;

  using Condition = std::function<bool(const FakeRequest&)>;
  // Opening fails with `error` where the condition holds. Rules are asked in order.
  void Refuse(Condition when, int error);
  // As kernel.perf_event_paranoid binds who has no CAP_PERFMON (kernel/events/core.c), before anything else
  // is looked at. Level 3 is Debian's: nothing opens.
  void SetParanoid(int level, bool debian = false);
  // Such events open and never count: a fake PMU.
  void CountNothing(Condition when);
  // Such events count and never deliver a sample.
  void DeliverNothing(Condition when);
  void SetOffline(int cpu);  // opening there: ENODEV
  void Vanish(int cpu);      // goes offline now: its events hang up and fall silent
  void EndThread(pid_t tid);
  void set_on_poll(std::function<void(int poll)> hook) { on_poll_ = std::move(hook); }
  void set_samples_per_poll(int samples) { options_.samples_per_poll = samples; }

  // A sample of the first enabled sampling event on `cpu`; false: none there, or its ring was full (counted).
  bool PushSample(int cpu, uint64_t ip, pid_t pid);
  // A whole record into the ring of `cpu`; false: the ring was full. A LOST record follows when there is
  // room.
  bool PushRecord(int cpu, std::span<const std::byte> record);
  bool PushThrottle(int cpu, bool throttled);

  // What happened so far.
  const std::vector<FakeRequest>& requests() const { return requests_; }  // successful ones
  size_t open_events() const;
  size_t mapped_bytes() const { return Locked(mapped_bytes_); }
  size_t mapped_rings() const;
  uint64_t samples_delivered() const { return Locked(samples_delivered_); }
  int polls() const { return Locked(polls_); }
  std::vector<FakeEvent> events() const;  // open ones, by descriptor

  absl::StatusOr<UniqueFd> Open(const perf_event_attr& attr, pid_t pid, int cpu, int group_fd) override;
  absl::Status Enable(int fd, bool group) override;
  absl::Status Disable(int fd, bool group) override;
  absl::Status SetOutput(int fd, int ring_fd) override;
  absl::Status SetFilter(int fd, const char* filter) override;
  absl::StatusOr<uint64_t> EventId(int fd) override;
  absl::StatusOr<std::vector<uint64_t>> ReadCounter(int fd, size_t max_words) override;
  absl::StatusOr<std::unique_ptr<RingMemory>> MapRing(int fd, size_t data_pages) override;
  absl::StatusOr<int> Poll(std::span<pollfd> fds, int timeout_ms) override;

 private:
  class Ring;        // the producer's end
  class RingHandle;  // what MapRing gives out
  struct Rule {
    Condition when;
    int error;
  };

  FakeEvent* Find(int fd);  // null: not open (or closed and used again)
  Ring* RingOf(int fd, const FakeEvent& event);
  absl::Status Switch(int fd, bool group, bool on);
  bool Deliver(int fd, FakeEvent& event, uint64_t ip, pid_t pid);
  int FirstOn(int cpu, bool sampling);
  void Unmapped(int fd, size_t bytes);
  static bool Holds(const std::vector<Condition>& conditions, const FakeRequest& request);

  template <typename T>
  T Locked(const T& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }

  mutable std::recursive_mutex mutex_;  // the poll hook calls back
  FakeKernelOptions options_;
  std::vector<Rule> refusals_;
  std::vector<Condition> count_nothing_, deliver_nothing_;
  std::set<int> offline_;
  std::function<void(int)> on_poll_;
  std::map<int, FakeEvent> events_;
  std::map<int, std::shared_ptr<Ring>> rings_;  // by the descriptor that was mapped
  std::vector<FakeRequest> requests_;
  uint64_t next_id_ = 1, samples_delivered_ = 0, time_ = 1'000'000;
  size_t mapped_bytes_ = 0;
  int polls_ = 0;
};

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_SUPPORT_FAKE_PERF_KERNEL_H_
