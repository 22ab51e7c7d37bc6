// SPDX-License-Identifier: Apache-2.0
#include "lib/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace ksamp {

unsigned AvailableCpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

void ParallelFor(size_t count, unsigned threads, const std::function<void(size_t, unsigned)>& body) {
  std::atomic<size_t> next{0};
  auto work = [&](unsigned worker) {
    for (size_t index; (index = next.fetch_add(1, std::memory_order_relaxed)) < count;) body(index, worker);
  };
  const unsigned wanted =
      static_cast<unsigned>(std::min<size_t>(std::max(1u, threads), std::max<size_t>(1, count)));
  std::vector<std::jthread> others;
  try {
    for (unsigned worker = 1; worker < wanted; ++worker) others.emplace_back(work, worker);
  } catch (const std::system_error&) {
    // No more threads to be had (RLIMIT_NPROC, a container's pids limit): those there are do the work.
  }
  work(0);
}

}  // namespace ksamp
