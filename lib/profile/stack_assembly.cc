// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/stack_assembly.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "lib/profile/key_numbers.h"
#include "lib/profile/place_cache.h"
#include "lib/profile/profile_assembly.h"

namespace ksamp {
namespace {

using Counters = std::vector<std::unique_ptr<StackCounter>>;

// Orders what has (key, FIELD) by both and sums up what is one.
template <typename Entry>
void SortAndSum(uint32_t Entry::*field, std::vector<Entry>& entries) {
  std::sort(entries.begin(), entries.end(), [field](const Entry& a, const Entry& b) {
    return std::tie(a.key, a.*field) < std::tie(b.key, b.*field);
  });
  size_t written = 0;
  for (const Entry& entry : entries) {
    if (written != 0 && entries[written - 1].key == entry.key &&
        entries[written - 1].*field == entry.*field) {
      entries[written - 1].counts += entry.counts;
    } else {
      entries[written++] = entry;
    }
  }
  entries.resize(written);
}

std::vector<CountedKeys> UsedKeys(const Counters& counters) {
  std::vector<CountedKeys> used;
  for (const auto& counter : counters) {
    const KeyNumbers& numbers = counter->attributor().key_numbers();
    CountedKeys& one = used.emplace_back(CountedKeys{&numbers, std::vector<bool>(numbers.keys().size())});
    for (const auto& [stack, counts] : counter->counts()) one.used[stack.first] = true;
  }
  return used;
}

// All counters' trees in one; per counter, its nodes -> those of the one.
StackTree MergeTrees(const Counters& counters, std::vector<std::vector<uint32_t>>& merged_nodes) {
  StackTree merged;
  for (const auto& counter : counters) {
    std::vector<uint32_t>& numbers = merged_nodes.emplace_back();
    numbers.reserve(counter->tree().nodes().size());
    for (const StackTree::Node& node : counter->tree().nodes()) {
      const uint32_t parent = node.parent == StackTree::kNoParent ? node.parent : numbers[node.parent];
      numbers.push_back(merged.Child(parent, node.image, node.address));
    }
  }
  return merged;
}

// Fills profile.images and profile.locations; returns the location of each node.
std::vector<uint32_t> NumberLocations(const StackTree& tree, const ProcessTable& table, Profile& profile) {
  const std::vector<StackTree::Node>& nodes = tree.nodes();
  std::vector<uint32_t> order(nodes.size()), location_of(nodes.size());
  std::iota(order.begin(), order.end(), 0);
  const auto place = [&](uint32_t n) { return std::pair(nodes[n].image, nodes[n].address); };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return place(a) < place(b); });
  uint32_t image = kNone32;
  for (size_t i = 0; i < order.size(); ++i) {
    const StackTree::Node& node = nodes[order[i]];
    const bool new_image = i == 0 || node.image != nodes[order[i - 1]].image;
    if (new_image) image = AppendImage(node.image, table, profile);
    if (new_image || node.address != nodes[order[i - 1]].address) {
      ProfileLocation location{.image = image, .address = node.address};
      if (node.image >= kFirstReasonImage)
        location.reason = static_cast<UnresolvedReason>(node.image - kFirstReasonImage);
      profile.locations.push_back(location);
    }
    location_of[order[i]] = static_cast<uint32_t>(profile.locations.size() - 1);
  }
  return location_of;
}

// Fills profile.stack_nodes, level by level, callers and then locations ascending; returns tree node ->
// profile node.
std::vector<uint32_t> NumberNodes(const StackTree& tree, const std::vector<uint32_t>& location_of,
                                  Profile& profile) {
  const std::vector<StackTree::Node>& nodes = tree.nodes();
  std::vector<uint32_t> depth(nodes.size()), number_of(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i)
    depth[i] = nodes[i].parent == StackTree::kNoParent ? 0 : depth[nodes[i].parent] + 1;
  std::vector<uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return depth[a] < depth[b]; });
  profile.stack_nodes.reserve(nodes.size());
  const auto parent_of = [&](uint32_t n) {
    const uint32_t parent = nodes[n].parent;
    return parent == StackTree::kNoParent ? kNone32 : number_of[parent];
  };
  for (auto begin = order.begin(); begin != order.end();) {
    const auto end = std::upper_bound(begin, order.end(), depth[*begin],
                                      [&](uint32_t level, uint32_t n) { return level < depth[n]; });
    std::sort(begin, end, [&](uint32_t a, uint32_t b) {
      return std::pair(parent_of(a), location_of[a]) < std::pair(parent_of(b), location_of[b]);
    });
    for (; begin != end; ++begin) {
      number_of[*begin] = static_cast<uint32_t>(profile.stack_nodes.size());
      profile.stack_nodes.push_back({.parent = parent_of(*begin), .location = location_of[*begin]});
    }
  }
  return number_of;
}

}  // namespace

void AssembleStacks(const Counters& counters, const ProcessTable& table, Profile& profile) {
  profile.conservation.assign(profile.events.size(), {});
  for (const auto& counter : counters)
    for (size_t event = 0; event < profile.events.size(); ++event)
      counter->attributor().tallies()[event].AddTo(profile.conservation[event]);
  const std::vector<std::vector<uint32_t>> keys = MergeKeys(UsedKeys(counters), profile);
  std::vector<std::vector<uint32_t>> merged_nodes;
  const StackTree tree = MergeTrees(counters, merged_nodes);
  const std::vector<uint32_t> location_of = NumberLocations(tree, table, profile);
  const std::vector<uint32_t> number_of = NumberNodes(tree, location_of, profile);
  for (size_t c = 0; c < counters.size(); ++c) {
    for (const auto& [stack, counts] : counters[c]->counts()) {
      const uint32_t key = keys[c][stack.first], node = number_of[merged_nodes[c][stack.second]];
      profile.stacks.push_back({.key = key, .node = node, .counts = counts});
      profile.entries.push_back(
          {.key = key, .location = profile.stack_nodes[node].location, .counts = counts});
    }
  }
  SortAndSum(&StackEntry::node, profile.stacks);
  SortAndSum(&ProfileEntry::location, profile.entries);
}

}  // namespace ksamp
