// SPDX-License-Identifier: Apache-2.0
#include "lib/base/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

namespace ksamp {
namespace {

TEST(ParallelFor, DoesEachIndexOnce) {
  for (const unsigned threads : {0u, 1u, 4u}) {
    std::vector<std::atomic<int>> done(1000);
    ParallelFor(done.size(), threads, [&](size_t index, unsigned) { ++done[index]; });
    for (const std::atomic<int>& times : done) ASSERT_EQ(times, 1);
  }
}

// Worker numbers index state that is not locked: under TSan this test is the proof that they may.
TEST(ParallelFor, WorkersDoNotOverlap) {
  constexpr unsigned kThreads = 4;
  std::vector<uint64_t> sums(kThreads);
  ParallelFor(10000, kThreads, [&](size_t index, unsigned worker) {
    ASSERT_LT(worker, kThreads);
    sums[worker] += index;
  });
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), uint64_t{0}), 10000u * 9999 / 2);
}

TEST(ParallelFor, OneThreadIsTheCaller) {
  std::vector<std::thread::id> ids;
  ParallelFor(3, 1, [&](size_t, unsigned) { ids.push_back(std::this_thread::get_id()); });
  EXPECT_THAT(ids, ::testing::ElementsAre(std::this_thread::get_id(), std::this_thread::get_id(),
                                          std::this_thread::get_id()));
}

TEST(ParallelFor, NothingToDoIsDone) {
  ParallelFor(0, 4, [](size_t, unsigned) { FAIL(); });
  EXPECT_GE(AvailableCpus(), 1u);
}

}  // namespace
}  // namespace ksamp
