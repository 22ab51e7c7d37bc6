// SPDX-License-Identifier: Apache-2.0
#include "lib/base/parallel.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace ksamp {
namespace {

TEST(AvailableCpus, CountsTheAffinityMask) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  EXPECT_EQ(AvailableCpus(), static_cast<unsigned>(CPU_COUNT(&set)));
}

TEST(ParallelFor, CallsEachIndexOnce) {
  for (unsigned threads : {0u, 1u, 2u, 7u}) {
    for (size_t count : {0, 1, 3, 1000}) {
      std::vector<std::atomic<int>> calls(count);
      ParallelFor(count, threads, [&](size_t index, unsigned) { ++calls[index]; });
      for (const std::atomic<int>& n : calls) EXPECT_EQ(n, 1);
    }
  }
}

TEST(ParallelFor, CallsOfOneWorkerDoNotOverlap) {
  constexpr unsigned kThreads = 4;
  std::vector<uint64_t> sums(kThreads);  // Not atomic: ThreadSanitizer would see an overlap.
  ParallelFor(10000, kThreads, [&](size_t index, unsigned worker) {
    ASSERT_LT(worker, kThreads);
    sums[worker] += index;
  });
  EXPECT_EQ(sums[0] + sums[1] + sums[2] + sums[3], 10000u * 9999u / 2);
}

TEST(ParallelFor, OneThreadIsTheCaller) {
  const std::thread::id self = std::this_thread::get_id();
  ParallelFor(10, 1, [&](size_t, unsigned worker) {
    EXPECT_EQ(std::this_thread::get_id(), self);
    EXPECT_EQ(worker, 0u);
  });
}

}  // namespace
}  // namespace ksamp
