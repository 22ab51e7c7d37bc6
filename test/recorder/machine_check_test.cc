// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <string>

#include "ksamp/check.h"
#include "lib/base/str_cat.h"
#include "test/support/fake_perf_kernel.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {

// A finding in one line, as tests name it.
std::ostream& operator<<(std::ostream& out, const CheckFinding& finding) {
  constexpr const char* kWords[] = {"OK", "degraded", "missing"};
  return out << finding.name << ' ' << kWords[static_cast<int>(finding.verdict)] << ": " << finding.found
             << " | " << finding.meaning << " | " << finding.remedy;
}

namespace {

using ::ksamp::testing::FakePerfKernel;
using ::ksamp::testing::FakeRequest;
using ::ksamp::testing::TempTree;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kAllCapabilities[] = "Name:\tx\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n";
constexpr char kNoCapability[] = "Name:\tx\nCapEff:\t0000000000000000\nSeccomp:\t0\n";

// A bare-metal x86 machine where nothing is wrong.
struct MachineCheckTest : ::testing::Test {
  MachineCheckTest() {
    options.proc_root = tree.Path("proc");
    options.sys_root = tree.Path("sys");
    options.file_root = tree.Path("root");
    options.arch = "x86_64";
    options.open_files = 1024;
    options.locked_memory = 8 << 20;
    tree.Write("sys/devices/system/cpu/online", "0-3\n");
    tree.Write("sys/kernel/tracing/events/sched/enable", "0\n");
    tree.Write("sys/kernel/notes", kNotes);
    tree.Write("proc/cpuinfo", "cpu MHz : 2000.0\n");
    tree.Write("proc/self/status", kAllCapabilities);
    tree.Write("proc/kallsyms", "0000000000000000 A percpu\nffffffff81000000 T _text\n");
    tree.Write("root/usr/lib/debug/boot/vmlinux-6.1.0-test", ElfWith(kNotes));
    Sysctl("osrelease", "6.1.0-test");
    Sysctl("perf_event_paranoid", "2");
    Sysctl("kptr_restrict", "1");
    Sysctl("nmi_watchdog", "1");
    Sysctl("perf_event_mlock_kb", "516");
    Sysctl("perf_event_max_sample_rate", "100000");
    Sysctl("perf_cpu_time_max_percent", "25");
  }
  // The smallest ELF file with these notes.
  static std::string ElfWith(const std::string& notes) {
    std::string elf(64 + 56, '\0');
    elf.replace(0, 6, std::string("\177ELF\2\1", 6));
    elf[32] = 64;   // e_phoff
    elf[54] = 56;   // e_phentsize
    elf[56] = 1;    // e_phnum
    elf[64] = 4;    // PT_NOTE
    elf[72] = 120;  // p_offset
    elf[96] = static_cast<char>(notes.size());
    return elf + notes;
  }
  void Sysctl(const std::string& name, const std::string& value) const {
    tree.Write("proc/sys/kernel/" + name, value + "\n");
  }
  void Unprivileged() const { tree.Write("proc/self/status", kNoCapability); }
  void WithoutCounters() {
    kernel.Refuse([](const FakeRequest& r) { return r.attr.type == PERF_TYPE_HARDWARE; }, ENOENT);
  }
  std::string Find(const std::string& name) {
    const MachineCheck check = CheckMachine(options, &kernel);
    verdict = check.verdict();
    for (const CheckFinding& finding : check.findings) {
      if (finding.name == name) return ::testing::PrintToString(finding);
    }
    return "(absent)";
  }

