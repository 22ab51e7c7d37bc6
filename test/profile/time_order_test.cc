// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/time_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ksamp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct TimeOrderTest : ::testing::Test {
  // What came out since the last call.
  std::vector<std::string> Taken() { return std::exchange(taken, {}); }
  TimeOrder<std::string> order;
  std::vector<std::string> taken;
  std::function<bool(const std::string&)> take = [this](const std::string& item) {
    taken.push_back(item);
    return true;
  };
};

TEST_F(TimeOrderTest, ARoundReleasesWhatWasNewestAtTheRoundBefore) {
  order.Add(10, "a10");
  order.Add(30, "a30");
  order.Add(20, "b20");
  EXPECT_TRUE(order.FinishRound(take));
  EXPECT_THAT(Taken(), IsEmpty());
  order.Add(40, "a40");
  order.Add(30, "b30");
  order.Add(35, "b35");
  EXPECT_TRUE(order.FinishRound(take));
  EXPECT_THAT(Taken(), ElementsAre("a10", "b20", "a30", "b30"));
  EXPECT_TRUE(order.Finish(take));
  EXPECT_THAT(Taken(), ElementsAre("b35", "a40"));
}

TEST_F(TimeOrderTest, WithoutRoundsEverythingWaitsAndEqualTimesKeepTheirOrder) {
  for (const char* item : {"first", "second", "third"}) order.Add(5, item);
  order.Add(1, "early");
  EXPECT_TRUE(order.Finish(take));
  EXPECT_THAT(Taken(), ElementsAre("early", "first", "second", "third"));
}

TEST_F(TimeOrderTest, LateItemsStillComeOut) {
  order.Add(10, "a");
  EXPECT_TRUE(order.FinishRound(take));
  EXPECT_TRUE(order.FinishRound(take));
  EXPECT_THAT(Taken(), ElementsAre("a"));
  order.Add(3, "late");  // against the promise
  EXPECT_TRUE(order.FinishRound(take));
  EXPECT_THAT(Taken(), ElementsAre("late"));
}

TEST_F(TimeOrderTest, StopsWhereToldTo) {
  order.Add(1, "a");
  order.Add(2, "b");
  EXPECT_FALSE(order.Finish([this](const std::string& item) {
    taken.push_back(item);
    return false;
  }));
  EXPECT_THAT(Taken(), ElementsAre("a"));
}

}  // namespace
}  // namespace ksamp
