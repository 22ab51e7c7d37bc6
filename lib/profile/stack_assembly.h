// SPDX-License-Identifier: Apache-2.0
// What several counters of stacks counted -> one Profile, the same whatever the number of threads.
//
// As AssembleProfile (lib/profile/profile_assembly.h), and fills stack_nodes and stacks besides: nodes by
// depth, then by their callers, then by location. Entries are the stacks' leaves.
#ifndef KSAMP_LIB_PROFILE_STACK_ASSEMBLY_H_
#define KSAMP_LIB_PROFILE_STACK_ASSEMBLY_H_

#include <memory>
#include <vector>

#include "ksamp/profile.h"
#include "lib/process/process_table.h"
#include "lib/profile/stack_counter.h"

namespace ksamp {

void AssembleStacks(const std::vector<std::unique_ptr<StackCounter>>& counters, const ProcessTable& table,
                    Profile& profile);

}  // namespace ksamp

#endif  // KSAMP_LIB_PROFILE_STACK_ASSEMBLY_H_
