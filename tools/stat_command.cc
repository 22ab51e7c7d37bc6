// SPDX-License-Identifier: Apache-2.0
// ksamp stat: options in, Counters, a table out.
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <ostream>

#include "ksamp/counters.h"
#include "ksamp/recorder.h"
#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "tools/commands.h"
#include "tools/count_text.h"
#include "tools/diagnostics.h"
#include "tools/fd_stream.h"
#include "tools/option_values.h"
#include "tools/recording_signals.h"
#include "tools/target_options.h"

namespace ksamp {
namespace {

constexpr unsigned kMaxRuns = 100'000;
constexpr unsigned kShortestIntervalMs = 10;

class StatCommand : public Command {
 public:
  std::string_view name() const override { return "stat"; }
  std::string_view summary() const override {
    return "count events of a command, processes, CPUs or the machine";
  }
  std::string_view examples() const override {
    return "ksamp stat make -j8                       a command and its children\n"
           "ksamp stat -r 10 -- ./bench               ten times: mean, deviation, confidence\n"
           "ksamp stat -a -I 1000 -e context-switches the whole machine, every second\n"
           "ksamp stat -a -A sleep 10                 CPU by CPU\n"
           "ksamp stat -p 4711 --duration 10 --json\n";
  }
  bool takes_command() const override { return true; }
  void AddOptions(CLI::App& app) override;
  int Run(World& world, const std::vector<std::string>& command_words) override;

 private:
  absl::StatusOr<CountOptions> Options(const World& world, const std::vector<std::string>& command) const;
  std::string Target(const std::vector<std::string>& command) const;
  absl::StatusOr<CountResult> CountOnce(World& world, const CountOptions& options, std::ostream& out);
  void ShowInterval(const CountResult& so_far, std::ostream& out);
  void Show(const std::vector<CountResult>& runs, const std::string& target, std::ostream& out) const;
  int CountAndShow(World& world, const CountOptions& options, std::ostream& out);

