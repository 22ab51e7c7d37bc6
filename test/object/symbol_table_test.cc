// SPDX-License-Identifier: Apache-2.0
#include "lib/object/symbol_table.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace ksamp {
namespace {

struct Given {
  std::string name;
  uint64_t start, size = 0;
  uint8_t traits = kSymbolGlobal;
  uint64_t limit = 0x10000;
};

SymbolTable Build(const std::vector<Given>& symbols, std::span<const uint64_t> wanted = {}) {
  SymbolTableBuilder builder(wanted);
  std::string names(1, '\0');
  std::vector<uint32_t> offsets;
  for (const Given& given : symbols) {
    offsets.push_back(static_cast<uint32_t>(names.size()));
    names.append(given.name).push_back('\0');
  }
  const uint16_t table = builder.AddOwnedNames(names);
  for (size_t i = 0; i < symbols.size(); ++i) {
    builder.Add({.start = symbols[i].start,
                 .size = symbols[i].size,
                 .limit = symbols[i].limit,
                 .names = table,
                 .name_offset = offsets[i],
                 .traits = symbols[i].traits});
  }
  return std::move(builder).Build();
}

std::string At(const SymbolTable& table, uint64_t address) {
  const auto match = table.Find(address);
  return match ? std::string(match->name) : "-";
}

TEST(SymbolTableTest, SizedSymbolsOwnExactlyTheirBytes) {
  const SymbolTable table = Build({{"b", 0x200, 0x10}, {"a", 0x100, 0x20}});
  EXPECT_EQ(At(table, 0xff), "-");
  EXPECT_EQ(At(table, 0x100), "a");
  EXPECT_EQ(At(table, 0x11f), "a");
  EXPECT_EQ(At(table, 0x120), "-");
  EXPECT_EQ(At(table, 0x20f), "b");
  EXPECT_EQ(At(table, 0x210), "-");
  EXPECT_EQ(table.Find(0x105)->start, 0x100u);
  EXPECT_EQ(table.Find(0x105)->size, 0x20u);
}

TEST(SymbolTableTest, UnsizedSymbolsReachToTheNextOrTheirSectionsEnd) {
  const SymbolTable table =
      Build({{"label", 0x100}, {"next", 0x140, 8}, {"last", 0x200, 0, kSymbolGlobal, 0x280}});
  EXPECT_EQ(At(table, 0x13f), "label");
  EXPECT_EQ(table.Find(0x13f)->size, 0x40u);
  EXPECT_EQ(At(table, 0x148), "-");
  EXPECT_EQ(At(table, 0x27f), "last");
  EXPECT_EQ(At(table, 0x280), "-");
}

TEST(SymbolTableTest, InnermostOfNestedSymbolsWins) {
  const SymbolTable table = Build({{"outer", 0x100, 0x100}, {"inner", 0x120, 0x10}, {"label", 0x150}});
  EXPECT_EQ(At(table, 0x11f), "outer");
  EXPECT_EQ(At(table, 0x12f), "inner");
  EXPECT_EQ(At(table, 0x130), "outer");
  EXPECT_EQ(At(table, 0x150), "outer") << "a label without a size yields";
  EXPECT_EQ(At(table, 0x200), "-") << "and does not come back behind its function";
}

TEST(SymbolTableTest, BestOfSeveralNamesAtOneAddress) {
  const struct {
    const char* why;
    Given better, worse;
  } cases[] = {
      {"a size", {"zz", 0x100, 8, 0}, {"a", 0x100, 0}},
      {"Letext", {"_zz", 0x100, 8}, {"Letext", 0x100, 8}},
      {"??", {"_zz", 0x100, 8}, {"??a", 0x100, 8}},
      {"hidden", {"_zz", 0x100, 8}, {"a", 0x100, 8, kSymbolHidden | kSymbolGlobal}},
      {"underscore", {"zz", 0x100, 8, kSymbolWeak}, {"_a", 0x100, 8}},
      {"weak", {"zz", 0x100, 8, 0}, {"a", 0x100, 8, kSymbolWeak}},
      {"global", {"zz", 0x100, 8}, {"a", 0x100, 8, 0}},
      {"fewer underscores", {"_zz", 0x100, 8}, {"__longer", 0x100, 8}},
      {"longer", {"longer", 0x100, 8}, {"short", 0x100, 8}},
      {"alphabet", {"aa", 0x100, 8}, {"bb", 0x100, 8}},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(At(Build({c.better, c.worse}), 0x104), c.better.name) << c.why;
    EXPECT_EQ(At(Build({c.worse, c.better}), 0x104), c.better.name) << c.why;
  }
}

TEST(SymbolTableTest, WorseNamesShowWhereTheBestHasEnded) {
  const SymbolTable table = Build({{"best", 0x100, 0x10}, {"_longer", 0x100, 0x40}, {"__unsized", 0x100}});
  EXPECT_EQ(At(table, 0x10f), "best");
  EXPECT_EQ(At(table, 0x110), "_longer");
  EXPECT_EQ(At(table, 0x140), "-");
}

TEST(SymbolTableTest, SizesBeyondTheSectionAreCut) {
  const SymbolTable table =
      Build({{"huge", 0x100, ~uint64_t{0}, 0, 0x180}, {"wraps", 0x9000, ~uint64_t{0}, 0, 0}});
  EXPECT_EQ(At(table, 0x17f), "huge");
  EXPECT_EQ(At(table, 0x180), "-");
  EXPECT_EQ(At(table, ~uint64_t{0} - 1), "wraps");
}

TEST(SymbolTableTest, DeepNestingEndsInsteadOfHanging) {
  std::vector<Given> symbols;
  for (uint64_t i = 0; i < 20'000; ++i) symbols.push_back({"f" + std::to_string(i), i, 40'000 - 2 * i});
  const SymbolTable table = Build(symbols);
  EXPECT_EQ(At(table, 20'001), "f19998");
  EXPECT_EQ(At(table, 39'999), "-") << "19 999 of them have ended here: given up";
}

// What is asked for decides what is kept, never what is answered.
TEST(SymbolTableTest, BuildingForSomeAddressesAnswersAsBuildingForAll) {
  std::mt19937 random(20240601);
  const auto below = [&](uint32_t n) { return static_cast<uint64_t>(random() % n); };
  for (int round = 0; round < 500; ++round) {
    std::vector<Given> symbols;
    const uint64_t count = 1 + below(30);
    for (uint64_t i = 0; i < count; ++i) {
      symbols.push_back({std::string(1 + below(3), '_') + "s" + std::to_string(i), below(100),
                         below(3) == 0 ? 0 : below(40), static_cast<uint8_t>(below(8)), 60 + below(60)});
    }
    std::vector<uint64_t> wanted;
    for (uint64_t address = 0; address < 130; ++address) {
      if (below(8) == 0) wanted.push_back(address);
    }
    if (wanted.empty()) continue;
    const SymbolTable all = Build(symbols), some = Build(symbols, wanted);
    for (uint64_t address : wanted) {
      ASSERT_EQ(At(some, address), At(all, address)) << "round " << round << " address " << address;
      const auto a = all.Find(address), b = some.Find(address);
      if (a) {
        ASSERT_EQ(std::tuple(a->start, a->size), std::tuple(b->start, b->size)) << round << " " << address;
      }
    }
  }
}

}  // namespace
}  // namespace ksamp
