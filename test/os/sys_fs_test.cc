// SPDX-License-Identifier: Apache-2.0
#include "lib/os/sys_fs.h"

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

TEST(CpuListTest, ParsesWhatTheKernelAndPeopleWrite) {
  EXPECT_THAT(ParseCpuList("0"), IsOkAndHolds(ElementsAre(0)));
  EXPECT_THAT(ParseCpuList("0-3,8\n"), IsOkAndHolds(ElementsAre(0, 1, 2, 3, 8)));
  EXPECT_THAT(ParseCpuList("8,1-2,2, 0"), IsOkAndHolds(ElementsAre(0, 1, 2, 8)));
}

TEST(CpuListTest, RefusesAnythingElse) {
  for (const char* text : {"", "\n", "a", "3-1", "-1", "1-", "1,,2", "0-99999999", "1.5", "0x3"})
    EXPECT_THAT(ParseCpuList(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("CPU list")))
        << text;
}

TEST(CpuListTest, FormatsRanges) {
  EXPECT_EQ(FormatCpuList({}), "");
  EXPECT_EQ(FormatCpuList(std::vector<int>{0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(FormatCpuList(std::vector<int>{1, 3}), "1,3");
}

TEST(SysFsTest, ReadsTheOnlineCpus) {
  TempTree tree;
  tree.Write("sys/devices/system/cpu/online", "0-1,3\n");
  EXPECT_THAT(OnlineCpus(tree.Path("sys")), IsOkAndHolds(ElementsAre(0, 1, 3)));
}

TEST(SysFsTest, WithoutSysfsAsksTheLibrary) {
  ASSERT_OK_AND_ASSIGN(const std::vector<int> cpus, OnlineCpus("/nowhere"));
  EXPECT_FALSE(cpus.empty());
}

TEST(SysFsTest, ReadsTheLimits) {
  TempTree tree;
  tree.Write("proc/sys/kernel/perf_event_paranoid", "-1\n");
  tree.Write("proc/sys/kernel/kptr_restrict", "1\n");
  tree.Write("proc/sys/kernel/perf_event_mlock_kb", "516\n");
  tree.Write("proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
  tree.Write("proc/sys/kernel/perf_cpu_time_max_percent", "25\n");
  tree.Write("proc/sys/kernel/nmi_watchdog", "1\n");
  const PerfLimits limits = ReadPerfLimits(tree.Path("proc"));
  EXPECT_EQ(limits.paranoid, -1);
  EXPECT_EQ(limits.kptr_restrict, 1);
  EXPECT_EQ(limits.mlock_kb, 516u);
  EXPECT_EQ(limits.max_sample_rate, 100'000u);
  EXPECT_EQ(limits.cpu_time_max_percent, 25u);
  EXPECT_TRUE(limits.nmi_watchdog);
}

TEST(SysFsTest, AbsentLimitsAreAbsent) {
  const PerfLimits limits = ReadPerfLimits("/nowhere");
  EXPECT_EQ(limits.paranoid, std::nullopt);
  EXPECT_EQ(limits.mlock_kb, std::nullopt);
  EXPECT_FALSE(limits.nmi_watchdog);
}

TEST(SysFsTest, DescribesTheMachineAsPerfDoes) {
  TempTree tree;
  tree.Write("proc/cpuinfo",
             "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n"
             "model name\t: AMD EPYC 7763 64-Core Processor\nstepping\t: 1\ncpu MHz\t\t: 2445.430\n");
  tree.Write("proc/meminfo", "MemTotal:       24680 kB\nMemFree:  1 kB\n");
  tree.Write("sys/devices/system/cpu/online", "0\n");
  tree.Write("sys/devices/system/cpu/present", "0-3\n");
  const MachineFacts facts = ReadMachineFacts(tree.Path("proc"), tree.Path("sys"));
  EXPECT_EQ(facts.cpu_desc, "AMD EPYC 7763 64-Core Processor");
  EXPECT_EQ(facts.cpu_id, "AuthenticAMD,25,1,1");
  EXPECT_EQ(facts.total_memory_kb, 24680u);
  EXPECT_EQ(facts.cpus_online, 1u);
  EXPECT_EQ(facts.cpus_available, 4u);
  EXPECT_FALSE(facts.hostname.empty());
  EXPECT_FALSE(facts.os_release.empty());
  EXPECT_FALSE(facts.arch.empty());
  EXPECT_EQ(CpuFrequencyHz(tree.Path("proc"), tree.Path("sys"), 0), 2'445'430'000u);
}

TEST(SysFsTest, CpufreqKnowsTheFrequencyBetter) {
  TempTree tree;
  tree.Write("proc/cpuinfo", "cpu MHz : 800.0\n");
  tree.Write("sys/devices/system/cpu/cpu2/cpufreq/cpuinfo_max_freq", "3500000\n");
  EXPECT_EQ(CpuFrequencyHz(tree.Path("proc"), tree.Path("sys"), 2), 3'500'000'000u);
  tree.Write("sys/devices/system/cpu/cpu2/cpufreq/base_frequency", "2100000\n");
  EXPECT_EQ(CpuFrequencyHz(tree.Path("proc"), tree.Path("sys"), 2), 2'100'000'000u);
  EXPECT_EQ(CpuFrequencyHz("/nowhere", "/nowhere", 0), std::nullopt);
}

TEST(SysFsTest, LimitsOfTheProcessAreNumbers) {
  EXPECT_GT(RaiseOpenFileLimit(), 0u);
  EXPECT_EQ(RaiseOpenFileLimit(), RaiseOpenFileLimit());
  EXPECT_GT(LockedMemoryLimit(), 0u);
}

}  // namespace
}  // namespace ksamp
