// SPDX-License-Identifier: Apache-2.0
#include "lib/event/event_table.h"

#include <linux/perf_event.h>

#include <set>

#include "ksamp/event_spec.h"
#include "test/support/status_matchers.h"

namespace ksamp::testing {
namespace {

TEST(EventTableTest, NumbersAndNamesAgree) {
  std::set<std::pair<uint32_t, uint64_t>> seen;
  for (const GenericEvent& event : GenericEvents()) {
    EXPECT_TRUE(seen.emplace(event.type, event.config).second) << event.name;
    EXPECT_EQ(FindGenericEvent(event.name), &event);
    EXPECT_EQ(FindGenericEvent(event.type, event.config), &event);
    EXPECT_EQ(EventName(event.type, event.config), event.name);
    EXPECT_FALSE(event.description.empty()) << event.name;
  }
  EXPECT_EQ(seen.size(), size_t{PERF_COUNT_HW_MAX} + size_t{PERF_COUNT_SW_MAX});
}

TEST(EventTableTest, EveryCacheNameLeadsBackToItself) {
  const std::vector<std::string> names = CacheEventNames();
  for (const std::string& name : names) {
    const std::optional<uint64_t> config = ParseCacheEvent(name);
    ASSERT_TRUE(config.has_value()) << name;
    EXPECT_EQ(CacheEventName(*config), name);
    EXPECT_EQ(EventName(PERF_TYPE_HW_CACHE, *config), name);
  }
  // 7 caches of 3 operations with 2 results each; three kinds of them lack 1, 2 and 2 operations.
  EXPECT_EQ(names.size(), size_t{7 * 3 - 5} * 2);
}

TEST(EventTableTest, OprofileNamesMapToGenericEvents) {
  for (const OprofileEvent& event : OprofileEvents()) {
    EXPECT_NE(FindGenericEvent(event.generic), nullptr) << event.name;
    EXPECT_EQ(FindOprofileEvent(event.name), &event);
  }
  EXPECT_EQ(FindOprofileEvent("cpu_clk_unhalted"), nullptr);
}

TEST(EventNameTest, NumbersWithoutANameAreTold) {
  EXPECT_EQ(EventName(PERF_TYPE_HARDWARE, uint64_t{8} << 32), "cycles");
  EXPECT_EQ(EventName(PERF_TYPE_RAW, 0x3c), "raw 0x3c");
  EXPECT_EQ(EventName(PERF_TYPE_TRACEPOINT, 314), "tracepoint 314");
  EXPECT_EQ(EventName(PERF_TYPE_HARDWARE, 99), "event type 0 config 0x63");
  EXPECT_EQ(EventName(PERF_TYPE_HW_CACHE, 0xff), "event type 3 config 0xff");
  EXPECT_EQ(EventName(23, 7), "event type 23 config 0x7");
}

TEST(DescribeEventTest, FromAnyFormOfTheName) {
  for (const char* name :
       {"cycles", "cpu-cycles:k", "cpu_core/cycles/", "cpu/cycles/u", "CPU_CLK_UNHALTED:100000"})
    EXPECT_EQ(DescribeEvent(name), "CPU cycles, halted ones excluded") << name;
  EXPECT_EQ(DescribeEvent("cpu-clock"), "CPU clock");
  EXPECT_EQ(DescribeEvent("sched:sched_switch"), "");
  EXPECT_EQ(DescribeEvent(""), "");
}

}  // namespace
}  // namespace ksamp::testing
