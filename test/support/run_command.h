// SPDX-License-Identifier: Apache-2.0
// RunCommand: a shell command and everything it said, for tests that use the built tool and foreign ones as
// people do.
//
//   CommandResult made = RunCommand(tree.root(), "cc -O1 -o prog prog.c && perf record -o a.data ./prog");
//   ASSERT_EQ(made.exit_code, 0) << made;
//
// The command runs by /bin/sh -c in `folder`, with LC_ALL=C and without standard input.
#ifndef KSAMP_TEST_SUPPORT_RUN_COMMAND_H_
#define KSAMP_TEST_SUPPORT_RUN_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace ksamp::testing {

struct CommandResult {
  std::string command;
  int exit_code = -1;  // 128 + n: ended by signal n, as in a shell
  std::string out, err;
};
// For assertion messages: the command, its exit code and the ends of both texts.
std::ostream& operator<<(std::ostream& stream, const CommandResult& result);

CommandResult RunCommand(const std::string& folder, const std::string& command);

// `text` as one word of the shell.
std::string ShellQuoted(const std::string& text);

// The fields of one line of CSV (RFC 4180 quoting).
std::vector<std::string> CsvFields(const std::string& line);

// The lines of a text, without their ends.
std::vector<std::string> Lines(const std::string& text);

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_SUPPORT_RUN_COMMAND_H_
