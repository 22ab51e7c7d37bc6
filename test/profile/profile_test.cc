// SPDX-License-Identifier: Apache-2.0
#include "ksamp/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ksamp {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(ProfileTest, ConservationIsASum) {
  Conservation c{
      .taken = 20, .counted = 10, .idle = 4, .filtered = {{"cpu", 2}, {"time", 1}}, .dropped = {{"x", 3}}};
  EXPECT_EQ(c.FilteredTotal(), 3u);
  EXPECT_EQ(c.DroppedTotal(), 3u);
  EXPECT_TRUE(c.Holds());
  ++c.taken;
  EXPECT_FALSE(c.Holds());
}

TEST(ProfileTest, TotalAddsTheEventsCauseByCause) {
  Profile profile;
  profile.conservation.push_back(
      {.taken = 7, .counted = 3, .idle = 1, .filtered = {{"cpu", 2}}, .dropped = {{"x", 1}}});
  profile.conservation.push_back(
      {.taken = 9, .counted = 5, .idle = 0, .filtered = {{"cpu", 1}, {"tid", 3}}, .dropped = {}});
  const Conservation total = profile.Total();
  EXPECT_EQ(total.taken, 16u);
  EXPECT_EQ(total.counted, 8u);
  EXPECT_EQ(total.idle, 1u);
  EXPECT_THAT(total.filtered, ElementsAre(Pair("cpu", 3), Pair("tid", 3)));
  EXPECT_THAT(total.dropped, ElementsAre(Pair("x", 1)));
  EXPECT_TRUE(total.Holds());
}

TEST(ProfileTest, TotalOfNothingHolds) {
  EXPECT_TRUE(Profile().Total().Holds());
}

}  // namespace
}  // namespace ksamp
