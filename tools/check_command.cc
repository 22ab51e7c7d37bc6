// SPDX-License-Identifier: Apache-2.0
// ksamp check: one CheckMachine, a line for each finding, and below those that are not fine what they mean
// and what to do.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "ksamp/check.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "tools/commands.h"
#include "tools/diagnostics.h"

namespace ksamp {
namespace {

constexpr size_t kVerdictWidth = 10, kNameWidth = 22;

std::string_view Word(CheckVerdict verdict) {
  switch (verdict) {
    case CheckVerdict::kFine:
      return "OK";
    case CheckVerdict::kDegraded:
      return "degraded";
    case CheckVerdict::kMissing:
      return "missing";
  }
  return "";
}

std::string Padded(std::string_view text, size_t width) {
  return std::string(text) + std::string(width - std::min(width, text.size()), ' ');
}

std::string_view RemedyOf(const CheckFinding& finding) {
  return finding.remedy.empty() ? RemedyFor(finding.failure) : std::string_view(finding.remedy);
}

void PrintLines(std::string_view text, std::string_view before, std::ostream& out) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    out << std::string(kVerdictWidth + kNameWidth, ' ') << before << EscapeForTerminal(line) << "\n";
  }
}

void PrintText(const MachineCheck& check, std::ostream& out) {
  size_t degraded = 0, missing = 0;
  for (const CheckFinding& finding : check.findings) {
    out << Padded(Word(finding.verdict), kVerdictWidth) << Padded(finding.name, kNameWidth)
        << EscapeForTerminal(finding.found) << "\n";
    PrintLines(finding.meaning, "", out);
    PrintLines(RemedyOf(finding), "> ", out);
    degraded += finding.verdict == CheckVerdict::kDegraded;
    missing += finding.verdict == CheckVerdict::kMissing;
  }
  out << "\n"
      << check.findings.size() << " checks: " << check.findings.size() - degraded - missing << " OK, "
      << degraded << " degraded, " << missing << " missing. "
      << (check.can_sample ? "" : "This machine cannot be sampled.\n");
  if (check.can_sample)
    out << (check.verdict() == CheckVerdict::kFine ? "Nothing stands in the way.\n"
                                                   : "Samples can be taken, with the limits above.\n");
}

// What is not UTF-8 becomes \xNN, as on a terminal; lines of a text become sentences of one.
std::string Quote(std::string_view text) {
  std::string one_line(text);
  std::replace(one_line.begin(), one_line.end(), '\n', ' ');
  std::string out = "\"";
  for (const char c : EscapeForTerminal(one_line)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

void PrintJson(const MachineCheck& check, std::ostream& out) {
  out << "{\"can_sample\":" << (check.can_sample ? "true" : "false")
      << ",\n\"verdict\":" << Quote(Word(check.verdict())) << ",\n\"checks\":[";
  for (size_t i = 0; i < check.findings.size(); ++i) {
    const CheckFinding& finding = check.findings[i];
    out << (i == 0 ? "\n" : ",\n") << "{\"name\":" << Quote(finding.name)
        << ",\"verdict\":" << Quote(Word(finding.verdict)) << ",\"found\":" << Quote(finding.found)
        << ",\"meaning\":" << Quote(finding.meaning) << ",\"remedy\":" << Quote(RemedyOf(finding)) << "}";
  }
  out << "]}\n";
}

class CheckCommand : public Command {
 public:
  std::string_view name() const override { return "check"; }
  std::string_view summary() const override { return "can this machine be profiled, and how well"; }
  std::string_view examples() const override {
    return "ksamp check                       before profiling: what works here, and what to do\n"
           "ksamp check --json | jq -r '.checks[] | select(.verdict != \"OK\") | .name'\n";
  }
  void AddOptions(CLI::App& app) override { app.add_flag("--json", json_, "the findings as JSON"); }
  int Run(World& world, const std::vector<std::string>& command_words) override;

 private:
  bool json_ = false;
};

int CheckCommand::Run(World& world, const std::vector<std::string>&) {
  CheckOptions options;
  options.proc_root = world.proc_root;
  options.sys_root = world.sys_root;
  options.repair = world.live_machine;
  const MachineCheck check = CheckMachine(options, world.kernel);
  if (json_) {
    PrintJson(check, *world.out);
  } else {
    PrintText(check, *world.out);
  }
  switch (check.verdict()) {
    case CheckVerdict::kFine:
      return kExitShown;
    case CheckVerdict::kDegraded:
      return kExitDamaged;
    case CheckVerdict::kMissing:
      return kExitNothing;
  }
  return kExitNothing;
}

}  // namespace

std::unique_ptr<Command> MakeCheckCommand() {
  return std::make_unique<CheckCommand>();
}

}  // namespace ksamp
