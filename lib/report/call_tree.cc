// SPDX-License-Identifier: Apache-2.0
#include "lib/report/call_tree.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

// The function above all frames of a key's stacks: the thread's name where it is kept apart, else none.
std::vector<uint32_t> LabelsOfKeys(const Profile& profile, FunctionTable& functions) {
  std::vector<uint32_t> label_of_name(profile.names.size(), kNone32), labels;
  for (const ProfileKey& key : profile.keys) {
    if (key.comm >= profile.names.size()) {
      labels.push_back(kNone32);
      continue;
    }
    uint32_t& label = label_of_name[key.comm];
    if (label == kNone32) label = functions.AddLabel(profile.names[key.comm]);
    labels.push_back(label);
  }
  return labels;
}

// Begin of each one's part in an array ordered by owner, and one past the end.
template <typename Item, typename OwnerOf>
std::vector<size_t> FirstOf(const std::vector<Item>& items, size_t owners, OwnerOf owner_of) {
  std::vector<size_t> first(owners + 1);
  for (const Item& item : items) ++first[owner_of(item) + 1];
  for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  return first;
}

}  // namespace

uint32_t CallTree::Child(uint32_t parent, uint32_t function) {
  const auto [it, added] =
      numbers_.try_emplace(uint64_t{parent} << 32 | function, static_cast<uint32_t>(nodes_.size()));
  if (added) nodes_.push_back({.parent = parent, .function = function, .depth = nodes_[parent].depth + 1});
  return it->second;
}

void CallTree::Add(std::span<const uint32_t> functions, const Counts& counts) {
  uint32_t node = kAll;
  for (const uint32_t function : functions) node = Child(node, function);
  nodes_[node].self += counts;
}

void CallTree::Finish() {
  for (CallNode& node : nodes_) node.total = node.self;
  for (size_t i = nodes_.size(); i-- > 1;) nodes_[nodes_[i].parent].total += nodes_[i].total;
  children_.clear();
  for (uint32_t i = 1; i < nodes_.size(); ++i) children_.push_back(i);
  std::sort(children_.begin(), children_.end(), [this](uint32_t a, uint32_t b) {
    return std::tie(nodes_[a].parent, nodes_[a].function) < std::tie(nodes_[b].parent, nodes_[b].function);
  });
  first_child_ = FirstOf(children_, nodes_.size(), [this](uint32_t node) { return nodes_[node].parent; });
  numbers_ = {};
}

void CallTree::PathOf(uint32_t node, std::vector<uint32_t>& path) const {
  path.clear();
  for (; node != kAll; node = nodes_[node].parent) path.push_back(nodes_[node].function);
}

CallTree CallTree::FromRoots(const Profile& profile, FunctionTable& functions) {
  CallTree tree;
  const std::vector<uint32_t> labels = LabelsOfKeys(profile, functions);
  // Stacks come by key; within those of one label a node of the profile is one of the tree.
  std::vector<uint32_t> node_of(profile.stack_nodes.size(), kNone32), added;
  std::vector<uint32_t> path;
  uint32_t label = kNone32;
  for (const StackEntry& stack : profile.stacks) {
    if (labels[stack.key] != label) {
      for (const uint32_t node : added) node_of[node] = kNone32;
      added.clear();
      label = labels[stack.key];
    }
    path.clear();
    uint32_t node = stack.node;
    for (; node != kNone32 && node_of[node] == kNone32; node = profile.stack_nodes[node].parent)
      path.push_back(node);
    uint32_t at = node != kNone32 ? node_of[node] : label != kNone32 ? tree.Child(kAll, label) : kAll;
    for (size_t i = path.size(); i-- > 0;) {
      const uint32_t function = functions.Of(profile.stack_nodes[path[i]].location);
      // Of frames without a name, several on end tell no more than one.
      const bool more_of_the_same =
          tree.nodes_[at].function == function && functions.Get(function).kind == FunctionKind::kUnnamed;
      if (!more_of_the_same) at = tree.Child(at, function);
      node_of[path[i]] = at;
      added.push_back(path[i]);
    }
    tree.nodes_[at].self += stack.counts;
  }
  tree.Finish();
  return tree;
}

CallTree CallTree::FromLeaves(const CallTree& from_roots) {
  CallTree tree;
  std::vector<uint32_t> path;
  for (uint32_t node = 1; node < from_roots.size(); ++node) {
    if (from_roots.Get(node).self.samples == 0) continue;
    from_roots.PathOf(node, path);
    tree.Add(path, from_roots.Get(node).self);
  }
  tree.Finish();
  return tree;
}

CallArcs::CallArcs(const CallTree& tree, size_t functions) : self_(functions), total_(functions) {
  struct Sum {
    CallArc arc;
    uint32_t last_stack = kNone32;
  };
  absl::flat_hash_map<uint64_t, Sum> sums;
  std::vector<uint32_t> last_stack(functions, kNone32), path;
  for (uint32_t stack = 1; stack < tree.size(); ++stack) {
    const Counts& counts = tree.Get(stack).self;
    if (counts.samples == 0) continue;
    tree.PathOf(stack, path);
    self_[path.front()] += counts;
    for (size_t i = 0; i < path.size(); ++i) {
      if (last_stack[path[i]] != stack) total_[path[i]] += counts;
      last_stack[path[i]] = stack;
      if (i == 0) continue;
      Sum& sum = sums[uint64_t{path[i]} << 32 | path[i - 1]];
      if (sum.last_stack == stack) continue;
      sum.arc.caller = path[i];
      sum.arc.callee = path[i - 1];
      sum.arc.counts += counts;
      sum.last_stack = stack;
    }
  }
  for (const auto& [pair, sum] : sums) by_callee_.push_back(sum.arc);
  std::sort(by_callee_.begin(), by_callee_.end(), [](const CallArc& a, const CallArc& b) {
    return std::tie(a.callee, a.caller) < std::tie(b.callee, b.caller);
  });
  by_caller_ = by_callee_;
  std::sort(by_caller_.begin(), by_caller_.end(), [](const CallArc& a, const CallArc& b) {
    return std::tie(a.caller, a.callee) < std::tie(b.caller, b.callee);
  });
  first_caller_ = FirstOf(by_callee_, functions, [](const CallArc& arc) { return arc.callee; });
  first_callee_ = FirstOf(by_caller_, functions, [](const CallArc& arc) { return arc.caller; });
}

absl::StatusOr<uint32_t> EventOfStacks(const Profile& profile) {
  if (profile.stacks.empty() && !profile.entries.empty())
    return absl::FailedPreconditionError("call graph: the profile was built without stacks");
  std::set<uint32_t> events;
  for (const StackEntry& stack : profile.stacks) events.insert(profile.keys[stack.key].event);
  if (events.size() <= 1) return events.empty() ? 0 : *events.begin();
  std::string names;
  for (const uint32_t event : events)
    StrAppend(&names, names.empty() ? "" : ", ", profile.events[event].name);
  return absl::InvalidArgumentError(StrCat("a call graph is of one event, and there are several (", names,
                                           "): choose one with event:NAME"));
}

}  // namespace ksamp
