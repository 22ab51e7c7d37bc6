// SPDX-License-Identifier: Apache-2.0
#include "lib/base/str_cat.h"

#include <gtest/gtest.h>

#include <limits>

namespace ksamp {
namespace {

TEST(StrCat, JoinsEveryKindOfPart) {
  EXPECT_EQ(
      StrCat("record at ", Hex(0x1f), ", size ", 3, ' ', std::string("s"), std::string_view("v"), true, 1.5),
      "record at 0x1f, size 3 svtrue1.5");
  EXPECT_EQ(StrCat(std::numeric_limits<int64_t>::min(), Hex(~uint64_t{0})),
            "-92233720368547758080xffffffffffffffff");
  EXPECT_EQ(StrCat(), "");
}

TEST(StrCat, Appends) {
  std::string text = "a";
  StrAppend(&text, 1, "b");
  EXPECT_EQ(text, "a1b");
}

TEST(StrCat, MessageOfAStatus) {
  EXPECT_EQ(MessageOf(absl::DataLossError("damaged")), "damaged");
  EXPECT_EQ(MessageOf(absl::OkStatus()), "");
}

}  // namespace
}  // namespace ksamp
