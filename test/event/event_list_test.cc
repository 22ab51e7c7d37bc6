// SPDX-License-Identifier: Apache-2.0
// ListEvents: what it lists, ParseEvents takes.
#include <algorithm>
#include <string>
#include <vector>

#include "ksamp/event_spec.h"
#include "test/support/status_matchers.h"
#include "test/support/table_catalog.h"

namespace ksamp::testing {
namespace {

TEST(ListEventsTest, EveryListedNameIsAccepted) {
  for (const TableCatalog& machine : {PlainMachine(), HybridMachine()}) {
    for (const ListedEvent& event : ListEvents(machine)) {
      if (event.name.find("needs-value") != std::string::npos) continue;  // waits for its number
      EXPECT_THAT(ParseEvents(event.name, machine), IsOk()) << event.name;
    }
  }
}

TEST(ListEventsTest, KindsComeInOrder) {
  std::vector<std::string> kinds;
  for (const ListedEvent& event : ListEvents(PlainMachine())) kinds.push_back(event.kind);
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  EXPECT_THAT(kinds,
              ::testing::ElementsAre("hardware", "software", "cache", "pmu", "tracepoint", "oprofile"));
}

TEST(ListEventsTest, DescribesAliases) {
  const std::vector<ListedEvent> events = ListEvents(PlainMachine());
  const auto description = [&](const std::string& name) {
    for (const ListedEvent& event : events) {
      if (event.name == name) return event.description;
    }
    return std::string("not listed");
  };
  EXPECT_EQ(description("cycles"), "CPU cycles, halted ones excluded (also cpu-cycles)");
  EXPECT_EQ(description("cpu/mem-loads/"), "event=0xcd,umask=0x1,ldlat=3");
  EXPECT_EQ(description("uncore_imc_0/data_reads/"), "Bytes read [MiB]");
  EXPECT_EQ(description("L1-dcache-load-misses"), "Level 1 data cache: loads that missed");
  EXPECT_EQ(description("iTLB-loads"), "Code address translations: loads");
  EXPECT_EQ(description("LLC_MISSES"), "the same as cache-misses");
}

}  // namespace
}  // namespace ksamp::testing
