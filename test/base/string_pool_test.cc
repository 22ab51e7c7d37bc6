// SPDX-License-Identifier: Apache-2.0
#include "lib/base/string_pool.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ksamp {
namespace {

TEST(StringPool, NumbersAreDenseInOrderOfFirstSight) {
  const std::string_view with_nul("a\0b", 3);
  StringPool pool;
  EXPECT_EQ(pool.Intern("a"), 0u);
  EXPECT_EQ(pool.Intern(""), 1u);
  EXPECT_EQ(pool.Intern("a"), 0u);
  EXPECT_EQ(pool.Intern(with_nul), 2u);
  EXPECT_EQ(pool.size(), 3u);
  EXPECT_EQ(pool.Get(2), with_nul);
  EXPECT_EQ(pool.Find(""), 1u);
  EXPECT_EQ(pool.Find("b"), std::nullopt);
}

TEST(StringPool, ViewsLiveThroughGrowthAndMoves) {
  StringPool pool;
  std::string name = "first";  // Short: kept inside the string object, which must not move.
  const std::string_view view = pool.Get(pool.Intern(name));
  name = "gone!";
  for (int i = 0; i < 10000; ++i) pool.Intern(std::to_string(i));
  StringPool moved = std::move(pool);
  EXPECT_EQ(view, "first");
  EXPECT_EQ(moved.Get(0).data(), view.data());
  EXPECT_EQ(moved.Find("9999"), 10000u);
}

// A copy's look-up table would point into the original.
static_assert(!std::is_copy_constructible_v<StringPool> && !std::is_copy_assignable_v<StringPool>);

}  // namespace
}  // namespace ksamp
