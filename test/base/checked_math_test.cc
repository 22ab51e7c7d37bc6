// SPDX-License-Identifier: Apache-2.0
#include "lib/base/checked_math.h"

#include <gtest/gtest.h>

namespace ksamp {
namespace {

constexpr uint64_t kMax = ~uint64_t{0};

TEST(CheckedMath, OverflowIsAnAnswer) {
  EXPECT_EQ(CheckedAdd(kMax - 1, 1), kMax);
  EXPECT_EQ(CheckedAdd(kMax, 1), std::nullopt);
  EXPECT_EQ(CheckedMultiply(uint64_t{1} << 32, (uint64_t{1} << 32) - 1), 0xffffffff00000000u);
  EXPECT_EQ(CheckedMultiply(uint64_t{1} << 32, uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(CheckedAlign(9, 8), 16u);
  EXPECT_EQ(CheckedAlign(8, 8), 8u);
  EXPECT_EQ(CheckedAlign(kMax - 3, 8), std::nullopt);
}

TEST(CheckedMath, RangesEndAtTheLimit) {
  EXPECT_TRUE(RangeFits(0, 10, 10));
  EXPECT_TRUE(RangeFits(10, 0, 10));
  EXPECT_FALSE(RangeFits(1, 10, 10));
  EXPECT_FALSE(RangeFits(11, 0, 10));
  EXPECT_FALSE(RangeFits(8, kMax - 4, 10)) << "offset + size would wrap round";
}

}  // namespace
}  // namespace ksamp
