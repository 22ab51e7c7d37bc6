// SPDX-License-Identifier: Apache-2.0
// Which kernel functions are a CPU doing nothing (design D6).
//
// A timer also ticks on a halted CPU. Such a sample's leaf is the function that halts, or the loop around it;
// interrupt and softirq work in the idle task has another leaf and stays. Only names tell: without kernel
// symbols nothing is guessed.
#ifndef KSAMP_LIB_PROFILE_IDLE_RULE_H_
#define KSAMP_LIB_PROFILE_IDLE_RULE_H_

#include <string_view>

namespace ksamp {

// `name` as in kallsyms; the compiler's ".constprop.0" and the like do not matter.
bool IsIdleFunction(std::string_view name);

}  // namespace ksamp

#endif  // KSAMP_LIB_PROFILE_IDLE_RULE_H_
