// SPDX-License-Identifier: Apache-2.0
#include "lib/process/mapping_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

namespace ksamp {
namespace {

using Piece = MappingTree::Piece;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(MappingTreeTest, EmptyTreeHasNothing) {
  const MappingTree tree;
  Piece piece;
  EXPECT_FALSE(tree.Find(MappingTree::kEmpty, 0, &piece));
  EXPECT_FALSE(tree.Overlaps(MappingTree::kEmpty, 0, ~uint64_t{0}));
  EXPECT_THAT(tree.Pieces(MappingTree::kEmpty), IsEmpty());
}

TEST(MappingTreeTest, LaterPieceCutsEarlierOnes) {
  MappingTree tree;
  const uint32_t owner = tree.NewOwner();
  MappingTree::Root root = tree.Assign(MappingTree::kEmpty, owner, {10, 50, 1});
  root = tree.Assign(root, owner, {20, 30, 2});
  EXPECT_THAT(tree.Pieces(root), ElementsAre(Piece{10, 20, 1}, Piece{20, 30, 2}, Piece{30, 50, 1}));
  root = tree.Assign(root, owner, {15, 35, 3});
  EXPECT_THAT(tree.Pieces(root), ElementsAre(Piece{10, 15, 1}, Piece{15, 35, 3}, Piece{35, 50, 1}));
  root = tree.Assign(root, owner, {0, 100, 4});
  EXPECT_THAT(tree.Pieces(root), ElementsAre(Piece{0, 100, 4}));
}

TEST(MappingTreeTest, EndIsExclusive) {
  MappingTree tree;
  const MappingTree::Root root = tree.Assign(MappingTree::kEmpty, tree.NewOwner(), {10, 20, 1});
  Piece piece;
  EXPECT_FALSE(tree.Find(root, 9, &piece));
  EXPECT_TRUE(tree.Find(root, 10, &piece));
  EXPECT_TRUE(tree.Find(root, 19, &piece));
  EXPECT_FALSE(tree.Find(root, 20, &piece));
  EXPECT_FALSE(tree.Overlaps(root, 0, 10));
  EXPECT_TRUE(tree.Overlaps(root, 19, 30));
  EXPECT_FALSE(tree.Overlaps(root, 20, 30));
}

// Against an array with one number per address, several roots alive at once.
TEST(MappingTreeTest, AgreesWithAnArrayInEveryVersion) {
  constexpr uint64_t kAddresses = 300;
  using Model = std::array<uint32_t, kAddresses>;
  std::mt19937 random(20240611);
  MappingTree tree;
  struct Version {
    MappingTree::Root root = MappingTree::kEmpty;
    Model model = {};
  };
  std::vector<Version> versions(1);
  uint32_t owner = tree.NewOwner();
  size_t current = 0;
  for (uint32_t step = 1; step <= 3000; ++step) {
    const uint64_t start = random() % kAddresses;
    const uint64_t end = start + 1 + random() % std::min<uint64_t>(kAddresses - start, 40);
    if (random() % 4 == 0) {  // keep this version, go on from any other
      owner = tree.NewOwner();
      versions.push_back(versions[random() % versions.size()]);
      current = versions.size() - 1;
    }
    Version& version = versions[current];
    version.root = tree.Assign(version.root, owner, {start, end, step});
    for (uint64_t a = start; a < end; ++a) version.model[a] = step;
    ASSERT_TRUE(tree.IsConsistent(version.root)) << "step " << step;
  }
  for (const Version& version : versions) {
    ASSERT_TRUE(tree.IsConsistent(version.root));
    for (uint64_t a = 0; a < kAddresses; ++a) {
      Piece piece;
      const uint32_t found = tree.Find(version.root, a, &piece) ? piece.mapping : 0;
      ASSERT_EQ(found, version.model[a]) << "address " << a;
      if (found != 0) {
        ASSERT_LE(piece.start, a);
        ASSERT_LT(a, piece.end);
      }
    }
  }
}

// What would cost n² in lists of ranges: many ranges, each replaced as a whole again and again.
TEST(MappingTreeTest, ReplacingEverythingManyTimesStaysSmall) {
  MappingTree tree;
  MappingTree::Root root = MappingTree::kEmpty;
  constexpr uint32_t kCount = 20'000;
  for (uint32_t i = 0; i < kCount; ++i) root = tree.Assign(root, tree.NewOwner(), {i * 4u, i * 4u + 2u, i});
  EXPECT_TRUE(tree.IsConsistent(root));
  EXPECT_EQ(tree.Pieces(root).size(), kCount);
  for (uint32_t i = 0; i < kCount; ++i)
    root = tree.Assign(root, tree.NewOwner(), {(i % 7) * 4u, kCount * 4u, i});
  EXPECT_TRUE(tree.IsConsistent(root));
  EXPECT_LT(tree.node_count(), size_t{kCount} * 2 * 50);
}

}  // namespace
}  // namespace ksamp
