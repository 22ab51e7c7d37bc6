// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/key_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ksamp {
namespace {

using ::testing::ElementsAre;

class KeyNumbersTest : public ::testing::Test {
 protected:
  KeyNumbersTest() : table_(ProcessTable::Builder().Build()) {
    options_.separate.comm = true;
    plan_.table = &table_;
    plan_.options = &options_;
    plan_.events.resize(1);
  }
  KeyNumbers::Pair Of(KeyNumbers& numbers, uint32_t pid) { return numbers.Of(0, pid, pid, 0, {}, {}); }

  ProcessTable table_;
  ProfileOptions options_;
  CountingPlan plan_;
};

TEST_F(KeyNumbersTest, EachKeyHasOneNumber) {
  KeyNumbers numbers(plan_);
  const KeyNumbers::Pair first = Of(numbers, 1), second = Of(numbers, 2), again = Of(numbers, 1);
  EXPECT_EQ(first.user, again.user);
  EXPECT_EQ(first.kernel, again.kernel);
  EXPECT_NE(first.user, second.user);
  EXPECT_EQ(numbers.keys().size(), 4u);
  EXPECT_EQ(numbers.Name(numbers.keys()[second.user].comm), ":2");
  EXPECT_EQ(numbers.keys()[first.kernel].app, kNone32);
}

TEST_F(KeyNumbersTest, OnlyTheIdleTaskOfATimerMayBeIdle) {
  KeyNumbers numbers(plan_);
  EXPECT_FALSE(numbers.keys()[Of(numbers, 0).kernel].idle_task);
  plan_.events[0].clock = true;
  EXPECT_TRUE(numbers.keys()[Of(numbers, 0).kernel].idle_task);
  EXPECT_FALSE(numbers.keys()[Of(numbers, 1).kernel].idle_task);
}

TEST_F(KeyNumbersTest, MergedKeysDoNotDependOnWhoMetThemFirst) {
  KeyNumbers a(plan_), b(plan_);
  const KeyNumbers::Pair a2 = Of(a, 2), a1 = Of(a, 1), b1 = Of(b, 1);
  Of(b, 3);
  std::vector<bool> used_a(4), used_b(4);
  used_a[a1.user] = used_a[a2.user] = used_b[b1.user] = true;
  Profile profile;
  const auto numbers = MergeKeys({{&a, used_a}, {&b, used_b}}, profile);
  EXPECT_THAT(profile.names, ElementsAre(":1", ":2", "[unknown]"));
  ASSERT_EQ(profile.keys.size(), 2u);
  EXPECT_EQ(numbers[0][a1.user], 0u);
  EXPECT_EQ(numbers[1][b1.user], 0u);
  EXPECT_EQ(numbers[0][a2.user], 1u);
  EXPECT_EQ(numbers[1][b1.kernel], kNone32);
}

}  // namespace
}  // namespace ksamp
