// SPDX-License-Identifier: Apache-2.0
#include "ksamp/event_spec.h"

#include <linux/perf_event.h>

#include <string>
#include <vector>

#include "lib/base/str_cat.h"
#include "test/support/status_matchers.h"
#include "test/support/table_catalog.h"

namespace ksamp::testing {
namespace {

using ::testing::HasSubstr;

// "type:config" and every field that is not as by default.
std::string Print(const EventSpec& spec) {
  std::string text = StrCat(spec.name, " ", spec.type, ":", Hex(spec.config));
  const auto word = [&](const char* name, uint64_t value) {
    if (value != 0) StrAppend(&text, " ", name, "=", Hex(value));
  };
  const auto flag = [&](const char* name, bool set) {
    if (set) StrAppend(&text, " ", name);
  };
  word("config1", spec.config1);
  word("config2", spec.config2);
  word("config3", spec.config3);
  flag("-user", spec.exclude_user);
  flag("-kernel", spec.exclude_kernel);
  flag("-hv", spec.exclude_hv);
  flag("-idle", spec.exclude_idle);
  flag("-host", spec.exclude_host);
  flag("+guest", !spec.exclude_guest);
  flag("precise_max", spec.precise_max);
  word("precise", spec.precise_ip);
  flag("pinned", spec.pinned);
  flag("exclusive", spec.exclusive);
  flag("read", spec.sample_read);
  if (spec.period) StrAppend(&text, " period=", *spec.period);
  if (spec.frequency) StrAppend(&text, " freq=", *spec.frequency);
  if (!spec.cpus.empty()) StrAppend(&text, " cpus=", spec.cpus);
  if (!spec.pmu.empty()) StrAppend(&text, " pmu=", spec.pmu);
  return text;
}

std::vector<std::string> Print(const std::vector<EventGroup>& groups) {
  std::vector<std::string> lines;
  for (const EventGroup& group : groups) {
    std::string line;
    for (const EventSpec& spec : group.events) StrAppend(&line, line.empty() ? "" : " | ", Print(spec));
    lines.push_back(line);
  }
  return lines;
}

struct ParseCase {
  std::string text;
  std::vector<std::string> expected;  // a line per group
};

void ExpectParsed(const std::vector<ParseCase>& cases, const EventCatalog& machine) {
  for (const ParseCase& c : cases) {
    absl::StatusOr<std::vector<EventGroup>> groups = ParseEvents(c.text, machine);
    ASSERT_THAT(groups, IsOk()) << c.text;
    EXPECT_EQ(Print(*groups), c.expected) << c.text;
  }
}

TEST(ParseEventsTest, GenericNamesAndAliases) {
  ExpectParsed(
      {
          {"cycles", {"cycles 0:0x0"}},
          {"cpu-cycles", {"cpu-cycles 0:0x0"}},
          {"Instructions", {"Instructions 0:0x1"}},
          {"branch-instructions", {"branch-instructions 0:0x4"}},
          {"cpu-clock", {"cpu-clock 1:0x0"}},
          {"faults", {"faults 1:0x2"}},
          {"cs", {"cs 1:0x3"}},
          {"r003c", {"r003c 4:0x3c"}},
          {"rffffffffffffffff", {"rffffffffffffffff 4:0xffffffffffffffff"}},
          {"cycles, instructions", {"cycles 0:0x0", "instructions 0:0x1"}},
      },
      PlainMachine());
}

TEST(ParseEventsTest, CacheEventsInEverySpelling) {
  ExpectParsed(
      {
          {"L1-dcache-load-misses", {"L1-dcache-load-misses 3:0x10000"}},
          {"L1-dcache-misses", {"L1-dcache-misses 3:0x10000"}},
          {"l1d-miss-load", {"l1d-miss-load 3:0x10000"}},
          {"L1-dcache-loads", {"L1-dcache-loads 3:0x0"}},
          {"L1-data-stores-refs", {"L1-data-stores-refs 3:0x100"}},
          {"LLC-prefetch-misses", {"LLC-prefetch-misses 3:0x10202"}},
          {"L2-speculative-read-misses", {"L2-speculative-read-misses 3:0x10202"}},
          {"Data-TLB-loads", {"Data-TLB-loads 3:0x3"}},
          {"itlb-read-misses", {"itlb-read-misses 3:0x10004"}},
          {"branch-load-misses", {"branch-load-misses 3:0x10005"}},
          {"node-store-misses:u", {"node-store-misses:u 3:0x10106 -kernel -hv"}},
      },
      PlainMachine());
}

TEST(ParseEventsTest, Modifiers) {
  ExpectParsed(
      {
          {"cycles:k", {"cycles:k 0:0x0 -user -hv"}},
          {"cycles:u", {"cycles:u 0:0x0 -kernel -hv"}},
          {"cycles:uk", {"cycles:uk 0:0x0 -hv"}},
          {"cycles:h", {"cycles:h 0:0x0 -user -kernel"}},
          {"cycles:G", {"cycles:G 0:0x0 -host +guest"}},
          {"cycles:H", {"cycles:H 0:0x0"}},
          {"cycles:GH", {"cycles:GH 0:0x0 +guest"}},
          {"cycles:kpp", {"cycles:kpp 0:0x0 -user -hv precise=0x2"}},
          {"cycles:ppp", {"cycles:ppp 0:0x0 precise=0x3"}},
          {"cycles:P", {"cycles:P 0:0x0 precise_max"}},
          {"cycles:IDe", {"cycles:IDe 0:0x0 -idle pinned exclusive"}},
      },
      PlainMachine());
}

TEST(ParseEventsTest, PmuTerms) {
  ExpectParsed(
      {
          {"cpu/event=0x3c,umask=0x0/", {"cpu/event=0x3c,umask=0x0/ 4:0x3c pmu=cpu"}},
          {"cpu/event=0x1c2,umask=3,inv/k",
           {"cpu/event=0x1c2,umask=3,inv/k 4:0x1008003c2 -user -hv pmu=cpu"}},
          {"cpu/event=0xcd,ldlat=30,period=1000/",
           {"cpu/event=0xcd,ldlat=30,period=1000/ 4:0xcd config1=0x1e period=1000 pmu=cpu"}},
          {"cpu/r1a8,freq=99,name=stalls/", {"stalls 4:0x1a8 freq=99 pmu=cpu"}},
          {"cpu/r1a8,name='my name'/:u", {"my name:u 4:0x1a8 -kernel -hv pmu=cpu"}},
          {"cpu/config=1,config1=2,config2=3/",
           {"cpu/config=1,config1=2,config2=3/ 4:0x1 config1=0x2 config2=0x3 pmu=cpu"}},
          {"cpu/mem-loads,ldlat=50/P", {"cpu/mem-loads,ldlat=50/P 4:0x1cd config1=0x32 precise_max pmu=cpu"}},
          {"cpu/cache-misses/", {"cpu/cache-misses/ 0:0x3 pmu=cpu"}},
          {"cpu/L1-dcache-loads/", {"cpu/L1-dcache-loads/ 3:0x0 pmu=cpu"}},
          {"mem-loads:u", {"mem-loads:u 4:0x1cd config1=0x3 -kernel -hv pmu=cpu"}},
          {"cpu/event=1/,cycles", {"cpu/event=1/ 4:0x1 pmu=cpu", "cycles 0:0x0"}},
          {"cpu/offcore_rsp=0xffffffffffffffff/",
           {"cpu/offcore_rsp=0xffffffffffffffff/ 4:0x0 config1=0xffffffffffffffff pmu=cpu"}},
      },
      PlainMachine());
}

// A PMU of which there are several, by its common name; what is no core cannot leave guests out.
TEST(ParseEventsTest, PmuWithInstances) {
  ExpectParsed(
      {
          {"uncore_imc_1/event=2/", {"uncore_imc_1/event=2/ 21:0x2 +guest cpus=0,8 pmu=uncore_imc_1"}},
          {"imc/event=2/",
           {"uncore_imc_0/event=2/ 20:0x2 +guest cpus=0,8 pmu=uncore_imc_0",
            "uncore_imc_1/event=2/ 21:0x2 +guest cpus=0,8 pmu=uncore_imc_1"}},
          {"uncore_imc_*/data_reads/",
           {"uncore_imc_0/data_reads/ 20:0x1 +guest cpus=0,8 pmu=uncore_imc_0",
            "uncore_imc_1/data_reads/ 21:0x1 +guest cpus=0,8 pmu=uncore_imc_1"}},
      },
      PlainMachine());
}

TEST(ParseEventsTest, Tracepoints) {
  ExpectParsed(
      {
          {"sched:sched_switch", {"sched:sched_switch 2:0x13a"}},
          {"sched:sched_switch:u", {"sched:sched_switch:u 2:0x13a -kernel -hv"}},
          {"sched:*", {"sched:sched_switch 2:0x13a", "sched:sched_wakeup 2:0x13e"}},
          {"*:*_rx,cs", {"net:netif_rx 2:0x5dc", "cs 1:0x3"}},
      },
      PlainMachine());
}

TEST(ParseEventsTest, Groups) {
  ExpectParsed(
      {
          {"{cycles,instructions}", {"cycles 0:0x0 | instructions 0:0x1"}},
          {"{cycles:p,cpu/event=1,umask=2/}:k,cs",
           {"cycles:pk 0:0x0 -user -hv precise=0x1 | cpu/event=1,umask=2/k 4:0x201 -user -hv pmu=cpu",
            "cs 1:0x3"}},
          {"{cycles,cs}:S", {"cycles:S 0:0x0 read | cs:S 1:0x3 read period=0"}},
          {" { cycles , cs }", {"cycles 0:0x0 | cs 1:0x3"}},
      },
      PlainMachine());
}

TEST(ParseEventsTest, OprofileEvents) {
  ExpectParsed(
      {
          {"CPU_CLK_UNHALTED", {"CPU_CLK_UNHALTED 0:0x0"}},
          {"CPU_CLK_UNHALTED:100000", {"CPU_CLK_UNHALTED:100000 0:0x0 period=100000"}},
          {"CPU_CLK_UNHALTED:100000:0:1:1", {"CPU_CLK_UNHALTED:100000:0:1:1 0:0x0 period=100000"}},
          {"CPU_CLK_UNHALTED:100000:0:1:0", {"CPU_CLK_UNHALTED:100000:0:1:0 0:0x0 -user period=100000"}},
          {"CPU_CLK_UNHALTED:6000:0:0:1", {"CPU_CLK_UNHALTED:6000:0:0:1 0:0x0 -kernel period=6000"}},
          {"LLC_MISSES:6000:0x41", {"LLC_MISSES:6000:0x41 0:0x3 period=6000"}},
          {"INST_RETIRED:k", {"INST_RETIRED:k 0:0x1 -user -hv"}},
          {"BR_MISS_PRED_RETIRED,LLC_REFS", {"BR_MISS_PRED_RETIRED 0:0x5", "LLC_REFS 0:0x2"}},
      },
      PlainMachine());
}

TEST(ParseEventsTest, HybridMachines) {
  ExpectParsed(
      {
          {"cycles:k",
           {"cpu_core/cycles/k 0:0x400000000 -user -hv cpus=0-15 pmu=cpu_core",
            "cpu_atom/cycles/k 0:0x800000000 -user -hv cpus=16-23 pmu=cpu_atom"}},
          {"cpu_atom/cycles/", {"cpu_atom/cycles/ 0:0x800000000 cpus=16-23 pmu=cpu_atom"}},
          {"L1-dcache-loads",
           {"cpu_core/L1-dcache-loads/ 3:0x400000000 cpus=0-15 pmu=cpu_core",
            "cpu_atom/L1-dcache-loads/ 3:0x800000000 cpus=16-23 pmu=cpu_atom"}},
          {"r3c",
           {"cpu_core/r3c/ 4:0x3c cpus=0-15 pmu=cpu_core", "cpu_atom/r3c/ 8:0x3c cpus=16-23 pmu=cpu_atom"}},
          {"CPU_CLK_UNHALTED:1000",
           {"cpu_core/CPU_CLK_UNHALTED:1000/ 0:0x400000000 period=1000 cpus=0-15 pmu=cpu_core",
            "cpu_atom/CPU_CLK_UNHALTED:1000/ 0:0x800000000 period=1000 cpus=16-23 pmu=cpu_atom"}},
          {"cpu-clock", {"cpu-clock 1:0x0"}},
          {"{cycles,instructions,cs}",
           {"cpu_core/cycles/ 0:0x400000000 cpus=0-15 pmu=cpu_core | cpu_core/instructions/ 0:0x400000001 "
            "cpus=0-15 pmu=cpu_core | cs 1:0x3",
            "cpu_atom/cycles/ 0:0x800000000 cpus=16-23 pmu=cpu_atom | cpu_atom/instructions/ 0:0x800000001 "
            "cpus=16-23 pmu=cpu_atom | cs 1:0x3"}},
      },
      HybridMachine());
}

struct Refusal {
  std::string text, message;
};

class RefusedTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusedTest, SaysWhereAndWhy) {
  const absl::StatusOr<std::vector<EventGroup>> groups = ParseEvents(GetParam().text, PlainMachine());
  ASSERT_FALSE(groups.ok()) << Print(*groups).front();
  EXPECT_THAT(MessageOf(groups.status()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, RefusedTest,
    ::testing::Values(
        Refusal{"", "character 1: an event is missing"},
        Refusal{"cycles,", "character 8: an event is missing"},
        Refusal{"cycles,,cs", "character 8: an event is missing"},
        Refusal{"cyclse", "character 1: there is no event 'cyclse'; did you mean 'cycles'?"},
        Refusal{"cs,branch-mises",
                "character 4: there is no event 'branch-mises'; did you mean 'branch-misses'?"},
        Refusal{"CPU_CLK_UNHALT", "did you mean 'CPU_CLK_UNHALTED'?"},
        Refusal{"L1-icache-stores", "there is no event"}, Refusal{"L1-dcache-load-load", "there is no event"},
        Refusal{"rxyz", "there is no event 'rxyz'"}, Refusal{"r10000000000000000", "there is no event"},
        Refusal{"\x1b[31m", "there is no event '\\x1b[31m'"},
        Refusal{"cycles:q", "character 8: 'q' is no modifier"},
        Refusal{"cycles:pppp", "character 11: precision goes up to ppp"},
        Refusal{"{cycles}:W", "character 10: weak groups (W) are not supported"},
        Refusal{"{cycles", "character 1: '{' is never closed"},
        Refusal{"{cycles,{cs}}", "character 9: a group inside a group"},
        Refusal{"{cycles}k", "character 9: a group ends with '}'"},
        Refusal{"{}", "character 2: an event is missing"},
        Refusal{"cpu/event=1", "character 4: '/' is never closed"},
        Refusal{"cpu//", "character 5: PMU cpu needs at least one term"},
        Refusal{"cpu/event=1,,/", "character 13: a term is missing"},
        Refusal{"cpu/evnt=1/", "character 5: PMU cpu has no term or event 'evnt'; did you mean 'event'?"},
        Refusal{"cpu/event=1,umask=256/", "character 13: value 0x100 is too large for term umask of cpu"},
        Refusal{"cpu/event=x/", "character 5: term event: 'x' is no number"},
        Refusal{"cpu/event=1,period=0/", "character 13: period must not be 0"},
        Refusal{"cpu/needs-value/", "term umask needs a value: umask=NUMBER"},
        Refusal{"cpi/event=1/", "character 1: this machine has no PMU 'cpi'; did you mean 'cpu'?"},
        Refusal{"kprobe:tcp_sendmsg", "character 1: probes (kprobe:) cannot be recorded yet"},
        Refusal{"cs,uprobe:/bin/bash:readline", "character 4: probes (uprobe:)"},
        Refusal{"mem:0x1000:rw", "breakpoints (mem:) are not supported"},
        Refusal{"sched:sched_swich", "the kernel has no such tracepoint; did you mean 'sched:sched_switch'?"},
        Refusal{"nothing:*", "no tracepoint matches 'nothing:*'"},
        Refusal{"sched:..", "there is no event 'sched'"},
        Refusal{"CPU_CLK_UNHALTED:0", "character 18: count must not be 0"},
        Refusal{"CPU_CLK_UNHALTED:1000:2", "character 23: unit mask 0x2 of CPU_CLK_UNHALTED has no generic"},
        Refusal{"CPU_CLK_UNHALTED:1000:0:0:0", "neither kernel nor user"},
        Refusal{"CPU_CLK_UNHALTED:1000:0:2", "kernel is 0 or 1"},
        Refusal{"CPU_CLK_UNHALTED:1:0:1:1:1", "too many numbers"},
        Refusal{"CPU_CLK_UNHALTED:many", "count 'many' is no number"}));

TEST(ParseEventsTest, TextOfAnyLengthIsBounded) {
  EXPECT_THAT(ParseEvents(std::string(20'000, 'x'), PlainMachine()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("20000 characters")));
  EXPECT_FALSE(ParseEvents(std::string(16'000, '{'), PlainMachine()).ok());
  EXPECT_FALSE(ParseEvents(std::string(16'000, '/'), PlainMachine()).ok());
}

}  // namespace
}  // namespace ksamp::testing