  TargetOptions target_;
  bool per_cpu_ = false, per_thread_ = false, csv_ = false, json_ = false, no_inherit_ = false,
       append_ = false, header_written_ = false;
  std::string output_, duration_;
  std::vector<std::string> events_;
  unsigned repeat_ = 1, interval_ms_ = 0;
  std::optional<CountResult> before_;  // the interval before
};

void StatCommand::AddOptions(CLI::App& app) {
  target_.AddTo(app);
  app.add_option("-e,--event", events_, "what to count; may be repeated. ksamp list shows what there is");
  app.add_option("-r,--repeat", repeat_, "run the command so many times: mean, deviation, confidence")
      ->check(CLI::Range(1u, kMaxRuns));
  app.add_option("-I,--interval", interval_ms_, "also print what was counted every so many milliseconds")
      ->check(CLI::Range(kShortestIntervalMs, 1'000'000'000u));
  app.add_option("--duration", duration_, "end after this time: 10, 0.5, 500ms, 5m");
  app.add_flag("-A,--per-cpu", per_cpu_, "one line for each CPU (with -a or -C)");
  app.add_flag("--per-thread", per_thread_, "one line for each thread (with -p or -t)");
  app.add_flag("-i,--no-inherit", no_inherit_, "leave children and later threads out");
  app.add_flag("--csv", csv_, "comma-separated, with a line of names");
  app.add_flag("--json", json_, "one JSON object a line");
  app.add_option("-o,--output", output_, "write to this file instead of stderr; - is standard output");
  app.add_flag("--append", append_, "add to the file of -o");
}

absl::StatusOr<CountOptions> StatCommand::Options(const World& world,
                                                  const std::vector<std::string>& command) const {
  CountOptions options;
  KSAMP_RETURN_IF_ERROR(target_.Fill(options));
  if (!duration_.empty()) {
    KSAMP_ASSIGN_OR_RETURN(options.duration, ParseDuration(duration_));
  }
  if (interval_ms_ != 0) options.interval = std::chrono::milliseconds(interval_ms_);
  options.command = command;
  options.events = events_;
  options.inherit = !no_inherit_;
  options.proc_root = world.proc_root;
  options.sys_root = world.sys_root;
  if (repeat_ > 1 && (command.empty() || interval_ms_ != 0))
    return absl::InvalidArgumentError("stat: -r runs a command several times: name one, and no -I");
  if (csv_ && json_) return absl::InvalidArgumentError("stat: --csv and --json exclude each other");
  if (append_ && output_.empty()) return absl::InvalidArgumentError("stat: --append needs -o FILE");
  if (per_cpu_ && !target_.whole_cpus())
    return absl::InvalidArgumentError("stat: -A counts CPU by CPU: add -a or -C");
  if (per_thread_ && !target_.threads())
    return absl::InvalidArgumentError("stat: --per-thread needs -p or -t");
  if ((per_cpu_ || per_thread_) && repeat_ > 1)
    return absl::InvalidArgumentError("stat: -A and --per-thread are of one run, not of several");
  return options;
}

std::string StatCommand::Target(const std::vector<std::string>& command) const {
  std::string words;
  for (const std::string& word : command) StrAppend(&words, words.empty() ? "" : " ", word);
  const std::string during = words.empty() ? "" : StrCat(" during '", words, "'");
  if (target_.all_cpus) return "the whole machine" + during;
  if (!target_.cpus.empty()) return StrCat("CPU ", target_.cpus, during);
  if (!target_.pids.empty()) return StrCat("process ", target_.pids, during);
  if (!target_.tids.empty()) return StrCat("thread ", target_.tids, during);
  return StrCat("'", words, "'");
}

void StatCommand::ShowInterval(const CountResult& so_far, std::ostream& out) {
  const CountResult part = before_ ? Difference(so_far, *before_) : so_far;
  before_ = so_far;
  const CountTable table({part}, per_cpu_ || per_thread_);
  const CountMoment moment{so_far.elapsed};
  if (json_) {
    table.WriteJson(moment, out);
  } else if (csv_) {
    if (!header_written_) CountTable::WriteCsvHeader(out);
    header_written_ = true;
    table.WriteCsv(moment, out);
  } else {
    table.WriteInterval(so_far.elapsed, out);
  }
}

absl::StatusOr<CountResult> StatCommand::CountOnce(World& world, const CountOptions& options,
                                                   std::ostream& out) {
  RecordingSignals signals;
  KSAMP_ASSIGN_OR_RETURN(const std::unique_ptr<Counters> counters, Counters::Open(options, world.kernel));
  signals.Attach(counters.get());
  absl::StatusOr<CountResult> result =
      counters->Run([&](const CountResult& so_far) { ShowInterval(so_far, out); });
  signals.Detach();
  return result;
}

void StatCommand::Show(const std::vector<CountResult>& runs, const std::string& target,
                       std::ostream& out) const {
  const CountTable table(runs, per_cpu_ || per_thread_);
  if (json_) {
    table.WriteJson({}, out);
  } else if (csv_) {
    if (!header_written_) CountTable::WriteCsvHeader(out);
    table.WriteCsv({}, out);
  } else {
    table.WriteText(target, out);
  }
}

int StatCommand::CountAndShow(World& world, const CountOptions& options, std::ostream& out) {
  std::vector<CountResult> runs;
  for (unsigned run = 0; run < repeat_; ++run) {
    absl::StatusOr<CountResult> result = CountOnce(world, options, out);
    if (!result.ok()) {
      const OpenFailure failure = FailureOf(result.status());
      int exit_code = options.command.empty() ? kExitNothing : kExitOwnFailure;
      if (failure == OpenFailure::kCommandNotFound) exit_code = 127;
      if (failure == OpenFailure::kCommandNotExecutable) exit_code = 126;
      return Fail(world, result.status(), exit_code, RemedyFor(failure));
    }
    // Ctrl-C ends the row of runs too, also where it reached the command first.
    const std::optional<int>& status = result->command_status;
    const bool killed = status && WIFSIGNALED(*status) && !result->command_ended_at_limit;
    const bool over = result->stop_requested || killed;
    runs.push_back(*std::move(result));
    if (over) break;
  }
  if (runs.size() < repeat_) Say(world, StrCat("stopped after ", runs.size(), " of ", repeat_, " runs."));
  Show(runs, Target(options.command), out);
  // CSV and JSON carry the reasons themselves, and may share stderr with these sentences.
  if (!csv_ && !json_) {
    for (const std::string& note : CountTable(runs).Notes()) Say(world, note);
  }
  const CountResult& last = runs.back();
  if (last.command_ended_at_limit || !last.command_status) return kExitShown;
  return ExitCodeOf(*last.command_status);
}

int StatCommand::Run(World& world, const std::vector<std::string>& command_words) {
  const absl::StatusOr<CountOptions> options = Options(world, command_words);
  if (!options.ok()) return Fail(world, options.status(), kExitUsage, "Try: ksamp stat --help");
  if (command_words.empty() && !target_.any()) {
    Say(world, "stat: nothing to count: name a command, or -a, -C, -p, -t.\nTry: ksamp stat -a sleep 10");
    return kExitUsage;
  }
  if (output_.empty()) return CountAndShow(world, *options, *world.err);
  if (output_ == "-") return CountAndShow(world, *options, *world.out);
  const absl::StatusOr<UniqueFd> fd = append_ ? AppendToOutputFile(output_) : CreateOutputFile(output_);
  if (!fd.ok()) return Fail(world, fd.status(), kExitOwnFailure);
  FdStream file(fd->get(), output_);
  const int exit_code = CountAndShow(world, *options, file);
  const absl::Status written = FlushStatus(file);
  return written.ok() ? exit_code : Fail(world, written, kExitOwnFailure);
}

}  // namespace

std::unique_ptr<Command> MakeStatCommand() {
  return std::make_unique<StatCommand>();
}

}  // namespace ksamp
