// SPDX-License-Identifier: Apache-2.0
// CallTree: the stacks of a profile as a tree of functions, with what was counted in each and below it.
//
//   CallTree tree = CallTree::FromRoots(profile, functions);        // outermost function to sampled one
//   CallTree by_leaf = CallTree::FromLeaves(tree);                  // sampled function to outermost one
//   for (uint32_t child : tree.ChildrenOf(CallTree::kAll)) … tree.Get(child).total …
//
// In every node total = self + the totals of its children; the node kAll is all samples. `self` is what ends
// at the node: samples taken there, or in a tree from leaves stacks whose outermost frame it is. Frames
// without a name that follow each other in one image, for one reason, are one.
//
// CallArcs: the same stacks as who calls whom.
#ifndef KSAMP_LIB_REPORT_CALL_TREE_H_
#define KSAMP_LIB_REPORT_CALL_TREE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "ksamp/profile.h"
#include "lib/report/functions.h"

namespace ksamp {

struct CallNode {
  uint32_t parent = kNone32;    // smaller than the node's own number
  uint32_t function = kNone32;  // of kAll: none
  uint32_t depth = 0;           // of kAll: 0
  Counts self, total;
};

class CallTree {
 public:
  static constexpr uint32_t kAll = 0;

  CallTree() : nodes_(1) {}
  // Where threads' names are kept apart in the profile, they are the first level, as labels.
  static CallTree FromRoots(const Profile& profile, FunctionTable& functions);
  static CallTree FromLeaves(const CallTree& from_roots);

  // Builds by hand: adds what ends at the last of `functions`, which begin below kAll. Finish() when done.
  void Add(std::span<const uint32_t> functions, const Counts& counts);
  void Finish();

  size_t size() const { return nodes_.size(); }
  const CallNode& Get(uint32_t node) const { return nodes_[node]; }
  // In order of their functions' numbers.
  std::span<const uint32_t> ChildrenOf(uint32_t node) const {
    return std::span(children_).subspan(first_child_[node], first_child_[node + 1] - first_child_[node]);
  }
  // The functions from the node outwards: itself first, kAll's not among them.
  void PathOf(uint32_t node, std::vector<uint32_t>& path) const;

 private:
  uint32_t Child(uint32_t parent, uint32_t function);

  std::vector<CallNode> nodes_;
  absl::flat_hash_map<uint64_t, uint32_t> numbers_;  // parent << 32 | function
  std::vector<uint32_t> children_;                   // by parent
  std::vector<size_t> first_child_;                  // by node, and one past the end
};

struct CallArc {
  uint32_t caller = 0, callee = 0;  // functions
  Counts counts;
};

// Per function, what was counted in it (self) and in stacks that hold it (total); per pair of functions, the
// stacks in which one calls the other. However often a function or a call comes in a stack, by recursion, the
// stack counts once.
class CallArcs {
 public:
  CallArcs(const CallTree& from_roots, size_t functions);

  const Counts& Self(uint32_t function) const { return self_[function]; }
  const Counts& Total(uint32_t function) const { return total_[function]; }
  // By number of the other function.
  std::span<const CallArc> CallersOf(uint32_t function) const {
    return Part(by_callee_, first_caller_, function);
  }
  std::span<const CallArc> CalleesOf(uint32_t function) const {
    return Part(by_caller_, first_callee_, function);
  }

 private:
  static std::span<const CallArc> Part(const std::vector<CallArc>& arcs, const std::vector<size_t>& first,
                                       uint32_t function) {
    return std::span(arcs).subspan(first[function], first[function + 1] - first[function]);
  }

  std::vector<Counts> self_, total_;
  std::vector<CallArc> by_callee_, by_caller_;
  std::vector<size_t> first_caller_, first_callee_;
};

// The one event whose stacks these are. InvalidArgument: there are several; FailedPrecondition: the profile
// was built without stacks.
absl::StatusOr<uint32_t> EventOfStacks(const Profile& profile);

}  // namespace ksamp

#endif  // KSAMP_LIB_REPORT_CALL_TREE_H_
