// SPDX-License-Identifier: Apache-2.0
#include "tools/count_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <sstream>

namespace ksamp {
namespace {

using std::chrono::nanoseconds;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

EventCount Event(const std::string& name, uint32_t type, uint64_t config, uint64_t value) {
  EventCount event;
  event.name = name;
  event.spec.type = type;
  event.spec.config = config;
  event.value = value;
  event.enabled = event.running = nanoseconds(1000);
  return event;
}

CountResult Counted(uint64_t scale = 1) {
  CountResult result;
  result.elapsed = std::chrono::milliseconds(2000 * scale);
  result.events = {
      Event("task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 1'000'000'000 * scale),
      Event("page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 2'500),
      Event("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 3'000'000'000 * scale),
      Event("instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 4'500'000'000 * scale),
      Event("branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1'000'000),
      Event("branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 20'000)};
  return result;
}

std::string Text(const CountTable& table) {
  std::ostringstream out;
  table.WriteText("'x'", out);
  return out.str();
}

TEST(CountTextTest, TheColumnsAndWhatTheyMean) {
  EXPECT_EQ(Text(CountTable({Counted()})),
            "\n Counts of 'x':\n\n"
            "           1000.00 msec task-clock                #    0.500 CPUs utilized\n"
            "              2500      page-faults               #    2.500 K/sec\n"
            "        3000000000      cycles                    #    3.000 GHz\n"
            "        4500000000      instructions              #     1.50  insn per cycle\n"
            "           1000000      branches                  #    1.000 M/sec\n"
            "             20000      branch-misses             #     2.00% of all branches\n"
            "\n       2.000000000 seconds time elapsed\n\n");
}

TEST(CountTextTest, WhatIsMissingSaysSoAndWhy) {
  CountResult run = Counted();
  run.events.resize(3);
  run.events[1].missing = "nothing ran";
  run.events[2].missing = "no counters";
  run.events[2].supported = false;
  const CountTable table({run});
  EXPECT_THAT(Text(table),
              HasSubstr("     <not counted>      page-faults\n   <not supported>      cycles\n"));
  EXPECT_THAT(table.Notes(), ElementsAre("cycles: no counters.", "page-faults: nothing ran."));
}

TEST(CountTextTest, ScaledValuesAreMarked) {
  CountResult run = Counted();
  run.events.resize(1);
  run.events[0].running = nanoseconds(250);
  const CountTable table({run});
  EXPECT_THAT(Text(table), HasSubstr("CPUs utilized  (25.00%)\n"));
  ASSERT_EQ(table.Notes().size(), 1u);
  EXPECT_THAT(table.Notes()[0], HasSubstr("took turns"));
}

TEST(CountTextTest, SeveralRunsHaveTheirSpread) {
  // Mean 2, standard deviation 1, of the mean 0.577; t of two degrees of freedom is 4.303.
  const RunStatistics statistics = StatisticsOf({1, 2, 3});
  EXPECT_THAT(statistics.mean, DoubleNear(2, 1e-9));
  EXPECT_THAT(statistics.deviation, DoubleNear(0.57735, 1e-5));
  EXPECT_THAT(statistics.confidence, DoubleNear(4.303 * 0.57735, 1e-4));
  EXPECT_EQ(StatisticsOf({7}).confidence, 0);
  const std::string text = Text(CountTable({Counted(1), Counted(2), Counted(3)}));
  EXPECT_THAT(text, HasSubstr(" Counts of 'x' (3 runs):\n"));
  EXPECT_THAT(text, HasSubstr("           2000.00 msec task-clock                #    0.500 CPUs utilized"));
  EXPECT_THAT(text, HasSubstr("( +- 28.87%; 95 % within +- 124.22% )"));
}

TEST(CountTextTest, CsvHasOneColumnForEach) {
  CountResult run = Counted();
  run.events.resize(2);
  run.events[0].places = {{.cpu = 3, .counted = 8, .enabled = nanoseconds(10), .running = nanoseconds(5)}};
  run.events[1].name = "cpu/event=1,umask=2/";
  run.events[1].missing = "no \"such\" thing";
  std::ostringstream out;
  CountTable::WriteCsvHeader(out);
  CountTable({run}).WriteCsv({}, out);
  CountTable({run}, true).WriteCsv({nanoseconds(1'500'000'000)}, out);
  EXPECT_EQ(out.str(),
            "time,event,cpu,tid,value,unit,enabled_ns,running_ns,percent_running,runs,deviation,confidence95,"
            "missing\n"
            ",task-clock,,,1000000000,ns,1000,1000,100.00,1,,,\n"
            ",\"cpu/event=1,umask=2/\",,,,,1000,1000,100.00,1,,,\"no \"\"such\"\" thing\"\n"
            "1.500000000,task-clock,3,,16,ns,10,5,,1,,,\n"
            "1.500000000,\"cpu/event=1,umask=2/\",,,,,1000,1000,100.00,1,,,\"no \"\"such\"\" thing\"\n");
}

TEST(CountTextTest, JsonIsOneObjectALine) {
  CountResult run = Counted();
  run.events.resize(2);
  run.events[1].missing = "a \"b\"";
  run.events[0].places = {{.tid = 12, .counted = 8, .enabled = nanoseconds(5), .running = nanoseconds(5)}};
  std::ostringstream out;
  CountTable({run}, true).WriteJson({nanoseconds(7)}, out);
  EXPECT_EQ(out.str(),
            "{\"time_ns\":7,\"runs\":1,\"elapsed_ns\":2000000000,\"events\":[{\"event\":\"task-clock\","
            "\"value\":1000000000,"
            "\"unit\":\"ns\",\"enabled_ns\":1000,\"running_ns\":1000,\"places\":[{\"cpu\":null,\"tid\":12,"
            "\"value\":8}]},"
            "{\"event\":\"page-faults\",\"value\":null,\"missing\":\"a "
            "\\\"b\\\"\",\"unit\":\"\",\"enabled_ns\":1000,"
            "\"running_ns\":1000,\"places\":[]}]}\n");
}

TEST(CountTextTest, ADifferenceIsWhatCameInBetween) {
  CountResult earlier = Counted(), later = Counted(2);
  for (CountResult* run : {&earlier, &later}) run->events.resize(1);
  earlier.events[0].places = {
      {.cpu = 0, .counted = 10, .enabled = nanoseconds(100), .running = nanoseconds(100)}};
  later.events[0].places = {
      {.cpu = 0, .counted = 30, .enabled = nanoseconds(200), .running = nanoseconds(150)}};
  const CountResult difference = Difference(later, earlier);
  EXPECT_EQ(difference.elapsed, std::chrono::milliseconds(2000));
  EXPECT_EQ(difference.events[0].places[0].counted, 20u);
  EXPECT_EQ(difference.events[0].value, 40u);  // seen half of the time
}

}  // namespace
}  // namespace ksamp
