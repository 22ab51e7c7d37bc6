// SPDX-License-Identifier: Apache-2.0
// Command: one sub-command. An options struct, AddOptions (only CLI11 calls), Run (only library calls).
//
// Adding one: tools/NAME_command.cc with MakeNameCommand(), a line in tools/commands.cc, a man page, a test.
#ifndef KSAMP_TOOLS_COMMAND_H_
#define KSAMP_TOOLS_COMMAND_H_

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/world.h"

namespace CLI {
class App;
}

namespace ksamp {

// Exit codes (design §6).
inline constexpr int kExitShown = 0;
inline constexpr int kExitDamaged = 1;  // shown, but part of the input is missing
inline constexpr int kExitNothing = 2;  // nothing shown
inline constexpr int kExitUsage = 64;
inline constexpr int kExitOwnFailure =
    125;  // record, stat: ksamp itself failed; 126 not executable, 127 not found

class Command {
 public:
  virtual ~Command() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;
  // Examples for the end of --help, lines without indentation.
  virtual std::string_view examples() const { return ""; }
  // True for record, stat …: the first word that is no option starts a command line to run (decision 1). Only
  // what stands before it reaches CLI11; the rest is handed to Run.
  virtual bool takes_command() const { return false; }
  // Binds options to members of the command; called once.
  virtual void AddOptions(CLI::App& app) = 0;
  // `command_words`: what stood behind the options, for takes_command(). Returns the exit code.
  virtual int Run(World& world, const std::vector<std::string>& command_words) = 0;
};

// All commands, in the order of --help.
std::vector<std::unique_ptr<Command>> AllCommands();

// The whole tool: `args` without argv[0]. Parses, runs, turns failures into messages and exit codes.
int RunKsamp(const std::vector<std::string>& args, World& world);
// The same with a table of commands of one's own; RunKsamp's is AllCommands().
int RunKsampWith(const std::vector<std::unique_ptr<Command>>& commands, const std::vector<std::string>& args,
                 World& world);

}  // namespace ksamp

#endif  // KSAMP_TOOLS_COMMAND_H_
