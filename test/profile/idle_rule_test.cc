// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/idle_rule.h"

#include <gtest/gtest.h>

namespace ksamp {
namespace {

TEST(IdleRuleTest, FunctionsThatHaltAndTheLoopAroundThem) {
  for (const char* name : {"default_idle",
                           "default_idle_call",
                           "native_safe_halt",
                           "pv_native_safe_halt",
                           "xen_safe_halt",
                           "acpi_safe_halt",
                           "acpi_idle_do_entry",
                           "acpi_idle_enter",
                           "mwait_idle",
                           "mwait_idle_with_hints.constprop.0",
                           "intel_idle",
                           "intel_idle_ibrs",
                           "arch_cpu_idle",
                           "arch_cpu_idle_enter",
                           "cpu_do_idle",
                           "cpu_idle_poll",
                           "cpu_idle_poll.isra.0",
                           "do_idle",
                           "poll_idle",
                           "cpu_startup_entry",
                           "psci_enter_idle_state"})
    EXPECT_TRUE(IsIdleFunction(name)) << name;
}

TEST(IdleRuleTest, WorkDoneInTheIdleTaskIsWork) {
  for (const char* name : {"", "net_rx_action", "idle_cpu", "tcp_v4_rcv", "__do_softirq", "wake_up_idle_cpu",
                           "finish_task_switch", "my_default_idle", "rcu_idle_enter", "tick_nohz_idle_exit"})
    EXPECT_FALSE(IsIdleFunction(name)) << name;
}

}  // namespace
}  // namespace ksamp
