// SPDX-License-Identifier: Apache-2.0
// A profile as lines a test can compare, and the checks every test of a profile makes.
#ifndef KSAMP_TEST_PROFILE_PROFILE_ROWS_H_
#define KSAMP_TEST_PROFILE_PROFILE_ROWS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "ksamp/profile.h"
#include "lib/base/str_cat.h"

namespace ksamp::testing {

// "event app/comm/pid/tid/cpu image+0xaddress" -> samples; what is not separated is "-". "idle?" marks keys
// of the idle task; a reason stands in brackets.
inline std::map<std::string, uint64_t> RowsOf(const Profile& profile) {
  std::map<std::string, uint64_t> rows;
  const auto name = [&](uint32_t id) { return id == kNone32 ? "-" : profile.names[id]; };
  const auto number = [](uint32_t n) { return n == kNone32 ? std::string("-") : StrCat(n); };
  for (const ProfileEntry& entry : profile.entries) {
    const ProfileKey& key = profile.keys[entry.key];
    const ProfileLocation& location = profile.locations[entry.location];
    const std::string reason =
        location.reason == UnresolvedReason::kNone ? "" : StrCat("[", static_cast<int>(location.reason), "]");
    std::string row = StrCat(profile.events[key.event].name, " ", name(key.app), "/", name(key.comm), "/",
                             number(key.pid), "/", number(key.tid), "/", number(key.cpu), " ");
    StrAppend(&row, location.image == kNone32 ? "none" : profile.images[location.image].path, "+",
              Hex(location.address), reason, key.idle_task ? " idle?" : "");
    rows[row] += entry.counts.samples;
  }
  return rows;
}

inline uint64_t SumOfEntries(const Profile& profile, size_t event) {
  uint64_t sum = 0;
  for (const ProfileEntry& entry : profile.entries)
    if (profile.keys[entry.key].event == event) sum += entry.counts.samples;
  return sum;
}

// taken == rows + idle + filtered + dropped, for each event and in sum, and the rows are really there; and
// the profile is in its documented order.
inline void ExpectConserved(const Profile& profile, uint64_t taken) {
  ASSERT_EQ(profile.conservation.size(), profile.events.size());
  for (size_t event = 0; event < profile.events.size(); ++event) {
    EXPECT_TRUE(profile.conservation[event].Holds()) << profile.events[event].name;
    EXPECT_EQ(SumOfEntries(profile, event), profile.conservation[event].counted);
  }
  EXPECT_TRUE(profile.Total().Holds());
  EXPECT_EQ(profile.Total().taken, taken);
  for (size_t i = 1; i < profile.entries.size(); ++i) {
    const ProfileEntry &a = profile.entries[i - 1], &b = profile.entries[i];
    EXPECT_TRUE(a.key < b.key || (a.key == b.key && a.location < b.location)) << "entry " << i;
  }
}

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_PROFILE_PROFILE_ROWS_H_
