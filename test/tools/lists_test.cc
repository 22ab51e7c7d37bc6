// SPDX-License-Identifier: Apache-2.0
#include "tools/lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using testing::IsOkAndHolds;
using testing::StatusIs;
using Numbers = std::vector<uint32_t>;
using Words = std::vector<std::string>;

TEST(Lists, CommasSeparateUnlessEscaped) {
  EXPECT_EQ(SplitCommas(Words{"a,b", "c\\,d,,e", ""}), (Words{"a", "b", "c,d", "e"}));
}

TEST(Lists, NumbersAndRanges) {
  EXPECT_THAT(ParseNumbers(Words{"0-3,5", "9"}, "--cpu"), IsOkAndHolds(Numbers{0, 1, 2, 3, 5, 9}));
  EXPECT_THAT(ParseNumbers(Words{"4294967294-4294967295"}, "--cpu"),
              IsOkAndHolds(Numbers{4294967294, 4294967295}));
  for (const char* wrong : {"x", "3-1", "1-", "-1", "4294967296", "1-2-3", "0-4294967295", "1 "})
    EXPECT_THAT(ParseNumbers(Words{wrong}, "--cpu"),
                StatusIs(absl::StatusCode::kInvalidArgument, ::testing::StartsWith("--cpu: ")))
        << wrong;
}

TEST(Lists, TimesHaveUnits) {
  EXPECT_THAT(ParseNanoseconds("1.5"), IsOkAndHolds(1500000000u));
  EXPECT_THAT(ParseNanoseconds("20ms"), IsOkAndHolds(20000000u));
  EXPECT_THAT(ParseNanoseconds("7us"), IsOkAndHolds(7000u));
  EXPECT_THAT(ParseNanoseconds("3ns"), IsOkAndHolds(3u));
  for (const char* wrong : {"", "x", "-1", "1h", "1e300", "nan", "inf"})
    EXPECT_THAT(ParseNanoseconds(wrong), StatusIs(absl::StatusCode::kInvalidArgument, ::testing::_)) << wrong;
}

}  // namespace
}  // namespace ksamp
