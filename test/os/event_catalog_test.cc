// SPDX-License-Identifier: Apache-2.0
#include "lib/os/event_catalog.h"

#include <gtest/gtest.h>

#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::IsOkAndHolds;
using ::ksamp::testing::StatusIs;
using ::ksamp::testing::TempTree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(PmuFormatTest, ReadsWordAndBits) {
  const std::optional<PmuTerm> plain = ParsePmuFormat("umask", "config:8-15");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->name, "umask");
  EXPECT_EQ(plain->word, 0);
  EXPECT_THAT(plain->bit_ranges, ElementsAre(Pair(8, 15)));
  const std::optional<PmuTerm> split = ParsePmuFormat("event", "config2:0-7,32-35,40");
  ASSERT_TRUE(split);
  EXPECT_EQ(split->word, 2);
  EXPECT_THAT(split->bit_ranges, ElementsAre(Pair(0, 7), Pair(32, 35), Pair(40, 40)));
}

TEST(PmuFormatTest, RefusesAnythingElse) {
  for (const char* text :
       {"", "config", "config:", "config:x", "config9:1", "attr:1", "config:8-1", "config:0-64"})
    EXPECT_FALSE(ParsePmuFormat("x", text)) << text;
}

struct EventCatalogTest : ::testing::Test {
  TempTree tree;
  std::string devices = "sys/bus/event_source/devices/";
  std::unique_ptr<EventCatalog> Make() { return SysfsEventCatalog(tree.Path("sys")); }
};

TEST_F(EventCatalogTest, ReadsPmusWithTermsAndAliases) {
  tree.Write(devices + "cpu/type", "4\n");
  tree.Write(devices + "cpu/format/event", "config:0-7\n");
  tree.Write(devices + "cpu/events/cpu-cycles", "event=0x3c\n");
  tree.Write(devices + "power/type", "21\n");
  tree.Write(devices + "power/cpumask", "0\n");
  tree.Write(devices + "power/events/energy-pkg", "event=0x02\n");
  tree.Write(devices + "power/events/energy-pkg.unit", "Joules\n");
  tree.Write(devices + "power/events/energy-pkg.scale", "2.5e-1\n");
  const std::unique_ptr<EventCatalog> catalog = Make();
  ASSERT_EQ(catalog->pmus().size(), 2u);
  const Pmu& cpu = catalog->pmus()[0];
  EXPECT_EQ(cpu.name, "cpu");
  EXPECT_EQ(cpu.type, 4u);
  EXPECT_TRUE(cpu.core);
  EXPECT_EQ(cpu.terms.size(), 1u);
  ASSERT_EQ(cpu.aliases.size(), 1u);
  EXPECT_EQ(cpu.aliases[0].terms, "event=0x3c");
  const Pmu& power = catalog->pmus()[1];
  EXPECT_FALSE(power.core);
  EXPECT_EQ(power.cpus, "0");
  ASSERT_EQ(power.aliases.size(), 1u);
  EXPECT_EQ(power.aliases[0].unit, "Joules");
  EXPECT_EQ(power.aliases[0].scale, 0.25);
}

TEST_F(EventCatalogTest, HybridCorePmusKnowTheirCpus) {
  tree.Write(devices + "cpu_core/type", "4\n");
  tree.Write(devices + "cpu_core/cpus", "0-15\n");
  tree.Write(devices + "cpu_atom/type", "10\n");
  tree.Write(devices + "cpu_atom/cpus", "16-23\n");
  const std::unique_ptr<EventCatalog> catalog = Make();
  ASSERT_EQ(catalog->pmus().size(), 2u);
  for (const Pmu& pmu : catalog->pmus()) EXPECT_TRUE(pmu.core) << pmu.name;
  EXPECT_EQ(catalog->pmus()[0].cpus, "16-23");
}

TEST_F(EventCatalogTest, AFolderThatIsNoPmuIsPassedOver) {
  tree.Write(devices + "odd/type", "none\n");
  tree.MakeDirectory(devices + "empty");
  EXPECT_TRUE(Make()->pmus().empty());
  EXPECT_TRUE(SysfsEventCatalog("/nowhere")->pmus().empty());
}

TEST_F(EventCatalogTest, FindsTracepoints) {
  tree.Write("sys/kernel/tracing/events/sched/sched_switch/id", "315\n");
  tree.Write("sys/kernel/tracing/events/sched/enable", "0\n");
  const std::unique_ptr<EventCatalog> catalog = Make();
  EXPECT_THAT(catalog->TracepointId("sched", "sched_switch"), IsOkAndHolds(315u));
  EXPECT_THAT(catalog->TracepointId("sched", "nothing"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no such tracepoint")));
  EXPECT_THAT(catalog->Tracepoints(), ElementsAre("sched:sched_switch"));
}

TEST_F(EventCatalogTest, WithoutTracefsSaysSo) {
  EXPECT_THAT(Make()->TracepointId("sched", "sched_switch"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("not mounted")));
  EXPECT_TRUE(Make()->Tracepoints().empty());
}

TEST_F(EventCatalogTest, TheOlderPlaceOfTracefsWorksToo) {
  tree.Write("sys/kernel/debug/tracing/events/irq/irq_entry/id", "7\n");
  EXPECT_THAT(Make()->TracepointId("irq", "irq_entry"), IsOkAndHolds(7u));
}

}  // namespace
}  // namespace ksamp
