// SPDX-License-Identifier: Apache-2.0
// One function per finding, each from the same facts, which are read once.
//
// Unlike elsewhere the remedies stand here and not in the tool: they are the point of a check, and follow
// from the same conditions as its verdicts.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include "ksamp/check.h"
#include "lib/base/byte_reader.h"
#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "lib/event/attr_builder.h"
#include "lib/os/event_catalog.h"
#include "lib/os/proc_fs.h"
#include "lib/os/sys_fs.h"
#include "lib/recorder/build_id_cache.h"
#include "lib/recorder/event_ladder.h"
#include "lib/recorder/nmi_watchdog.h"
#include "lib/recorder/open_failure.h"
#include "lib/recorder/session.h"

namespace ksamp {
namespace {

constexpr size_t kMaxKallsymsBytes = size_t{256} << 20;
constexpr uint64_t kFilesOfOurOwn = 64;
constexpr uint64_t kFilesPerCpu = 2;  // the event, and the one that tells of mappings

// What the findings are drawn from.
struct Machine {
  const CheckOptions& options;
  PerfKernel& kernel;
  PerfLimits limits;
  OpenCircumstances around;
  std::vector<int> cpus;
  std::string arch, release;
  absl::StatusOr<EventPlan> plan = absl::UnknownError("not planned yet");
  bool own_commands_only = false;
  absl::Status refusal;  // of whole CPUs

