// SPDX-License-Identifier: Apache-2.0
// PerfKernel: everything ksamp asks of the kernel's perf events, as one seam (design D8).
//
// Production has one implementation over the system calls (LinuxPerfKernel). Tests have a stateful fake with
// real ring memory (test/support/fake_perf_kernel.h) that refuses by rule, pushes wrapped, lost and throttled
// records, and lets CPUs vanish; so every path of the recorder runs without privilege.
//
// Errors keep their errno: StatusErrno(status) gives it back, because EACCES, EPERM, EBUSY, EMFILE and ENODEV
// each need an explanation of their own (recorder/open_failure.h).
//
// Implementations may be called from several threads.
#ifndef KSAMP_LIB_OS_PERF_KERNEL_H_
#define KSAMP_LIB_OS_PERF_KERNEL_H_

#include <linux/perf_event.h>
#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/unique_fd.h"

namespace ksamp {

// One mapped ring: the control page, then 2^n data pages. Unmapped when destroyed. Writable: data_tail is
// ours.
class RingMemory {
 public:
  virtual ~RingMemory() = default;
  virtual perf_event_mmap_page* control() = 0;
  virtual std::span<std::byte> data() = 0;  // size is a power of two
};

class PerfKernel {
 public:
  virtual ~PerfKernel() = default;

  // perf_event_open(2) with PERF_FLAG_FD_CLOEXEC. `pid` -1: every thread on `cpu`; `cpu` -1: wherever the
  // thread runs.
  virtual absl::StatusOr<UniqueFd> Open(const perf_event_attr& attr, pid_t pid, int cpu, int group_fd) = 0;
  // PERF_EVENT_IOC_ENABLE/DISABLE, of the event or (group) of its whole group.
  virtual absl::Status Enable(int fd, bool group) = 0;
  virtual absl::Status Disable(int fd, bool group) = 0;
  // PERF_EVENT_IOC_SET_OUTPUT: records of `fd` go into the ring of `ring_fd`.
  virtual absl::Status SetOutput(int fd, int ring_fd) = 0;
  // PERF_EVENT_IOC_SET_FILTER: a tracepoint's filter text.
  virtual absl::Status SetFilter(int fd, const char* filter) = 0;
  // PERF_EVENT_IOC_ID: the id that records carry.
  virtual absl::StatusOr<uint64_t> EventId(int fd) = 0;
  // read(2) of the counter: as many u64 as read_format asks for.
  virtual absl::StatusOr<std::vector<uint64_t>> ReadCounter(int fd, size_t max_words) = 0;
  // mmap of a ring of `data_pages` (a power of two). EPERM is the mlock limit.
  virtual absl::StatusOr<std::unique_ptr<RingMemory>> MapRing(int fd, size_t data_pages) = 0;
  // poll(2), resumed after EINTR only if `timeout_ms` is left; the number of ready descriptors.
  virtual absl::StatusOr<int> Poll(std::span<pollfd> fds, int timeout_ms) = 0;
};

// The real one; one per process is enough. Lives for ever.
PerfKernel& LinuxPerfKernel();

}  // namespace ksamp

#endif  // KSAMP_LIB_OS_PERF_KERNEL_H_
