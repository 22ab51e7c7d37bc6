// SPDX-License-Identifier: Apache-2.0
#include "lib/base/string_pool.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace ksamp {
namespace {

TEST(StringPool, NumbersAreDenseInOrderOfFirstSight) {
  StringPool pool;
  EXPECT_EQ(pool.Intern("a"), 0u);
  EXPECT_EQ(pool.Intern(""), 1u);
  EXPECT_EQ(pool.Intern("a"), 0u);
  EXPECT_EQ(pool.size(), 2u);
  EXPECT_EQ(pool.Find(""), 1u);
  EXPECT_EQ(pool.Find("b"), std::nullopt);
}

TEST(StringPool, ViewsOutliveGrowthAndMoves) {
  StringPool pool;
  const std::string_view first = pool.Get(pool.Intern("x"));
  for (int i = 0; i < 1000; ++i) pool.Intern(std::to_string(i));
  const StringPool moved = std::move(pool);
  EXPECT_EQ(first, "x");
  EXPECT_EQ(moved.Get(0).data(), first.data());
  EXPECT_EQ(moved.Find("999"), 1000u);
}

}  // namespace
}  // namespace ksamp
