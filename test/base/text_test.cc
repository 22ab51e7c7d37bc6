// SPDX-License-Identifier: Apache-2.0
#include "lib/base/text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ksamp {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

TEST(EscapeForTerminal, KeepsTextAndDisarmsTheRest) {
  const Pair cases[] = {
      {"plain ~text\\x41", "plain ~text\\x41"},
      {"\x1b[31mred\n\t\x7f", "\\x1b[31mred\\x0a\\x09\\x7f"},
      {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82"},
      {"\xc2\x9b[31m", "\\xc2\\x9b[31m"},           // CSI as one C1 character
      {"\xe2\x80\xae.exe", "\\xe2\\x80\\xae.exe"},  // turns the writing direction
      {"\xe2\x80\xa8", "\\xe2\\x80\\xa8"},          // line separator
      {"\xef\xbf\xbf", "\\xef\\xbf\\xbf"},          // no character, and none in XML
      {"\xff\xfe", "\\xff\\xfe"},
      {"\xc0\xaf", "\\xc0\\xaf"},                    // overlong
      {"\xe0\x80\x80", "\\xe0\\x80\\x80"},           // overlong
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond Unicode
      {"\xe2\x82", "\\xe2\\x82"},                    // cut off
      {"\xe2(\xa1", "\\xe2(\\xa1"},
      {std::string_view("a\0b", 3), "a\\x00b"},
  };
  for (const auto& [in, out] : cases) EXPECT_EQ(EscapeForTerminal(in), out);
}

// Whatever comes in, nothing that controls a terminal comes out; and what came out stays as it is.
TEST(EscapeForTerminal, IsStableForEveryPairOfBytes) {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      const char bytes[] = {static_cast<char>(a), static_cast<char>(b)};
      const std::string once = EscapeForTerminal({bytes, 2});
      EXPECT_EQ(EscapeForTerminal(once), once);
      for (char c : once) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    }
  }
}

TEST(EscapeForXml, AddsEntities) {
  EXPECT_EQ(EscapeForXml("std::map<int, char> & \"x\" 'y'\x01"),
            "std::map&lt;int, char&gt; &amp; &quot;x&quot; &#39;y&#39;\\x01");
}

TEST(EscapeForCsv, QuotesOnlyWhereNeeded) {
  const Pair cases[] = {{"", ""},
                        {"plain", "plain"},
                        {"a,b", "\"a,b\""},
                        {"say \"hi\"", "\"say \"\"hi\"\"\""},
                        {"a\nb", "\"a\nb\""},
                        {"a\rb", "\"a\rb\""},
                        {"=1+1", "=1+1"}};
  for (const auto& [in, out] : cases) EXPECT_EQ(EscapeForCsv(in), out);
}

TEST(NearestWord, FindsTypingMistakes) {
  const std::vector<std::string> words = {"cycles", "instructions", "cache-misses", "cpu-clock"};
  EXPECT_EQ(NearestWord("cycels", words), "cycles");
  EXPECT_EQ(NearestWord("cycle", words), "cycles");
  EXPECT_EQ(NearestWord("instrctions", words), "instructions");
  EXPECT_EQ(NearestWord("cache-miss", words), "cache-misses");
  EXPECT_EQ(NearestWord("cycles", words), "cycles");
  EXPECT_EQ(NearestWord("page-faults", words), std::nullopt);
  EXPECT_EQ(NearestWord("zz", words), std::nullopt);
  EXPECT_EQ(NearestWord("", {}), std::nullopt);
}

TEST(MatchesGlob, MatchesLikeAShell) {
  struct Case {
    std::string_view pattern, text;
    bool matches;
  };
  const Case cases[] = {
      {"", "", true},
      {"", "a", false},
      {"*", "", true},
      {"*", "a/b", true},
      {"a*c", "abbc", true},
      {"a*c", "abcb", false},
      {"a*b*c", "aXbYbZc", true},
      {"?", "", false},
      {"a?c", "abc", true},
      {"[a-c]x", "bx", true},
      {"[a-c]x", "dx", false},
      {"[!a-c]x", "dx", true},
      {"[^a-c]x", "bx", false},
      {"[]a]", "]", true},
      {"[a-]", "-", true},
      {"[", "[", true},
      {"a[", "a[", true},
      {"[a", "[a", true},
      {"[a", "a", false},
      {"operator[]", "operator[]", true},
      {"**", "x", true},
      {"*.so*", "libc.so.6", true},
      {"*.so", "libc.so.6", false},
      {"a*", "b", false},
      {"[\x80-\xff]", "\xc3", true},
      {"[a-\xff]", "\xc3", true},
      {"[\x80-\xff]", "a", false},
  };
  for (const Case& c : cases)
    EXPECT_EQ(MatchesGlob(c.pattern, c.text), c.matches) << c.pattern << " " << c.text;
}

TEST(MatchesGlob, ManyStarsStayCheap) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(MatchesGlob(pattern + "b", std::string(5000, 'a')));
}

TEST(GroupDigits, GroupsByThree) {
  const std::pair<uint64_t, std::string_view> cases[] = {
      {0, "0"},          {999, "999"},           {1000, "1 000"},
      {79864, "79 864"}, {1234567, "1 234 567"}, {UINT64_MAX, "18 446 744 073 709 551 615"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(GroupDigits(value), text);
}

TEST(HumanBytes, DecimalUnitsWithOneDecimal) {
  const std::pair<uint64_t, std::string_view> cases[] = {
      {0, "0 bytes"},       {999, "999 bytes"}, {1000, "1.0 KB"},         {1949, "1.9 KB"},
      {999949, "999.9 KB"}, {999950, "1.0 MB"}, {56100000000, "56.1 GB"}, {UINT64_MAX, "18446744.1 TB"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(HumanBytes(value), text) << value;
}

}  // namespace
}  // namespace ksamp
