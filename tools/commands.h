// SPDX-License-Identifier: Apache-2.0
// One maker per sub-command; each is defined in tools/NAME_command.cc. A new one also gets its line in
// AllCommands() (tools/commands.cc).
#ifndef KSAMP_TOOLS_COMMANDS_H_
#define KSAMP_TOOLS_COMMANDS_H_

#include <memory>

#include "tools/command.h"

namespace ksamp {

std::unique_ptr<Command> MakeCheckCommand();
std::unique_ptr<Command> MakeReportCommand();
std::unique_ptr<Command> MakeRecordCommand();
std::unique_ptr<Command> MakeStatCommand();
std::unique_ptr<Command> MakeListCommand();
std::unique_ptr<Command> MakeDumpCommand();
std::unique_ptr<Command> MakeRecoverCommand();

}  // namespace ksamp

#endif  // KSAMP_TOOLS_COMMANDS_H_