  const std::string kNotes{"\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\xab\xcd\xef\1", 20};
  TempTree tree;
  FakePerfKernel kernel{{.cpus = 4}};
  CheckOptions options;
  CheckVerdict verdict = CheckVerdict::kMissing;
};

TEST_F(MachineCheckTest, AMachineWhereNothingIsWrong) {
  const MachineCheck check = CheckMachine(options, &kernel);
  std::vector<std::string> lines;
  for (const CheckFinding& finding : check.findings) lines.push_back(::testing::PrintToString(finding));
  EXPECT_THAT(
      lines,
      ElementsAre(
          "event OK: cycles, every 501 367 events, precise_ip 3 |  | ", "interrupt OK: NMI |  | ",
          "nmi_watchdog OK: on | It holds one hardware counter of each CPU. | Where counters are short: "
          "ksamp record "
          "--nmi-watchdog=off frees it for that recording.",
          "perf_event_paranoid OK: 2, which does not bind this user (CAP_PERFMON or CAP_SYS_ADMIN) |  | ",
          "capabilities OK: CAP_PERFMON, CAP_SYSLOG, CAP_IPC_LOCK, CAP_SYS_PTRACE |  | ",
          "seccomp OK: no filter |  | ", "kernel_symbols OK: 2 (kernel.kptr_restrict = 1) |  | ",
          StrCat("kernel_debug_symbols OK: ", tree.Path("root/usr/lib/debug/boot/vmlinux-6.1.0-test"),
                 " |  | "),
          StrCat("tracefs OK: ", tree.Path("sys/kernel/tracing/events"), " |  | "),
          "locked_memory OK: no limit for this user |  | ",
          "open_files OK: 72 needed for 4 CPUs, 1 024 allowed |  | ",
          "sample_rate OK: at most 100 000 Hz, lowered where sampling takes over 25 % of a CPU |  | "));
  EXPECT_TRUE(check.can_sample);
  EXPECT_EQ(check.verdict(), CheckVerdict::kFine);
  EXPECT_EQ(kernel.open_events(), 0u);
}

TEST_F(MachineCheckTest, WithoutCountersTheTimerIsNamedWithItsLoss) {
  WithoutCounters();
  EXPECT_THAT(Find("event"),
              AllOf(StartsWith("event degraded: cpu-clock, every 250 689 ns | cycles: this machine has "
                               "no hardware counters"),
                    EndsWith("by timer instead. | ")));
  EXPECT_THAT(Find("interrupt"),
              StartsWith("interrupt degraded: timer | Kernel code that runs with interrupts disabled"));
  EXPECT_THAT(Find("nmi_watchdog"), StartsWith("nmi_watchdog degraded: on | "));
  EXPECT_EQ(verdict, CheckVerdict::kDegraded);
}

TEST_F(MachineCheckTest, OnArmTheInterruptDependsOnTheBootLine) {
  options.arch = "aarch64";
  EXPECT_THAT(Find("interrupt"), AllOf(StartsWith("interrupt degraded: an ordinary interrupt | "),
                                       EndsWith("boot with irqchip.gicv3_pseudo_nmi=1.")));
  tree.Write("proc/cmdline", "quiet irqchip.gicv3_pseudo_nmi=1\n");
  EXPECT_EQ(Find("interrupt"), "interrupt OK: NMI (by interrupt priority) |  | ");
}

TEST_F(MachineCheckTest, WhoMayNotWatchCpusMayStillWatchTheirOwn) {
  Unprivileged();
  kernel.Refuse([](const FakeRequest& r) { return r.pid == -1 || !r.attr.exclude_kernel; }, EACCES);
  EXPECT_THAT(
      Find("event"),
      AllOf(StartsWith("event degraded: cycles:u, every "),
            HasSubstr("Only commands that ksamp starts can be sampled, not the whole machine: open cycles")));
  EXPECT_THAT(
      Find("perf_event_paranoid"),
      StartsWith("perf_event_paranoid degraded: 2 | This user may sample processes of their own only, and "));
  EXPECT_EQ(verdict, CheckVerdict::kDegraded);
}

TEST_F(MachineCheckTest, WhereNothingOpensNothingCanBeSampled) {
  Unprivileged();
  Sysctl("perf_event_paranoid", "3");
  kernel.Refuse([](const FakeRequest&) { return true; }, EACCES);
  EXPECT_THAT(Find("event"), StartsWith("event missing: open cycles"));
  EXPECT_EQ(verdict, CheckVerdict::kMissing);
  EXPECT_EQ(Find("interrupt"), "(absent)");
  EXPECT_THAT(Find("perf_event_paranoid"), StartsWith("perf_event_paranoid missing: 3 | "));
}

TEST_F(MachineCheckTest, ParanoidBindsOnlyTheUnprivileged) {
  Unprivileged();
  const std::map<std::string, std::string> expected = {{"-1", "perf_event_paranoid OK: -1 |"},
                                                       {"0", "perf_event_paranoid OK: 0 |"},
                                                       {"1", "perf_event_paranoid degraded: 1 |"},
                                                       {"3", "perf_event_paranoid degraded: 3 |"}};
  for (const auto& [value, finding] : expected) {
    Sysctl("perf_event_paranoid", value);
    EXPECT_THAT(Find("perf_event_paranoid"), StartsWith(finding));
  }
}

TEST_F(MachineCheckTest, ASeccompFilterIsBlamedOnlyWhereItRefuses) {
  tree.Write("proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\nSeccomp:\t2\n");
  EXPECT_EQ(Find("seccomp"), "seccomp OK: a filter, which lets perf events through |  | ");
  kernel.Refuse([](const FakeRequest&) { return true; }, EPERM);
  EXPECT_THAT(Find("seccomp"), StartsWith("seccomp missing: a filter, which refuses perf_event_open | "));
}

TEST_F(MachineCheckTest, MissingCapabilitiesSayWhatTheyWouldGive) {
  // CAP_SYS_ADMIN (21) and CAP_IPC_LOCK (14).
  tree.Write("proc/self/status", "Name:\tx\nCapEff:\t0000000000204000\n");
  EXPECT_EQ(
      Find("capabilities"),
      "capabilities degraded: CAP_SYS_ADMIN, CAP_IPC_LOCK | Without CAP_SYSLOG: kernel.kptr_restrict = 1 "
      "hides "
      "the kernel's symbols.\nWithout CAP_SYS_PTRACE: What processes of other users had mapped before the "
      "recording stays unknown. | Run ksamp as root, or as root: setcap cap_syslog,cap_sys_ptrace+ep "
      "$(command "
      "-v ksamp).");
  Unprivileged();
  EXPECT_THAT(Find("capabilities"),
              StartsWith("capabilities degraded: none of use here | Without CAP_PERFMON: "));
}

TEST_F(MachineCheckTest, HiddenKernelSymbols) {
  tree.Write("proc/kallsyms", "0000000000000000 T _text\n");
  EXPECT_EQ(Find("kernel_symbols"),
            "kernel_symbols missing: hidden (kernel.kptr_restrict = 1) | Kernel samples stay without names. "
            "| Run ksamp "
            "as root, or give it CAP_SYSLOG; or as root: echo 0 > /proc/sys/kernel/kptr_restrict (with "
            "perf_event_paranoid at 1 or below).");
  Sysctl("kptr_restrict", "0");
  EXPECT_THAT(Find("kernel_symbols"), EndsWith("or as root: echo 1 > /proc/sys/kernel/perf_event_paranoid."));
  Sysctl("kptr_restrict", "2");
  EXPECT_THAT(Find("kernel_symbols"),
              EndsWith("echo 1 > /proc/sys/kernel/kptr_restrict, and run ksamp as root."));
  tree.Write("proc/kallsyms", "");
  EXPECT_THAT(Find("kernel_symbols"), StartsWith("kernel_symbols missing: /proc/kallsyms is empty | "));
}

TEST_F(MachineCheckTest, AVmlinuxIsBelievedByItsBuildId) {
  tree.Write("root/usr/lib/debug/.build-id/ab/cdef01.debug", ElfWith(kNotes));
  EXPECT_THAT(Find("kernel_debug_symbols"),
              HasSubstr("OK: " + tree.Path("root/usr/lib/debug/.build-id/ab/cdef01.debug")));
  tree.Write("root/usr/lib/debug/.build-id/ab/cdef01.debug", "no ELF");
  std::string other = kNotes;
  other.back() = '\2';
  tree.Write("root/usr/lib/debug/boot/vmlinux-6.1.0-test", ElfWith(other));
  EXPECT_THAT(Find("kernel_debug_symbols"), StartsWith("kernel_debug_symbols degraded: of another kernel: "));
  Sysctl("osrelease", "6.2.0-test");
  tree.Write("sys/kernel/notes", "");
  EXPECT_THAT(Find("kernel_debug_symbols"), AllOf(StartsWith("kernel_debug_symbols degraded: not found | "),
                                                  HasSubstr("linux-image-6.2.0-test-dbg (Debian)")));
}

TEST_F(MachineCheckTest, TracefsAtItsOldPlaceIsFound) {
  options.sys_root = tree.Path("sys2");
  EXPECT_THAT(Find("tracefs"), StartsWith("tracefs missing: not mounted | "));
  tree.Write("sys2/kernel/debug/tracing/events/sched/enable", "0\n");
  EXPECT_EQ(Find("tracefs"), StrCat("tracefs OK: ", tree.Path("sys2/kernel/debug/tracing/events"), " |  | "));
}

TEST_F(MachineCheckTest, LockedMemoryBindsRings) {
  Unprivileged();
  options.locked_memory = 0;
  EXPECT_EQ(Find("locked_memory"), "locked_memory OK: 1 040 KiB needed, 2 064 KiB allowed |  | ");
  Sysctl("perf_event_mlock_kb", "64");
  EXPECT_THAT(
      Find("locked_memory"),
      AllOf(StartsWith("locked_memory degraded: 1 040 KiB needed, 256 KiB allowed | Rings get smaller"),
            HasSubstr("echo 261 > /proc/sys/kernel/perf_event_mlock_kb")));
  Sysctl("perf_event_paranoid", "-1");
  EXPECT_EQ(Find("locked_memory"), "locked_memory OK: no limit for this user |  | ");
}

TEST_F(MachineCheckTest, OpenFilesAgainstCpus) {
  tree.Write("sys/devices/system/cpu/online", "0-511\n");
  EXPECT_THAT(
      Find("open_files"),
      AllOf(StartsWith(
                "open_files missing: 1 088 needed for 512 CPUs, 1 024 allowed | The whole machine cannot"),
            EndsWith("ulimit -n 65536.")));
  EXPECT_EQ(verdict, CheckVerdict::kDegraded);
}

TEST_F(MachineCheckTest, ARateTheKernelLowered) {
  Sysctl("perf_event_max_sample_rate", "1000");
  Sysctl("perf_cpu_time_max_percent", "0");
  EXPECT_THAT(Find("sample_rate"),
              StartsWith("sample_rate degraded: at most 1 000 Hz | ksamp samples at 3 989 Hz: "));
}

TEST_F(MachineCheckTest, AMachineThatTellsNothingIsStillChecked) {
  options.proc_root = options.sys_root = "/nonexistent";
  const MachineCheck check = CheckMachine(options, &kernel);
  EXPECT_TRUE(check.can_sample);
  EXPECT_EQ(check.findings.size(), 12u);
  EXPECT_EQ(check.verdict(), CheckVerdict::kDegraded);
}

// The real thing.
TEST(CheckMachine, AnswersHere) {
  const MachineCheck check = CheckMachine({});
  ASSERT_GE(check.findings.size(), 11u);
  EXPECT_EQ(check.findings.front().name, "event");
  EXPECT_EQ(check.findings.front().verdict == CheckVerdict::kMissing, !check.can_sample);
}

}  // namespace
}  // namespace ksamp
