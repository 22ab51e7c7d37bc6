// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "lib/base/file_io.h"
#include "lib/base/mapped_region.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/os/perf_kernel.h"

namespace ksamp {
namespace {

size_t PageSize() {
  static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

class MappedRing : public RingMemory {
 public:
  explicit MappedRing(MappedRegion region) : region_(std::move(region)) {}
  perf_event_mmap_page* control() override {
    return reinterpret_cast<perf_event_mmap_page*>(region_.mutable_bytes().data());
  }
  std::span<std::byte> data() override { return region_.mutable_bytes().subspan(PageSize()); }

 private:
  MappedRegion region_;
};

absl::Status Control(int fd, unsigned long request, unsigned long argument, const char* what) {
  int result;
  do {
    result = ioctl(fd, request, argument);
  } while (result < 0 && errno == EINTR);
  if (result < 0) return ErrnoStatus(errno, StrCat(what, " perf event"));
  return absl::OkStatus();
}

class SystemCallKernel : public PerfKernel {
 public:
  absl::StatusOr<UniqueFd> Open(const perf_event_attr& attr, pid_t pid, int cpu, int group_fd) override {
    perf_event_attr copy = attr;  // The kernel writes its own size into it on E2BIG.
    UniqueFd fd(static_cast<int>(syscall(SYS_perf_event_open, &copy, pid, cpu, group_fd,
                                         static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC))));
    if (!fd) {
      return ErrnoStatus(errno, StrCat("perf_event_open type ", attr.type, " config ", Hex(attr.config),
                                       " pid ", pid, " cpu ", cpu));
    }
    return fd;
  }

  absl::Status Enable(int fd, bool group) override {
    return Control(fd, PERF_EVENT_IOC_ENABLE, group ? PERF_IOC_FLAG_GROUP : 0, "enable");
  }
  absl::Status Disable(int fd, bool group) override {
    return Control(fd, PERF_EVENT_IOC_DISABLE, group ? PERF_IOC_FLAG_GROUP : 0, "disable");
  }
  absl::Status SetOutput(int fd, int ring_fd) override {
    return Control(fd, PERF_EVENT_IOC_SET_OUTPUT, static_cast<unsigned long>(ring_fd),
                   "redirect the output of");
  }
  absl::Status SetFilter(int fd, const char* filter) override {
    return Control(fd, PERF_EVENT_IOC_SET_FILTER, reinterpret_cast<unsigned long>(filter),
                   "set the filter of");
  }

  absl::StatusOr<uint64_t> EventId(int fd) override {
    uint64_t id = 0;
    KSAMP_RETURN_IF_ERROR(
        Control(fd, PERF_EVENT_IOC_ID, reinterpret_cast<unsigned long>(&id), "read the id of"));
    return id;
  }

  absl::StatusOr<std::vector<uint64_t>> ReadCounter(int fd, size_t max_words) override {
    std::vector<uint64_t> words(max_words);
    ssize_t got;
    do {
      got = read(fd, words.data(), words.size() * sizeof(uint64_t));
    } while (got < 0 && errno == EINTR);
    if (got < 0) return ErrnoStatus(errno, "read perf event");
    words.resize(static_cast<size_t>(got) / sizeof(uint64_t));
    return words;
  }

  absl::StatusOr<std::unique_ptr<RingMemory>> MapRing(int fd, size_t data_pages) override {
    KSAMP_ASSIGN_OR_RETURN(MappedRegion region,
                           MappedRegion::MapShared(fd, (1 + data_pages) * PageSize(), 0, "perf ring"));
    return std::make_unique<MappedRing>(std::move(region));
  }

  absl::StatusOr<int> Poll(std::span<pollfd> fds, int timeout_ms) override {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
    for (;;) {
      const int ready = poll(fds.data(), fds.size(), timeout_ms);
      if (ready >= 0) return ready;
      if (errno != EINTR) return ErrnoStatus(errno, "poll perf events");
      if (timeout_ms < 0) continue;
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) return 0;
      timeout_ms = static_cast<int>(left);
    }
  }
};

}  // namespace

PerfKernel& LinuxPerfKernel() {
  static SystemCallKernel* const kernel = new SystemCallKernel;
  return *kernel;
}

}  // namespace ksamp
