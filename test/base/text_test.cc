// SPDX-License-Identifier: Apache-2.0
#include "lib/base/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ksamp {
namespace {

TEST(Text, NothingReachesATerminalThatCommandsIt) {
  const struct {
    std::string_view text, escaped;
  } cases[] = {
      {"bash", "bash"},
      {"naïve €𝄞", "naïve €𝄞"},
      {"\x1b[2J", "\\x1b[2J"},
      {"a\nb\tc\x7f", "a\\x0ab\\x09c\\x7f"},
      {"\xff\xc3", "\\xff\\xc3"},                    // no UTF-8; cut off
      {"\xc2\x9b", "\\xc2\\x9b"},                    // CSI as a C1 control character
      {"\xc0\xaf", "\\xc0\\xaf"},                    // overlong '/'
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // a surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond Unicode
  };
  for (const auto& c : cases) EXPECT_EQ(EscapeForTerminal(c.text), c.escaped);
  EXPECT_EQ(EscapeForTerminal(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Text, XmlAndCsv) {
  EXPECT_EQ(EscapeForXml("<a href=\"x\">&'\x01"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\\x01");
  EXPECT_EQ(EscapeForCsv("plain"), "plain");
  EXPECT_EQ(EscapeForCsv("f(int, \"x\")"), "\"f(int, \"\"x\"\")\"");
  EXPECT_EQ(EscapeForCsv("a\nb"), "\"a\nb\"");
}

TEST(Text, SuggestsTheNearestWordButNotAnyWord) {
  const std::vector<std::string> words = {"cycles", "instructions", "cache-misses"};
  EXPECT_EQ(NearestWord("cycels", words), "cycles");
  EXPECT_EQ(NearestWord("cachemisses", words), "cache-misses");
  EXPECT_EQ(NearestWord("brunch", words), std::nullopt);
  EXPECT_EQ(NearestWord("", words), std::nullopt);
}

TEST(Text, Globs) {
  const struct {
    std::string_view pattern, text;
    bool matches;
  } cases[] = {
      {"*", "", true},
      {"a*c", "abbc", true},
      {"a*c", "abcd", false},
      {"a?c", "abc", true},
      {"a?c", "ac", false},
      {"[a-c]x", "bx", true},
      {"[!a-c]x", "bx", false},
      {"[!a-c]x", "dx", true},
      {"[ab", "[ab", true},
      {"[]]", "]", true},
      {"*/lib*.so*", "/usr/lib/libc.so.6", true},
      {"", "", true},
      {"", "a", false},
      {"a**b", "ab", true},
      {"*a*b*c", "xaxbxbc", true},
      {"a[b-]c", "a-c", true},
  };
  for (const auto& c : cases)
    EXPECT_EQ(MatchesGlob(c.pattern, c.text), c.matches) << c.pattern << " " << c.text;
}

TEST(Text, NumbersForPeople) {
  EXPECT_EQ(GroupDigits(0), "0");
  EXPECT_EQ(GroupDigits(999), "999");
  EXPECT_EQ(GroupDigits(79864), "79 864");
  EXPECT_EQ(GroupDigits(1234567), "1 234 567");
  EXPECT_EQ(HumanBytes(999), "999 bytes");
  EXPECT_EQ(HumanBytes(1900000), "1.9 MB");
  EXPECT_EQ(HumanBytes(999960), "1.0 MB");
  EXPECT_EQ(HumanBytes(56'100'000'000), "56.1 GB");
}

}  // namespace
}  // namespace ksamp
