// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/stack_counter.h"

#include <span>

#include "lib/profile/place_cache.h"
#include "lib/profile/sample_walk.h"

namespace ksamp {

void StackCounter::CountChunk(const Recording::Chunk& chunk) {
  ForEachSample(chunk, [this](const std::byte* record, uint16_t size, uint16_t misc, uint64_t offset) {
    if (attributor_.Attribute(record, size, misc, offset)) CountStack();
  });
}

// The node at `depth` of the stack: the last stack's, where the same frame was there.
inline void StackCounter::Step(size_t depth, uint32_t image, uint64_t address) {
  const uint32_t parent = depth == 0 ? StackTree::kNoParent : path_[depth - 1];
  if (depth < path_.size()) {
    const StackTree::Node& last = tree_.nodes()[path_[depth]];
    if (last.parent == parent && last.image == image && last.address == address) return;
    path_[depth] = tree_.Child(parent, image, address);
  } else {
    path_.push_back(tree_.Child(parent, image, address));
  }
}

void StackCounter::CountStack() {
  const CountedEvent& event = attributor_.event_plan();
  std::span<const PlacedFrame> callers = attributor_.frames();
  const PlacedFrame& leaf = attributor_.leaf();
  size_t depth = 0;
  if (event.has_callchain && callers.size() == event.max_stack)
    Step(depth++, ReasonImage(UnresolvedReason::kStackTooDeep), 0);
  // Of two accounts of where the sample was, the sample's own is the better one.
  if (callers.front().mode == leaf.mode) callers = callers.subspan(1);
  for (size_t i = callers.size(); i-- > 0;) Step(depth++, callers[i].image, callers[i].address);
  Step(depth++, leaf.image, leaf.address);
  path_.resize(depth);
  counts_[{attributor_.key(), path_.back()}] += {.samples = 1, .period = attributor_.period()};
}

}  // namespace ksamp
