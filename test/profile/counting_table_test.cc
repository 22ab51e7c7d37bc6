// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/counting_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>
#include <utility>

namespace ksamp {
namespace {

void Add(CountingTable& table, uint32_t key, uint32_t image, uint64_t address, uint64_t period) {
  const uint64_t hash = table.Hash(key, image, address);
  table.Prefetch(hash);
  table.Add(hash, {key, image, address, {1, period}});
}

TEST(CountingTableTest, StartsEmpty) {
  const CountingTable table;
  EXPECT_EQ(table.size(), 0u);
  EXPECT_TRUE(table.Entries().empty());
}

TEST(CountingTableTest, EveryPartOfTheKeyCounts) {
  CountingTable table;
  Add(table, 1, 2, 3, 10);
  Add(table, 1, 2, 3, 5);
  Add(table, 2, 2, 3, 1);
  Add(table, 1, 3, 3, 1);
  Add(table, 1, 2, 4, 1);
  Add(table, 0, 0, 0, 1);
  EXPECT_EQ(table.size(), 5u);
  for (const CountedAddress& entry : table.Entries()) {
    const bool twice = entry.key == 1 && entry.image == 2 && entry.address == 3;
    EXPECT_EQ(entry.counts, twice ? (Counts{2, 15}) : (Counts{1, 1}));
  }
}

TEST(CountingTableTest, AgreesWithAMapWhileGrowing) {
  std::mt19937_64 random(7);
  CountingTable table;
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, Counts> model;
  for (int i = 0; i < 200'000; ++i) {
    const auto key = static_cast<uint32_t>(random() % 4), image = static_cast<uint32_t>(random() % 3);
    const uint64_t address = (random() % 10'000) << (random() % 3 * 12), period = random() % 100;
    Add(table, key, image, address, period);
    model[{key, image, address}] += {1, period};
  }
  ASSERT_EQ(table.size(), model.size());
  table.ForEach([&](const CountedAddress& entry) {
    EXPECT_EQ(entry.counts, (model[{entry.key, entry.image, entry.address}]));
  });
}

TEST(CountingTableTest, AnArrayIsFreeEntriesUntilTheyAreSet) {
  EXPECT_TRUE(CountedArray().entries().empty());
  EXPECT_TRUE(CountedArray(0).entries().empty());
  CountedArray array(100'000);
  ASSERT_EQ(array.entries().size(), 100'000u);
  for (const CountedAddress& entry : array.entries()) ASSERT_EQ(entry.counts, (Counts{0, 0}));
  array[99'999].counts = {3, 4};
  CountedArray moved = std::move(array);
  EXPECT_EQ(moved.entries().back().counts, (Counts{3, 4}));
}

}  // namespace
}  // namespace ksamp
