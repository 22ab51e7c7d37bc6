// SPDX-License-Identifier: Apache-2.0
#include "tools/option_values.h"

#include <gtest/gtest.h>

#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::IsOkAndHolds;
using ::testing::ElementsAre;
using namespace std::chrono_literals;

TEST(OptionValuesTest, ListsOfNumbers) {
  EXPECT_THAT(ParseNumberList("4711"), IsOkAndHolds(ElementsAre(4711)));
  EXPECT_THAT(ParseNumberList("8,0-3,2"), IsOkAndHolds(ElementsAre(0, 1, 2, 3, 8)));
  for (const char* text : {"", "a", "1,", "3-1", "-1", "1-", "0-9999999", "1 2"})
    EXPECT_FALSE(ParseNumberList(text).ok()) << text;
}

TEST(OptionValuesTest, Sizes) {
  EXPECT_THAT(ParseSize("4096"), IsOkAndHolds(4096u));
  EXPECT_THAT(ParseSize("64K"), IsOkAndHolds(65'536u));
  EXPECT_THAT(ParseSize("10MB"), IsOkAndHolds(10u << 20));
  EXPECT_THAT(ParseSize("2g"), IsOkAndHolds(uint64_t{2} << 30));
  for (const char* text : {"", "K", "-1", "1.5M", "10X", "99999999999999999999", "18446744073709551615K"})
    EXPECT_FALSE(ParseSize(text).ok()) << text;
}

TEST(OptionValuesTest, Durations) {
  EXPECT_THAT(ParseDuration("10"), IsOkAndHolds(10s));
  EXPECT_THAT(ParseDuration("0.5"), IsOkAndHolds(500ms));
  EXPECT_THAT(ParseDuration("500ms"), IsOkAndHolds(500ms));
  EXPECT_THAT(ParseDuration("5m"), IsOkAndHolds(300s));
  EXPECT_THAT(ParseDuration("1h"), IsOkAndHolds(3600s));
  for (const char* text : {"", "s", "-1", "ten", "1e30", "nan"})
    EXPECT_FALSE(ParseDuration(text).ok()) << text;
}

}  // namespace
}  // namespace ksamp
