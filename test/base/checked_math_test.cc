// SPDX-License-Identifier: Apache-2.0
#include "lib/base/checked_math.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace ksamp {
namespace {

constexpr uint64_t kMax = UINT64_MAX;

TEST(CheckedAdd, OverflowIsNothing) {
  EXPECT_EQ(CheckedAdd(1, 2), 3u);
  EXPECT_EQ(CheckedAdd(kMax, 0), kMax);
  EXPECT_EQ(CheckedAdd(kMax, 1), std::nullopt);
  EXPECT_EQ(CheckedAdd(kMax, kMax), std::nullopt);
}

TEST(CheckedMultiply, OverflowIsNothing) {
  EXPECT_EQ(CheckedMultiply(6, 7), 42u);
  EXPECT_EQ(CheckedMultiply(kMax, 1), kMax);
  EXPECT_EQ(CheckedMultiply(kMax, 0), 0u);
  EXPECT_EQ(CheckedMultiply(uint64_t{1} << 32, uint64_t{1} << 32), std::nullopt);
}

TEST(RangeFits, EdgesAndWrapping) {
  EXPECT_TRUE(RangeFits(0, 0, 0));
  EXPECT_TRUE(RangeFits(4, 6, 10));
  EXPECT_TRUE(RangeFits(10, 0, 10));
  EXPECT_FALSE(RangeFits(4, 7, 10));
  EXPECT_FALSE(RangeFits(11, 0, 10));
  EXPECT_FALSE(RangeFits(8, kMax - 4, 10));  // The sum wraps to 3.
  EXPECT_FALSE(RangeFits(kMax, 1, kMax));
}

TEST(CheckedAlign, RoundsUp) {
  EXPECT_EQ(CheckedAlign(0, 8), 0u);
  EXPECT_EQ(CheckedAlign(1, 8), 8u);
  EXPECT_EQ(CheckedAlign(8, 8), 8u);
  EXPECT_EQ(CheckedAlign(9, 1), 9u);
  EXPECT_EQ(CheckedAlign(kMax - 7, 8), kMax - 7);
  EXPECT_EQ(CheckedAlign(kMax - 6, 8), std::nullopt);
}

}  // namespace
}  // namespace ksamp
