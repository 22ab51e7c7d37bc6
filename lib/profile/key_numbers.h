// SPDX-License-Identifier: Apache-2.0
// KeyNumbers: who a sample was of, as far as it is kept apart -> a small number.
//
//   KeyNumbers numbers(plan);
//   const KeyNumbers::Pair keys = numbers.Of(event, pid, tid, cpu, state, comm);
//   keys.user, keys.kernel            // indices into numbers.keys()
//
// Asked once per thread and stretch of time, not per sample. Keys are numbered as they are met; names in them
// are ids of Name(). One per thread.
#ifndef KSAMP_LIB_PROFILE_KEY_NUMBERS_H_
#define KSAMP_LIB_PROFILE_KEY_NUMBERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ksamp/profile.h"
#include "lib/base/string_pool.h"
#include "lib/process/process_table.h"
#include "lib/profile/counting_plan.h"

namespace ksamp {

class KeyNumbers {
 public:
  // Of samples in user mode and of those in the kernel.
  struct Pair {
    uint32_t user = 0, kernel = 0;
  };

  // Requires: the plan outlives this and has its table.
  explicit KeyNumbers(const CountingPlan& plan) : plan_(plan) {}

  Pair Of(uint32_t event, uint32_t pid, uint32_t tid, uint32_t cpu, const std::optional<ProcessState>& state,
          const std::optional<ThreadComm>& comm);

  const std::vector<ProfileKey>& keys() const { return keys_; }
  std::string_view Name(uint32_t id) const;

 private:
  using KeyTuple = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, bool>;

  uint32_t Intern(const ProfileKey& key);
  uint32_t ExtraName(const std::string& text);

  const CountingPlan& plan_;
  std::vector<ProfileKey> keys_;
  absl::flat_hash_map<KeyTuple, uint32_t> key_ids_;
  StringPool extra_names_;  // ids from table names().size() on
};

struct CountedKeys {
  const KeyNumbers* numbers = nullptr;
  std::vector<bool> used;  // by number: samples were counted under it
};

// Fills profile.names and profile.keys with the used keys of all, in an order that does not depend on who met
// them first; returns, for each of `counted`, its numbers -> indices into profile.keys (kNone32: not used).
std::vector<std::vector<uint32_t>> MergeKeys(const std::vector<CountedKeys>& counted, Profile& profile);

}  // namespace ksamp

#endif  // KSAMP_LIB_PROFILE_KEY_NUMBERS_H_
