// SPDX-License-Identifier: Apache-2.0
#include "lib/process/mapping_tree.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace ksamp {

uint32_t MappingTree::NewOwner() {
  constexpr uint32_t kMaxOwner = (1u << 26) - 1;
  // Past the last number everything belongs to nobody: more copies, same answers.
  return last_owner_ < kMaxOwner ? ++last_owner_ : 0;
}

MappingTree::Root MappingTree::NewNode(uint32_t owner, const Piece& piece) {
  Node node;
  node.start = piece.start;
  node.end = piece.end;
  node.mapping = piece.mapping;
  node.owner = owner & ((1u << 26) - 1);
  node.height = 1;
  nodes_.push_back(node);
  return static_cast<Root>(nodes_.size() - 1);
}

MappingTree::Root MappingTree::Own(Root n, uint32_t owner) {
  if (owner != 0 && nodes_[n].owner == owner) return n;
  nodes_.push_back(Node(nodes_[n]));
  nodes_.back().owner = owner & ((1u << 26) - 1);
  return static_cast<Root>(nodes_.size() - 1);
}

// `n` with new children. Requires: their heights differ by at most 2 (Balance follows) .
MappingTree::Root MappingTree::Link(Root n, Root left, Root right, uint32_t owner) {
  n = Own(n, owner);
  nodes_[n].left = left;
  nodes_[n].right = right;
  nodes_[n].height = static_cast<uint32_t>(std::max(Height(left), Height(right)) + 1) & 63;
  return n;
}

MappingTree::Root MappingTree::RotateLeft(Root n, uint32_t owner) {
  const Root up = nodes_[n].right;
  const Root down = Link(n, nodes_[n].left, nodes_[up].left, owner);
  return Link(up, down, nodes_[up].right, owner);
}

MappingTree::Root MappingTree::RotateRight(Root n, uint32_t owner) {
  const Root up = nodes_[n].left;
  const Root down = Link(n, nodes_[up].right, nodes_[n].right, owner);
  return Link(up, nodes_[up].left, down, owner);
}

MappingTree::Root MappingTree::Balance(Root n, uint32_t owner) {
  const Root left = nodes_[n].left, right = nodes_[n].right;
  if (Height(right) > Height(left) + 1) {
    if (Height(nodes_[right].left) > Height(nodes_[right].right))
      n = Link(n, left, RotateRight(right, owner), owner);
    return RotateLeft(n, owner);
  }
  if (Height(left) > Height(right) + 1) {
    if (Height(nodes_[left].right) > Height(nodes_[left].left))
      n = Link(n, RotateLeft(left, owner), right, owner);
    return RotateRight(n, owner);
  }
  return n;
}

// left < middle < right in one tree. Descends the taller side to where the heights meet.
MappingTree::Root MappingTree::Join(Root left, Root middle, Root right, uint32_t owner) {
  if (Height(left) > Height(right) + 1) {
    const Root inner = Join(nodes_[left].right, middle, right, owner);
    return Balance(Link(left, nodes_[left].left, inner, owner), owner);
  }
  if (Height(right) > Height(left) + 1) {
    const Root inner = Join(left, middle, nodes_[right].left, owner);
    return Balance(Link(right, inner, nodes_[right].right, owner), owner);
  }
  return Link(middle, left, right, owner);
}

// Everything below `at`, and everything from `at` on; a piece across it is cut in two.
std::pair<MappingTree::Root, MappingTree::Root> MappingTree::Split(Root n, uint64_t at, uint32_t owner) {
  if (n == kEmpty) return {kEmpty, kEmpty};
  const Node node = nodes_[n];
  if (at <= node.start) {
    const auto [below, above] = Split(node.left, at, owner);
    return {below, Join(above, n, node.right, owner)};
  }
  if (at >= node.end) {
    const auto [below, above] = Split(node.right, at, owner);
    return {Join(node.left, n, below, owner), above};
  }
  const Root tail = NewNode(owner, {at, node.end, node.mapping});
  n = Own(n, owner);
  nodes_[n].end = at;
  const Root above = Join(kEmpty, tail, node.right, owner);
  return {Join(node.left, n, kEmpty, owner), above};
}

MappingTree::Root MappingTree::Assign(Root root, uint32_t owner, const Piece& piece) {
  const auto [below, rest] = Split(root, piece.start, owner);
  const Root above = Split(rest, piece.end, owner).second;
  return Join(below, NewNode(owner, piece), above, owner);
}

bool MappingTree::Find(Root root, uint64_t address, Piece* found) const {
  while (root != kEmpty) {
    const Node& node = nodes_[root];
    if (address < node.start) {
      root = node.left;
    } else if (address >= node.end) {
      root = node.right;
    } else {
      *found = {node.start, node.end, node.mapping};
      return true;
    }
  }
  return false;
}

bool MappingTree::Overlaps(Root root, uint64_t start, uint64_t end) const {
  while (root != kEmpty) {
    const Node& node = nodes_[root];
    if (end <= node.start) {
      root = node.left;
    } else if (start >= node.end) {
      root = node.right;
    } else {
      return true;
    }
  }
  return false;
}

std::vector<MappingTree::Piece> MappingTree::Pieces(Root root) const {
  std::vector<Piece> pieces;
  std::vector<Root> path;
  while (root != kEmpty || !path.empty()) {
    for (; root != kEmpty; root = nodes_[root].left) path.push_back(root);
    const Node& node = nodes_[path.back()];
    path.pop_back();
    pieces.push_back({node.start, node.end, node.mapping});
    root = node.right;
  }
  return pieces;
}

bool MappingTree::IsConsistent(Root root) const {
  uint64_t last_end = 0;
  for (const Piece& piece : Pieces(root)) {
    if (piece.start >= piece.end || piece.start < last_end) return false;
    last_end = piece.end;
  }
  std::vector<Root> todo = {root};
  while (!todo.empty()) {
    const Root n = todo.back();
    todo.pop_back();
    if (n == kEmpty) continue;
    const int left = Height(nodes_[n].left), right = Height(nodes_[n].right);
    if (std::abs(left - right) > 1 || Height(n) != std::max(left, right) + 1) return false;
    todo.push_back(nodes_[n].left);
    todo.push_back(nodes_[n].right);
  }
  return true;
}

}  // namespace ksamp
