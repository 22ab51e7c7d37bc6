// SPDX-License-Identifier: Apache-2.0
// The frame of the tool: finds the sub-command, parses its options, runs it. CLI11 only ever sees the options
// of one sub-command, canonical and with its words behind `--` (tools/arguments.h): so an image named like a
// sub-command, or a workload's own options, cannot be mistaken.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <ostream>
#include <span>

#include "ksamp/version.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "tools/arguments.h"
#include "tools/command.h"
#include "tools/diagnostics.h"

namespace ksamp {
namespace {

using Commands = std::vector<std::unique_ptr<Command>>;

void PrintOverview(const Commands& commands, std::ostream& out) {
  out << "ksamp " << KSAMP_VERSION << ": where does this machine spend its time?\n\n"
      << "Usage: ksamp COMMAND [OPTIONS] ...\n\nCommands:\n";
  for (const auto& command : commands) {
    const std::string name(command->name());
    out << "  " << name << std::string(name.size() < 12 ? 12 - name.size() : 1, ' ') << command->summary()
        << "\n";
  }
  out << "\nExample:\n  ksamp record -a sleep 10\n  ksamp report -l | head\n\n"
      << "`ksamp COMMAND --help` tells about one command, `man ksamp-COMMAND` more.\n";
}

std::string ExamplesText(std::string_view examples) {
  if (examples.empty()) return "";
  std::string text = "Examples:\n";
  while (!examples.empty()) {
    const size_t end = std::min(examples.find('\n'), examples.size());
    StrAppend(&text, "  ", examples.substr(0, end), "\n");
    examples.remove_prefix(std::min(end + 1, examples.size()));
  }
  text.pop_back();
  return text;
}

int UsageError(World& world, std::string_view command, std::string_view message) {
  Say(world, StrCat(command, command.empty() ? "" : ": ", message, "\nTry: ksamp ", command,
                    command.empty() ? "" : " ", "--help"));
  return kExitUsage;
}

// What people expect of every tool, set once so that no command has to remember: the last of a repeated
// option counts, and an option that takes a list takes one word at a time.
void ApplyConventions(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0 || option->get_positional()) continue;
    if (option->get_expected_max() > 1) {
      option->allow_extra_args(false);
    } else {
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
  }
}

int RunCommand(Command& command, std::span<const std::string> arguments, World& world) {
  const std::string name(command.name());
  CLI::App app(std::string(command.summary()), "ksamp " + name);
  command.AddOptions(app);
  ApplyConventions(app);
  app.footer(ExamplesText(command.examples()));
  auto split = Split(app, arguments, command.takes_command() ? WordsAre::kCommand : WordsAre::kPositional);
  if (!split.ok()) return UsageError(world, name, MessageOf(split.status()));
  std::vector<std::string> words = std::move(split->options);
  if (!command.takes_command() && !split->words.empty()) {
    words.push_back("--");
    words.insert(words.end(), split->words.begin(), split->words.end());
    split->words.clear();
  }
  std::reverse(words.begin(), words.end());  // CLI11 takes them last first.
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    *world.out << app.help() << std::flush;
    return kExitShown;
  } catch (const CLI::ParseError& error) {
    return UsageError(world, name, error.what());
  }
  return command.Run(world, split->words);
}

int UnknownCommand(const Commands& commands, const std::string& word, World& world) {
  std::vector<std::string> names;
  for (const auto& command : commands) names.emplace_back(command->name());
  const std::optional<std::string> near = NearestWord(word, names);
  return UsageError(world, "",
                    StrCat("unknown command ", word, near ? StrCat("; did you mean ", *near, "?") : ""));
}

}  // namespace

int RunKsampWith(const Commands& commands, const std::vector<std::string>& args, World& world) {
  if (args.empty()) {
    PrintOverview(commands, *world.err);
    return kExitUsage;
  }
  std::span<const std::string> rest(args);
  std::string word = args[0];
  if (word == "--version" || word == "version") {
    *world.out << "ksamp " << KSAMP_VERSION << "\n" << std::flush;
    return kExitShown;
  }
  std::vector<std::string> help;
  if (word == "--help" || word == "-h" || word == "help") {
    if (args.size() == 1) {
      PrintOverview(commands, *world.out);
      world.out->flush();
      return kExitShown;
    }
    word = args[1];
    help = {"--help"};
    rest = help;
  } else if (word.starts_with('-')) {
    return UsageError(world, "", StrCat("unknown option ", word, " before the command"));
  } else {
    rest = rest.subspan(1);
  }
  for (const auto& command : commands)
    if (command->name() == word) return RunCommand(*command, rest, world);
  return UnknownCommand(commands, word, world);
}

}  // namespace ksamp
