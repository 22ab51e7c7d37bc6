// SPDX-License-Identifier: Apache-2.0
// StackTree: unique stacks as a tree of (caller, image, address), built frame by frame from the outermost
// one.
//
//   StackTree tree;
//   uint32_t node = StackTree::kNoParent;
//   for (const PlacedFrame& frame : frames | std::views::reverse)
//     node = tree.Child(node, frame.image, frame.address);
//   counts[node] += …                                         // the node of the leaf stands for the stack
//
// A node is 16 bytes and stacks share their callers, so memory grows with what is different between stacks,
// not with samples. Parents have smaller numbers than their children. One thread.
#ifndef KSAMP_LIB_PROFILE_STACK_TREE_H_
#define KSAMP_LIB_PROFILE_STACK_TREE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ksamp/profile.h"

namespace ksamp {

class StackTree {
 public:
  static constexpr uint32_t kNoParent = kNone32;

  struct Node {
    uint32_t parent = kNoParent, image = 0;
    uint64_t address = 0;
    friend bool operator==(const Node&, const Node&) = default;
    template <typename H>
    friend H AbslHashValue(H hash, const Node& node) {
      return H::combine(std::move(hash), node.parent, node.image, node.address);
    }
  };

  uint32_t Child(uint32_t parent, uint32_t image, uint64_t address) {
    const Node node{.parent = parent, .image = image, .address = address};
    const auto [it, added] = numbers_.try_emplace(node, static_cast<uint32_t>(nodes_.size()));
    if (added) nodes_.push_back(node);
    return it->second;
  }

  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  std::vector<Node> nodes_;
  absl::flat_hash_map<Node, uint32_t> numbers_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_PROFILE_STACK_TREE_H_
