// SPDX-License-Identifier: Apache-2.0
// StackCounter: the second sweep of a report about stacks. Samples in, counts per (key, unique stack) out.
//
// It stands in the place of a SampleCounter (lib/profile/sample_counter.h) where whole stacks are asked for;
// who does not ask never reads a chain. A stack costs one look into a hash table per frame in which it
// differs from the one before: neighbours in a ring mostly share their callers.
//
//   StackCounter counter(plan);
//   counter.CountChunk(chunk);
//   counter.tree(), counter.counts(), counter.attributor().tallies()
//
// A sample without a chain is a stack of one frame. A stack of as many frames as were recorded at most has a
// frame above its last one that says so: what stands there is no root. One counter per thread.
#ifndef KSAMP_LIB_PROFILE_STACK_COUNTER_H_
#define KSAMP_LIB_PROFILE_STACK_COUNTER_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ksamp/perf_data.h"
#include "ksamp/profile.h"
#include "lib/profile/counting_plan.h"
#include "lib/profile/sample_attributor.h"
#include "lib/profile/stack_tree.h"

namespace ksamp {

class StackCounter {
 public:
  using StackKey = std::pair<uint32_t /*key*/, uint32_t /*node*/>;

  // Requires: the plan outlives this and has its table.
  explicit StackCounter(const CountingPlan& plan) : attributor_(plan) {}

  void CountChunk(const Recording::Chunk& chunk);

  const StackTree& tree() const { return tree_; }
  const absl::flat_hash_map<StackKey, Counts>& counts() const { return counts_; }
  const SampleAttributor& attributor() const { return attributor_; }

 private:
  void CountStack();
  void Step(size_t depth, uint32_t image, uint64_t address);

  SampleAttributor attributor_;
  StackTree tree_;
  absl::flat_hash_map<StackKey, Counts> counts_;
  std::vector<uint32_t> path_;  // nodes of the stack counted last, outermost first
};

}  // namespace ksamp

#endif  // KSAMP_LIB_PROFILE_STACK_COUNTER_H_
