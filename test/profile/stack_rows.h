// SPDX-License-Identifier: Apache-2.0
// Stacks of a profile as lines a test can compare, and the check every profile with stacks must pass.
#ifndef KSAMP_TEST_PROFILE_STACK_ROWS_H_
#define KSAMP_TEST_PROFILE_STACK_ROWS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "ksamp/profile.h"
#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"

namespace ksamp::testing {

// "main+0x10;libc.so+0x20" -> samples: images' basenames, the outermost frame first; without an image "?".
inline std::map<std::string, uint64_t> StackRowsOf(const Profile& profile) {
  std::map<std::string, uint64_t> rows;
  for (const StackEntry& entry : profile.stacks) {
    std::string row;
    for (uint32_t node = entry.node; node != kNone32; node = profile.stack_nodes[node].parent) {
      const ProfileLocation& location = profile.locations[profile.stack_nodes[node].location];
      const std::string image =
          location.image == kNone32 ? "?" : std::string(Basename(profile.images[location.image].path));
      row = StrCat(image, "+", Hex(location.address), row.empty() ? "" : ";", row);
    }
    rows[row] += entry.counts.samples;
  }
  return rows;
}

// Summed up by (key, leaf), stacks are the entries; callers come before what they call; all is in order.
inline void ExpectStacksMatchEntries(const Profile& profile) {
  using Place = std::pair<uint32_t, uint32_t>;
  std::map<Place, Counts> by_leaf, entries;
  for (const StackEntry& stack : profile.stacks)
    by_leaf[{stack.key, profile.stack_nodes[stack.node].location}] += stack.counts;
  for (const ProfileEntry& entry : profile.entries) entries[{entry.key, entry.location}] += entry.counts;
  EXPECT_TRUE(by_leaf == entries);
  for (uint32_t i = 0; i < profile.stack_nodes.size(); ++i)
    EXPECT_TRUE(profile.stack_nodes[i].parent == kNone32 || profile.stack_nodes[i].parent < i) << i;
  EXPECT_TRUE(std::is_sorted(profile.stacks.begin(), profile.stacks.end(),
                             [](const StackEntry& a, const StackEntry& b) {
                               return std::pair(a.key, a.node) < std::pair(b.key, b.node);
                             }));
}

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_PROFILE_STACK_ROWS_H_
