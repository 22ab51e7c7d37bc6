// SPDX-License-Identifier: Apache-2.0
// MappingTree: address ranges -> mapping numbers, with every older version kept for the price of one path.
//
// A process maps, forks and maps again; a report asks what was mapped at any moment in between. So an address
// space is an immutable balanced tree: assigning a range makes a new root that shares all untouched nodes
// with the old one. A fork is a copied number. However often ranges replace each other, n assignments cost
// O(n log n) nodes: input that was made to be expensive is not.
//
//   MappingTree tree;
//   const uint32_t owner = tree.NewOwner();
//   MappingTree::Root root = tree.Assign(MappingTree::kEmpty, owner, {0x1000, 0x2000, 7});
//   tree.Find(root, 0x1800)->mapping;   // 7
//
// Nodes made under one owner are changed in place by later assignments under the same owner; under another
// owner they are copied first. Who wants to keep a root takes a new owner before assigning on.
//
// The balance is AVL's, kept by join and split alone. One thread assigns; const calls from any.
#ifndef KSAMP_LIB_PROCESS_MAPPING_TREE_H_
#define KSAMP_LIB_PROCESS_MAPPING_TREE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ksamp {

class MappingTree {
 public:
  using Root = uint32_t;
  static constexpr Root kEmpty = 0;

  struct Piece {
    uint64_t start = 0, end = 0;  // [start, end)
    uint32_t mapping = 0;
    friend bool operator==(const Piece&, const Piece&) = default;
  };

  MappingTree() : nodes_(1) {}

  // A number no node belongs to yet.
  uint32_t NewOwner();

  // The tree in which [start, end) is `piece` and the rest as in `root`: what was there is cut or goes.
  // Requires: piece.start < piece.end. Another owner's roots stay as they are.
  [[nodiscard]] Root Assign(Root root, uint32_t owner, const Piece& piece);

  // The piece that covers `address`; nothing: none does. (A copy: nodes move while others are added.)
  bool Find(Root root, uint64_t address, Piece* found) const;
  // Whether any piece has an address in [start, end).
  bool Overlaps(Root root, uint64_t start, uint64_t end) const;
  // All pieces in order, for tests and printing.
  std::vector<Piece> Pieces(Root root) const;
  // Whether order, disjointness and balance hold: the invariant, for tests.
  bool IsConsistent(Root root) const;

  size_t node_count() const { return nodes_.size(); }

 private:
  struct Node {
    uint64_t start = 0, end = 0;
    uint32_t mapping = 0;
    uint32_t left = kEmpty, right = kEmpty;
    uint32_t owner : 26 = 0;  // 0: nobody's, always copied
    uint32_t height : 6 = 0;
  };
  static_assert(sizeof(Node) == 32);

  int Height(Root n) const { return static_cast<int>(nodes_[n].height); }
  Root NewNode(uint32_t owner, const Piece& piece);
  Root Own(Root n, uint32_t owner);
  Root Link(Root n, Root left, Root right, uint32_t owner);
  Root RotateLeft(Root n, uint32_t owner);
  Root RotateRight(Root n, uint32_t owner);
  Root Balance(Root n, uint32_t owner);
  Root Join(Root left, Root middle, Root right, uint32_t owner);
  std::pair<Root, Root> Split(Root n, uint64_t at, uint32_t owner);

  std::vector<Node> nodes_;  // [0] is the empty tree
  uint32_t last_owner_ = 0;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_PROCESS_MAPPING_TREE_H_
