// SPDX-License-Identifier: Apache-2.0
#include "test/support/run_command.h"

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <ostream>
#include <sstream>

#include "test/support/temp_tree.h"

namespace ksamp::testing {
namespace {

constexpr size_t kShownBytes = 4000;  // of each stream, in an assertion message

std::string Content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

std::string Tail(const std::string& text) {
  return text.size() <= kShownBytes ? text : "…" + text.substr(text.size() - kShownBytes);
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const CommandResult& result) {
  return stream << "$ " << result.command << "\nexit code " << result.exit_code << "\n--- stdout\n"
                << Tail(result.out) << "\n--- stderr\n"
                << Tail(result.err) << "\n";
}

CommandResult RunCommand(const std::string& folder, const std::string& command) {
  const TempTree streams;  // files, not pipes: a command that writes much to both cannot block
  const std::string out = streams.Path("out"), err = streams.Path("err");
  const std::string line = "cd " + ShellQuoted(folder) + " && export LC_ALL=C && exec </dev/null >" +
                           ShellQuoted(out) + " 2>" + ShellQuoted(err) + " && " + command;
  const int status = std::system(line.c_str());
  CommandResult result;
  result.command = command;
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  result.out = Content(out);
  result.err = Content(err);
  return result;
}

std::string ShellQuoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::vector<std::string> CsvFields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace ksamp::testing
