// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/idle_rule.h"

#include <algorithm>
#include <array>

#include "lib/base/text.h"

namespace ksamp {
namespace {

// kernel/sched/idle.c, drivers/cpuidle, drivers/idle, drivers/acpi/processor_idle.c, arch/*/kernel/process.c,
// arch/x86/{xen,kernel/paravirt,coco}, arch/arm64/kernel/idle.c, arch/powerpc and s390.
constexpr std::array<std::string_view, 29> kIdleFunctions = {"default_idle*",
                                                             "*_safe_halt*",
                                                             "native_halt",
                                                             "acpi_idle_*",
                                                             "mwait_idle*",
                                                             "intel_idle*",
                                                             "acpi_processor_ffh_cstate_enter*",
                                                             "arch_cpu_idle*",
                                                             "cpu_do_idle",
                                                             "cpu_idle_poll*",
                                                             "cpu_idle",
                                                             "cpu_idle_loop",
                                                             "do_idle",
                                                             "poll_idle*",
                                                             "cpu_startup_entry",
                                                             "amd_e400_idle",
                                                             "c1e_idle",
                                                             "cpuidle_enter*",
                                                             "cpuidle_idle_call",
                                                             "call_cpuidle*",
                                                             "enter_idle",
                                                             "psci_enter_idle*",
                                                             "psci_cpu_suspend_enter",
                                                             "arm_cpuidle_*",
                                                             "haltpoll_enter*",
                                                             "default_enter_idle",
                                                             "psw_idle",
                                                             "pseries_dedicated_idle_sleep",
                                                             "snooze_loop"};

}  // namespace

bool IsIdleFunction(std::string_view name) {
  const std::string_view plain = name.substr(0, name.find('.'));
  return std::any_of(kIdleFunctions.begin(), kIdleFunctions.end(),
                     [plain](std::string_view pattern) { return MatchesGlob(pattern, plain); });
}

}  // namespace ksamp
