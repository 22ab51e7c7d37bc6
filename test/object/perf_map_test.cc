// SPDX-License-Identifier: Apache-2.0
#include "lib/object/perf_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

using ::testing::ElementsAre;

std::string At(const PerfMap& map, uint64_t address) {
  const auto match = map.Find(address);
  return match ? std::string(match->name) : "-";
}

TEST(PerfMapTest, ALineNamesItsRange) {
  const PerfMap map = PerfMap::Parse(
      "7f0000001000 20 LazyCompile:*fib /srv/app.js:12\n"
      "0x7f0000001020 0x10 py::work\n");
  EXPECT_EQ(At(map, 0x7f0000000fff), "-");
  EXPECT_EQ(At(map, 0x7f0000001000), "LazyCompile:*fib /srv/app.js:12");
  EXPECT_EQ(At(map, 0x7f000000101f), "LazyCompile:*fib /srv/app.js:12");
  EXPECT_EQ(At(map, 0x7f0000001020), "py::work");
  EXPECT_EQ(At(map, 0x7f0000001030), "-");
  const auto match = map.Find(0x7f0000001005);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->start, 0x7f0000001000u);
  EXPECT_EQ(match->size, 0x20u);
  EXPECT_NE(match->id, map.Find(0x7f0000001020)->id);
}

TEST(PerfMapTest, DamagedLinesAreLeftOutAndCounted) {
  const std::string nul("400 10 cut\0off\n", 15);
  const struct {
    const char* what;
    std::string line, name;  // at 0x405
  } cases[] = {
      {"no name", "400 10", "-"},
      {"only blanks for a name", "400 10   \t", "-"},
      {"no size", "400 name", "-"},
      {"no number", "name", "-"},
      {"negative", "-400 10 x", "-"},
      {"a size of nothing", "400 0 x", "-"},
      {"past the last address", "400 ffffffffffffffff x", "-"},
      {"a number of 17 digits", "10000000000000400 10 x", "-"},
      {"blanks behind the name and a carriage return", "400 10 x \r", "x"},
      {"tabs between the fields", "400\t10\tx y", "x y"},
      {"a NUL ends a name", nul, "cut"},
      {"blanks before the number", " 400 10 x", "-"},
  };
  for (const auto& c : cases) {
    const PerfMap map = PerfMap::Parse(c.line);
    EXPECT_EQ(At(map, 0x405), c.name) << c.what;
    EXPECT_EQ(map.damaged_lines(), c.name == "-" ? 1u : 0u) << c.what;
    EXPECT_EQ(map.empty(), c.name == "-") << c.what;
  }
  EXPECT_TRUE(PerfMap::Parse("").empty());
  EXPECT_EQ(PerfMap::Parse("\n\n").damaged_lines(), 0u) << "an empty line is no damage";
}

TEST(PerfMapTest, MemoryThatWasUsedAgainBelongsToTheLaterLine) {
  const PerfMap map = PerfMap::Parse(
      "3000 100 elsewhere\n"
      "1000 100 first\n"
      "1040 20 second\n"
      "10f0 20 across_the_end\n"
      "3000 100 elsewhere_again\n");
  const std::vector<uint64_t> addresses = {0x103f, 0x1040, 0x105f, 0x1060, 0x10ef,
                                           0x10f0, 0x110f, 0x1110, 0x3000};
  std::vector<std::string> names;
  for (const uint64_t address : addresses) names.push_back(At(map, address));
  EXPECT_THAT(names, ElementsAre("first", "second", "second", "first", "first", "across_the_end",
                                 "across_the_end", "-", "elsewhere_again"));
  EXPECT_EQ(map.Find(0x1000)->id, map.Find(0x1060)->id) << "both ends of one line are one symbol";
  EXPECT_EQ(map.Find(0x1060)->size, 0x100u);
}

// The definition, address by address: the last line that covers it.
TEST(PerfMapTest, AnyOverlapsAreAsPaintingLineAfterLine) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    std::vector<std::string> owners(256, "-");
    const int lines = 1 + round % 24;
    for (int line = 0; line < lines; ++line) {
      const unsigned start = static_cast<unsigned>(random() % 200),
                     size = 1 + static_cast<unsigned>(random() % 50);
      const std::string name = StrCat("f", line);
      StrAppend(&text, Hex(0x1000 + start), " ", Hex(size), " ", name, "\n");
      for (unsigned at = start; at < start + size; ++at) owners[at] = name;
    }
    const PerfMap map = PerfMap::Parse(text);
    for (unsigned at = 0; at < owners.size(); ++at) ASSERT_EQ(At(map, 0x1000 + at), owners[at]) << text << at;
  }
}

TEST(PerfMapTest, ManyLinesUnderOneLargeOneAreQuick) {
  std::string text;
  constexpr uint64_t kLines = 200'000;
  for (uint64_t line = 0; line < kLines; ++line)
    StrAppend(&text, Hex(line * 16), " ", Hex(kLines * 16), " f\n");
  const PerfMap map = PerfMap::Parse(std::move(text));
  EXPECT_EQ(map.size(), kLines);
  EXPECT_EQ(map.Find((kLines - 1) * 16)->start, (kLines - 1) * 16);
  EXPECT_EQ(map.Find(17)->start, 16u);
}

}  // namespace
}  // namespace ksamp
