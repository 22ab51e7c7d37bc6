// SPDX-License-Identifier: Apache-2.0
#include "lib/os/event_catalog.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <memory>
#include <string>
#include <vector>

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

// A hybrid machine's tree as the kernel lays it out, all the way to what -e makes of it.
TEST_F(EventCatalogTest, EventsOfAHybridMachineOpenOnEachKindOfCore) {
  struct {
    const char *pmu, *type, *cpus;
  } const cores[] = {{"cpu_core", "4\n", "0-3\n"}, {"cpu_atom", "10\n", "4-7\n"}};
  for (const auto& [pmu, type, cpus] : cores) {
    tree.Write(devices + pmu + "/type", type);
    tree.Write(devices + pmu + "/cpus", cpus);
    tree.Write(devices + pmu + "/format/event", "config:0-7\n");
    tree.Write(devices + pmu + "/format/umask", "config:8-15\n");
    tree.Write(devices + pmu + "/events/cache-misses", "event=0x2e,umask=0x41\n");
  }
  tree.Write(devices + "cpu_core/events/slots", "event=0x00,umask=0x4\n");
  const std::unique_ptr<EventCatalog> catalog = Make();

  ASSERT_OK_AND_ASSIGN(const std::vector<EventGroup> cycles, ParseEvents("cycles:u", *catalog));
  ASSERT_EQ(cycles.size(), 2u);
  const EventSpec& atom = cycles[0].events.at(0);
  const EventSpec& core = cycles[1].events.at(0);
  EXPECT_EQ(atom.name, "cpu_atom/cycles/u");
  EXPECT_EQ(atom.type, uint32_t{PERF_TYPE_HARDWARE});
  EXPECT_EQ(atom.config, uint64_t{10} << 32 | PERF_COUNT_HW_CPU_CYCLES);
  EXPECT_EQ(atom.cpus, "4-7");
  EXPECT_TRUE(atom.exclude_kernel);
  EXPECT_EQ(core.config, uint64_t{4} << 32 | PERF_COUNT_HW_CPU_CYCLES);
  EXPECT_EQ(core.cpus, "0-3");

  ASSERT_OK_AND_ASSIGN(const std::vector<EventGroup> slots, ParseEvents("cpu_core/slots/", *catalog));
  ASSERT_EQ(slots.size(), 1u);
  EXPECT_EQ(slots[0].events.at(0).config, 0x400u);
  EXPECT_EQ(slots[0].events.at(0).type, 4u);
  EXPECT_THAT(
      ParseEvents("cpu_atom/slots/", *catalog),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cpu_atom has no term or event 'slots'")));

  // A group of the cores becomes one for each kind.
  ASSERT_OK_AND_ASSIGN(const std::vector<EventGroup> group, ParseEvents("{cycles,instructions}", *catalog));
  ASSERT_EQ(group.size(), 2u);
  EXPECT_EQ(group[1].events.at(0).name, "cpu_core/cycles/");
  EXPECT_EQ(group[1].events.at(1).name, "cpu_core/instructions/");
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
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("not mounted")));
  EXPECT_TRUE(Make()->Tracepoints().empty());
}

TEST_F(EventCatalogTest, TheOlderPlaceOfTracefsWorksToo) {
  tree.Write("sys/kernel/debug/tracing/events/irq/irq_entry/id", "7\n");
  EXPECT_THAT(Make()->TracepointId("irq", "irq_entry"), IsOkAndHolds(7u));
}

}  // namespace
}  // namespace ksamp