  bool Has(int capability) const { return (around.capabilities >> capability & 1) != 0; }
  const PlannedEvent* event() const { return plan.ok() ? &plan->groups.front().front() : nullptr; }
  bool by_hardware() const { return event() != nullptr && event()->attr.type != PERF_TYPE_SOFTWARE; }
};

std::string FirstLine(std::string text) {
  if (const size_t newline = text.find('\n'); newline != std::string::npos) text.resize(newline);
  return text;
}

std::string ReadLine(const std::string& path) {
  return FirstLine(ReadFile(path).value_or(""));
}

void PlanEvent(Machine& machine) {
  const std::unique_ptr<EventCatalog> catalog = SysfsEventCatalog(machine.options.sys_root);
  LadderContext context;
  context.kernel = &machine.kernel;
  context.catalog = catalog.get();
  context.around = machine.around;
  context.around.whole_cpus = true;
  context.cpu = machine.cpus.front();
  context.cpu_hz = CpuFrequencyHz(machine.options.proc_root, machine.options.sys_root, context.cpu);
  context.amd = ReadMachineFacts(machine.options.proc_root, machine.options.sys_root)
                    .cpu_id.starts_with("AuthenticAMD");
  machine.plan = PlanEvents({}, context);
  if (machine.plan.ok()) return;
  machine.refusal = machine.plan.status();
  context.around.whole_cpus = false;
  context.pid = getpid();
  if (absl::StatusOr<EventPlan> plan = PlanEvents({}, context); plan.ok()) {
    machine.plan = std::move(plan);
    machine.own_commands_only = true;
  }
}

Machine ReadMachine(const CheckOptions& options, PerfKernel& kernel) {
  const std::string& proc = options.proc_root;
  Machine machine{.options = options, .kernel = kernel};
  machine.limits = ReadPerfLimits(proc);
  machine.around = ReadOpenCircumstances(proc);
  machine.cpus = OnlineCpus(options.sys_root).value_or(std::vector<int>());
  if (machine.cpus.empty()) machine.cpus = {0};
  machine.arch = options.arch.empty() ? ReadMachineFacts(proc, options.sys_root).arch : options.arch;
  machine.release = ReadLine(proc + "/sys/kernel/osrelease");
  PlanEvent(machine);
  return machine;
}

// ---- What is sampled

CheckFinding CheckEvent(const Machine& machine) {
  CheckFinding finding{.name = "event"};
  if (!machine.plan.ok()) {
    finding.verdict = CheckVerdict::kMissing;
    finding.found = MessageOf(machine.plan.status());
    finding.meaning = "Nothing can be sampled here.";
    finding.failure = FailureOf(machine.plan.status());
    return finding;
  }
  const PlannedEvent& event = *machine.event();
  finding.found = DescribeSampling(event);
  if (event.attr.precise_ip > 0)
    StrAppend(&finding.found, ", precise_ip ", static_cast<int>(event.attr.precise_ip));
  std::vector<std::string> lines;
  if (machine.own_commands_only) {
    lines.push_back("Only commands that ksamp starts can be sampled, not the whole machine: " +
                    MessageOf(machine.refusal) + ".");
    finding.failure = FailureOf(machine.refusal);
  }
  // The first line says what happened; what a timer loses is the next finding's matter.
  for (const std::string& note : machine.plan->notes) lines.push_back(FirstLine(note));
  for (const std::string& line : lines)
    StrAppend(&finding.meaning, finding.meaning.empty() ? "" : "\n", line);
  if (!lines.empty()) finding.verdict = CheckVerdict::kDegraded;
  return finding;
}

bool HasPseudoNmi(const Machine& machine) {
  const std::string line = StrCat(" ", ReadLine(machine.options.proc_root + "/cmdline"), " ");
  return line.find(" irqchip.gicv3_pseudo_nmi=1 ") != std::string::npos;
}

CheckFinding CheckInterrupt(const Machine& machine) {
  CheckFinding finding{.name = "interrupt"};
  const bool arm = machine.arch == "aarch64";
  const bool nmi = machine.arch == "x86_64" || machine.arch.starts_with("i") ||
                   machine.arch.starts_with("ppc64") || (arm && HasPseudoNmi(machine));
  if (machine.by_hardware() && nmi) {
    finding.found = arm ? "NMI (by interrupt priority)" : "NMI";
    return finding;
  }
  finding.verdict = CheckVerdict::kDegraded;
  finding.found = machine.by_hardware() ? "an ordinary interrupt" : "timer";
  finding.meaning = "Kernel code that runs with interrupts disabled shows up where it enables them again.";
  if (machine.by_hardware() && arm) finding.remedy = "With a GICv3: boot with irqchip.gicv3_pseudo_nmi=1.";
  if (!machine.by_hardware())
    finding.remedy =
        "Where this is a virtual machine: give it the hardware counters (KVM: -cpu host,pmu=on).";
  return finding;
}

CheckFinding CheckNmiWatchdog(const Machine& machine) {
  CheckFinding finding{.name = "nmi_watchdog"};
  if (machine.options.repair) {
    const absl::StatusOr<bool> repaired =
        RepairNmiWatchdog({.proc_root = machine.options.proc_root, .run_dir = "/run"});
    if (repaired.ok() && *repaired) {
      finding.found = "was left off by a recording that was killed, and is put back";
      return finding;
    }
  }
  if (!machine.limits.nmi_watchdog) {
    finding.found = "off";
    return finding;
  }
  finding.found = "on";
  finding.meaning = "It holds one hardware counter of each CPU.";
  finding.remedy = "Where counters are short: ksamp record --nmi-watchdog=off frees it for that recording.";
  if (!machine.by_hardware()) finding.verdict = CheckVerdict::kDegraded;
  return finding;
}

CheckFinding CheckParanoid(const Machine& machine) {
  CheckFinding finding{.name = "perf_event_paranoid"};
  if (!machine.limits.paranoid) {
    finding.verdict = machine.plan.ok() ? CheckVerdict::kFine : CheckVerdict::kMissing;
    finding.found = "not there";
    if (!machine.plan.ok())
      finding.meaning = "The kernel was built without perf events, or /proc is not mounted.";
    return finding;
  }
  const int paranoid = *machine.limits.paranoid;
  finding.found = std::to_string(paranoid);
  if (machine.around.may_profile) {
    if (paranoid > -1) finding.found += ", which does not bind this user (CAP_PERFMON or CAP_SYS_ADMIN)";
    return finding;
  }
  if (paranoid <= 0) return finding;
  // What a level above 2 forbids depends on the kernel: upstream nothing more.
  const bool nothing = FailureOf(machine.plan.status()) == OpenFailure::kParanoid;
  finding.verdict = nothing ? CheckVerdict::kMissing : CheckVerdict::kDegraded;
  finding.meaning = nothing ? "This user may open no event at all."
                    : paranoid >= 2
                        ? "This user may sample processes of their own only, and only in user space."
                        : "This user may sample processes of their own only.";
  finding.remedy = "As root: echo -1 > /proc/sys/kernel/perf_event_paranoid, or give ksamp CAP_PERFMON.";
  return finding;
}

// ---- What samples are named by

// kernel/kallsyms.c, kallsyms_show_value(): 0 shows them to whoever may profile the kernel, 1 to CAP_SYSLOG,
// 2 to nobody.
const char* RemedyForHiddenSymbols(const std::string& restrict) {
  if (restrict == "2") return "As root: echo 1 > /proc/sys/kernel/kptr_restrict, and run ksamp as root.";
  if (restrict == "0")
    return "Run ksamp as root, or give it CAP_SYSLOG; or as root: echo 1 > "
           "/proc/sys/kernel/perf_event_paranoid.";
  return "Run ksamp as root, or give it CAP_SYSLOG; or as root: echo 0 > /proc/sys/kernel/kptr_restrict "
         "(with perf_event_paranoid at 1 or below).";
}

CheckFinding CheckKernelSymbols(const Machine& machine) {
  CheckFinding finding{.name = "kernel_symbols"};
  const std::string restrict =
      machine.limits.kptr_restrict ? std::to_string(*machine.limits.kptr_restrict) : "unknown";
  const absl::StatusOr<std::string> text =
      ReadFile(machine.options.proc_root + "/kallsyms", kMaxKallsymsBytes);
  uint64_t symbols = 0, with_address = 0;
  for (std::string_view rest = text.ok() ? *text : std::string_view(); !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    KallsymsLine symbol;
    if (!ParseKallsymsLine(line, &symbol)) continue;
    ++symbols;
    if (symbol.address != 0) ++with_address;
  }
  if (with_address > 0) {
    finding.found = StrCat(GroupDigits(symbols), " (kernel.kptr_restrict = ", restrict, ")");
    return finding;
  }
  finding.verdict = CheckVerdict::kMissing;
  finding.meaning = "Kernel samples stay without names.";
  if (symbols == 0) {
    finding.found = text.ok() ? "/proc/kallsyms is empty" : MessageOf(text.status());
    finding.remedy = "The kernel needs CONFIG_KALLSYMS.";
    return finding;
  }
  finding.found = StrCat("hidden (kernel.kptr_restrict = ", restrict, ")");
  finding.remedy = RemedyForHiddenSymbols(restrict);
  return finding;
}

std::string HexOf(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) text.append({kDigits[byte >> 4], kDigits[byte & 15]});
  return text;
}

// "vmlinux with DWARF" at the places distributions put it; believed by its build-id.
CheckFinding CheckKernelDebugSymbols(const Machine& machine) {
  CheckFinding finding{.name = "kernel_debug_symbols"};
  const std::string& root = machine.options.file_root;
  const std::string notes = ReadFile(machine.options.sys_root + "/kernel/notes").value_or("");
  const StoredBuildId build_id = FindBuildIdNote(AsBytes(notes));
  std::vector<std::string> places;
  if (const std::string id = HexOf(build_id.view()); id.size() > 2)
    places.push_back(StrCat(root, "/usr/lib/debug/.build-id/", id.substr(0, 2), "/", id.substr(2), ".debug"));
  if (!machine.release.empty()) {
    places.push_back(StrCat(root, "/usr/lib/debug/boot/vmlinux-", machine.release));
    places.push_back(StrCat(root, "/usr/lib/debug/lib/modules/", machine.release, "/vmlinux"));
    places.push_back(StrCat(root, "/lib/modules/", machine.release, "/build/vmlinux"));
    places.push_back(StrCat(root, "/boot/vmlinux-", machine.release));
  }
  std::string other;
  for (const std::string& place : places) {
    const UniqueFd fd(open(place.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!fd) continue;
    const StoredBuildId found = ReadElfBuildId(fd.get());
    if (found.size > 0 && std::ranges::equal(found.view(), build_id.view())) {
      finding.found = place;
      return finding;
    }
    StrAppend(&other, other.empty() ? "" : ", ", place);
  }
  finding.verdict = CheckVerdict::kDegraded;
  finding.found = other.empty() ? "not found" : StrCat("of another kernel: ", other);
  finding.meaning = "Kernel samples get function names, but no source lines and no inlined functions.";
  finding.remedy =
      StrCat("Install them: linux-image-", machine.release.empty() ? "$(uname -r)" : machine.release,
             "-dbg (Debian), -dbgsym (Ubuntu), kernel-debuginfo (Fedora, RHEL).");
  return finding;
}

CheckFinding CheckTracefs(const Machine& machine) {
  CheckFinding finding{.name = "tracefs"};
  bool forbidden = false;
  for (const char* folder : {"/kernel/tracing/events", "/kernel/debug/tracing/events"}) {
    std::error_code error;
    const std::filesystem::directory_iterator events(machine.options.sys_root + folder, error);
    if (!error && events != std::filesystem::directory_iterator()) {
      finding.found = machine.options.sys_root + folder;
      return finding;
    }
    forbidden |= error == std::errc::permission_denied;
  }
  finding.verdict = CheckVerdict::kMissing;
  finding.found = forbidden ? "may not be read by this user" : "not mounted";
  finding.meaning = "Tracepoints (-e sched:sched_switch) cannot be recorded; all else can.";
  finding.remedy = forbidden ? "Run ksamp as root, or as root: chmod -R o+rX /sys/kernel/tracing."
                             : "As root: mount -t tracefs nodev /sys/kernel/tracing.";
  return finding;
}

// ---- What this process may and how much

constexpr int kCapIpcLock = 14, kCapSysPtrace = 19, kCapSysAdmin = 21, kCapSyslog = 34, kCapPerfmon = 38;

struct CapabilityUse {
  int number;
  std::string_view name, without;
};
constexpr CapabilityUse kCapabilities[] = {
    {kCapPerfmon, "CAP_PERFMON", "kernel.perf_event_paranoid binds this user."},
    {kCapSyslog, "CAP_SYSLOG", "kernel.kptr_restrict = 1 hides the kernel's symbols."},
    {kCapIpcLock, "CAP_IPC_LOCK", "The limits of locked memory bind the size of the rings."},
    {kCapSysPtrace, "CAP_SYS_PTRACE",
     "What processes of other users had mapped before the recording stays unknown."},
};

CheckFinding CheckCapabilities(const Machine& machine) {
  CheckFinding finding{.name = "capabilities"};
  std::string wanted;
  for (const CapabilityUse& use : kCapabilities) {
    // CAP_SYS_ADMIN still stands for CAP_PERFMON.
    const bool by_admin = use.number == kCapPerfmon && machine.Has(kCapSysAdmin);
    if (machine.Has(use.number) || by_admin) {
      StrAppend(&finding.found, finding.found.empty() ? "" : ", ",
                machine.Has(use.number) ? use.name : "CAP_SYS_ADMIN");
      continue;
    }
    StrAppend(&finding.meaning, finding.meaning.empty() ? "" : "\n", "Without ", use.name, ": ", use.without);
    StrAppend(&wanted, wanted.empty() ? "" : ",", use.name);
  }
  if (finding.found.empty()) finding.found = "none of use here";
  if (wanted.empty()) return finding;
  std::transform(wanted.begin(), wanted.end(), wanted.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  finding.verdict = CheckVerdict::kDegraded;
  finding.remedy = StrCat("Run ksamp as root, or as root: setcap ", wanted, "+ep $(command -v ksamp).");
  return finding;
}

CheckFinding CheckSeccomp(const Machine& machine) {
  CheckFinding finding{.name = "seccomp"};
  finding.found = machine.around.seccomp_filter ? "a filter, which lets perf events through" : "no filter";
  if (FailureOf(machine.plan.status()) != OpenFailure::kSeccomp) return finding;
  finding.verdict = CheckVerdict::kMissing;
  finding.found = "a filter, which refuses perf_event_open";
  finding.meaning = "It is a container's default profile.";
  finding.remedy =
      "Run ksamp outside the container, or the container with a profile that allows perf_event_open.";
  return finding;
}

CheckFinding CheckLockedMemory(const Machine& machine) {
  CheckFinding finding{.name = "locked_memory"};
  if (machine.Has(kCapIpcLock) || machine.limits.paranoid.value_or(2) < 0) {
    finding.found = "no limit for this user";
    return finding;
  }
  const uint64_t cpus = machine.cpus.size();
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t ring = RingBytesFor(machine.plan.ok() ? *machine.plan : EventPlan{});
  const uint64_t needed_kb = (ring + page) * cpus / 1024;
  const uint64_t process = machine.options.locked_memory.value_or(LockedMemoryLimit());
  const uint64_t per_cpu_kb = machine.limits.mlock_kb.value_or(516);  // the kernel's own default
  const uint64_t allowed_kb = process == RLIM_INFINITY ? UINT64_MAX : per_cpu_kb * cpus + process / 1024;
  finding.found = StrCat(GroupDigits(needed_kb), " KiB needed, ",
                         allowed_kb == UINT64_MAX ? "no limit" : GroupDigits(allowed_kb) + " KiB allowed");
  if (needed_kb <= allowed_kb) return finding;
  finding.verdict = CheckVerdict::kDegraded;
  finding.meaning = "Rings get smaller, and more samples are lost when ksamp does not run in time.";
  finding.remedy = StrCat("As root: echo ", (ring + page) / 1024 + 1,
                          " > /proc/sys/kernel/perf_event_mlock_kb; or ulimit -l unlimited.");
  return finding;
}

CheckFinding CheckOpenFiles(const Machine& machine) {
  CheckFinding finding{.name = "open_files"};
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  // Recordings raise the soft limit to the hard one by themselves.
  const uint64_t allowed = machine.options.open_files.value_or(limit.rlim_max);
  const uint64_t needed = machine.cpus.size() * kFilesPerCpu + kFilesOfOurOwn;
  finding.found = StrCat(GroupDigits(needed), " needed for ", machine.cpus.size(),
                         machine.cpus.size() == 1 ? " CPU, " : " CPUs, ", GroupDigits(allowed), " allowed");
  if (needed <= allowed) return finding;
  finding.verdict = CheckVerdict::kMissing;
  finding.meaning = "The whole machine cannot be recorded; some of its CPUs (-C) can.";
  finding.remedy = StrCat("Raise the limit: ulimit -n ", std::max<uint64_t>(65'536, needed * 2), ".");
  return finding;
}

CheckFinding CheckSampleRate(const Machine& machine) {
  CheckFinding finding{.name = "sample_rate"};
  const std::optional<uint64_t> rate = machine.limits.max_sample_rate;
  if (!rate) {
    finding.found = "the kernel names no limit";
    return finding;
  }
  finding.found = StrCat("at most ", GroupDigits(*rate), " Hz");
  const uint64_t percent = machine.limits.cpu_time_max_percent.value_or(0);
  if (percent > 0 && percent < 100)
    StrAppend(&finding.found, ", lowered where sampling takes over ", percent, " % of a CPU");
  if (*rate >= kDefaultRateHz) return finding;
  finding.verdict = CheckVerdict::kDegraded;
  finding.meaning = StrCat("ksamp samples at ", GroupDigits(kDefaultRateHz),
                           " Hz: the kernel will throttle it. It may have lowered the limit itself, "
                           "because samples took long.");
  finding.remedy =
      "As root: echo 0 > /proc/sys/kernel/perf_cpu_time_max_percent; "
      "echo 100000 > /proc/sys/kernel/perf_event_max_sample_rate.";
  return finding;
}

}  // namespace

CheckVerdict MachineCheck::verdict() const {
  if (!can_sample) return CheckVerdict::kMissing;
  const bool fine = std::all_of(findings.begin(), findings.end(), [](const CheckFinding& finding) {
    return finding.verdict == CheckVerdict::kFine;
  });
  return fine ? CheckVerdict::kFine : CheckVerdict::kDegraded;
}

MachineCheck CheckMachine(const CheckOptions& options, PerfKernel* kernel) {
  const Machine machine = ReadMachine(options, kernel == nullptr ? LinuxPerfKernel() : *kernel);
  MachineCheck check;
  check.can_sample = machine.plan.ok();
  check.findings.push_back(CheckEvent(machine));
  if (check.can_sample) check.findings.push_back(CheckInterrupt(machine));
  for (const auto& one :
       {CheckNmiWatchdog, CheckParanoid, CheckCapabilities, CheckSeccomp, CheckKernelSymbols,
        CheckKernelDebugSymbols, CheckTracefs, CheckLockedMemory, CheckOpenFiles, CheckSampleRate})
    check.findings.push_back(one(machine));
  return check;
}

}  // namespace ksamp
