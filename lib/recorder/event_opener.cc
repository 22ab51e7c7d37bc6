// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/event_opener.h"

#include <cerrno>
#include <string_view>

#include "lib/base/file_io.h"

namespace ksamp {
namespace {

// One wish: its name, and how to leave it out. False: the attr did not have it.
struct Wish {
  std::string_view name;
  bool (*leave_out)(perf_event_attr&);
};

#define KSAMP_BIT_WISH(field)                \
  {                                          \
#field, [](perf_event_attr& attr) {        \
      const bool had = attr.field != 0;        \
      attr.field = 0;                          \
      return had;                              \
    } \
  }

// Youngest first, with the kernel that brought it.
constexpr Wish kWishes[] = {
    {"read_format LOST",  // 6.0
     [](perf_event_attr& attr) {
       const bool had = (attr.read_format & PERF_FORMAT_LOST) != 0;
       attr.read_format &= ~static_cast<uint64_t>(PERF_FORMAT_LOST);
       return had;
     }},
    KSAMP_BIT_WISH(build_id),    // 5.12
    KSAMP_BIT_WISH(text_poke),   // 5.8
    KSAMP_BIT_WISH(cgroup),      // 5.7
    KSAMP_BIT_WISH(bpf_event),   // 5.1
    KSAMP_BIT_WISH(ksymbol),     // 5.1
    KSAMP_BIT_WISH(namespaces),  // 4.12
    {"sample_max_stack",         // 4.8
     [](perf_event_attr& attr) {
       const bool had = attr.sample_max_stack != 0;
       attr.sample_max_stack = 0;
       return had;
     }},
    KSAMP_BIT_WISH(comm_exec),      // 3.16
    KSAMP_BIT_WISH(mmap2),          // 3.16; plain MMAP stays
    KSAMP_BIT_WISH(exclude_guest),  // refused by PMUs that cannot tell guests apart
};

#undef KSAMP_BIT_WISH

bool MayBeAWish(const absl::Status& status) {
  const int error = StatusErrno(status);
  return error == EINVAL || error == E2BIG || error == EOPNOTSUPP;
}

}  // namespace

absl::StatusOr<UniqueFd> OpenDegrading(PerfKernel& kernel, perf_event_attr& attr, pid_t pid, int cpu,
                                       int group_fd, std::vector<std::string_view>* left_out) {
  absl::StatusOr<UniqueFd> fd = kernel.Open(attr, pid, cpu, group_fd);
  if (fd.ok() || !MayBeAWish(fd.status())) return fd;
  perf_event_attr poorer = attr;
  std::vector<std::string_view> names;
  for (const Wish& wish : kWishes) {
    if (!wish.leave_out(poorer)) continue;
    names.push_back(wish.name);
    absl::StatusOr<UniqueFd> retried = kernel.Open(poorer, pid, cpu, group_fd);
    if (retried.ok()) {
      attr = poorer;
      left_out->insert(left_out->end(), names.begin(), names.end());
      return retried;
    }
    if (!MayBeAWish(retried.status())) return retried;
  }
  return fd;
}

}  // namespace ksamp
