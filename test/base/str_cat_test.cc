// SPDX-License-Identifier: Apache-2.0
#include "lib/base/str_cat.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace ksamp {
namespace {

TEST(StrCat, JoinsEveryKindOfPart) {
  const std::string text = "text";
  char array[] = "array";
  EXPECT_EQ(StrCat(), "");
  EXPECT_EQ(StrCat("a ", text, ' ', std::string_view("view"), " ", array), "a text view array");
  EXPECT_EQ(StrCat(true, false), "truefalse");
  EXPECT_EQ(StrCat(INT64_MIN, " ", UINT64_MAX, " ", -1, " ", uint8_t{65}, " ", int16_t{-7}),
            "-9223372036854775808 18446744073709551615 -1 65 -7");
  EXPECT_EQ(StrCat(1.5, " ", 0.1, " ", -1e300), "1.5 0.1 -1e+300");
  EXPECT_EQ(StrCat(Hex(0), " ", Hex(UINT64_MAX)), "0x0 0xffffffffffffffff");
}

TEST(StrAppend, Appends) {
  std::string out = "a";
  StrAppend(&out, 1, "b");
  StrAppend(&out);
  EXPECT_EQ(out, "a1b");
}

TEST(MessageOf, IsTheMessageAlone) {
  EXPECT_EQ(MessageOf(absl::NotFoundError("open x: gone")), "open x: gone");
  EXPECT_EQ(MessageOf(absl::OkStatus()), "");
}

}  // namespace
}  // namespace ksamp
