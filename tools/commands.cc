// SPDX-License-Identifier: Apache-2.0
#include "tools/commands.h"

namespace ksamp {

std::vector<std::unique_ptr<Command>> AllCommands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(MakeRecordCommand());
  commands.push_back(MakeReportCommand());
  commands.push_back(MakeStatCommand());
  commands.push_back(MakeListCommand());
  commands.push_back(MakeCheckCommand());
  commands.push_back(MakeDumpCommand());
  commands.push_back(MakeRecoverCommand());
  return commands;
}

int RunKsamp(const std::vector<std::string>& args, World& world) {
  return RunKsampWith(AllCommands(), args, world);
}

}  // namespace ksamp
