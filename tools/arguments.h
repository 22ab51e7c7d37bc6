// SPDX-License-Identifier: Apache-2.0
// Splitting a command line before CLI11 sees it (CLI11 neither stops at the first word nor knows options
// whose value is optional).
//
//   SplitArguments split = *Split(app, {"-ga", "-F", "99", "ls", "-l"}, WordsAre::kCommand);
//   split.options   {"--callgraph=fp", "--all-cpus", "--freq=99"}       for CLI11
//   split.words     {"ls", "-l"}
//
// The table of options that take values is the CLI11 app itself:
//   add_flag                    no value
//   add_option                  the rest of the word, or the next word whatever it is (as getopt)
//   add_option, expected(0, 1)  after `=`; or the next word where that is no option and the option's first
//                               validator, if it has one, accepts it; otherwise its default_str
// Short options combine (-dl, -lwp DIR), and `-g=x` means what `-gx` means.
#ifndef KSAMP_TOOLS_ARGUMENTS_H_
#define KSAMP_TOOLS_ARGUMENTS_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace CLI {
class App;
}

namespace ksamp {

struct SplitArguments {
  std::vector<std::string> options;  // one word each: --name, --name=value, -xvalue
  std::vector<std::string> words;    // everything that is neither option nor value, in order
};

enum class WordsAre {
  kPositional,  // options go on behind them, up to `--`
  kCommand,     // the first one ends the options (decision 1)
};

// InvalidArgument: an unknown option (with the nearest known one), a value missing or too much.
absl::StatusOr<SplitArguments> Split(CLI::App& app, std::span<const std::string> arguments, WordsAre words);

}  // namespace ksamp

#endif  // KSAMP_TOOLS_ARGUMENTS_H_
