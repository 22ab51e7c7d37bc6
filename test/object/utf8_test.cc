// SPDX-License-Identifier: Apache-2.0
#include "lib/object/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace ksamp {
namespace {

TEST(Utf8Test, CodePointsOfEveryLength) {
  const struct {
    uint32_t code_point;
    const char* bytes;
  } cases[] = {{'a', "a"}, {0xf6, "\xc3\xb6"}, {0x2202, "\xe2\x88\x82"}, {0x1f600, "\xf0\x9f\x98\x80"}};
  for (const auto& c : cases) {
    std::string text;
    AppendUtf8(&text, c.code_point);
    EXPECT_EQ(text, c.bytes) << std::hex << c.code_point;
  }
}

TEST(Utf8Test, Punycode) {
  EXPECT_EQ(DecodePunycode("gdel_5qa"),
            "g\xc3\xb6"
            "del");
  EXPECT_EQ(DecodePunycode("mnchen_3ya"),
            "m\xc3\xbc"
            "nchen");
  EXPECT_EQ(DecodePunycode("ihqwcrb4cv8a8dqg056pqjye"),
            "\xe4\xbb\x96\xe4\xbb\xac\xe4\xb8\xba\xe4\xbb\x80\xe4\xb9\x88\xe4\xb8\x8d\xe8\xaf\xb4\xe4\xb8\xad"
            "\xe6\x96\x87");
  EXPECT_EQ(DecodePunycode("x_!"), std::nullopt);
  EXPECT_EQ(DecodePunycode("99999999999"), std::nullopt);
}

}  // namespace
}  // namespace ksamp
