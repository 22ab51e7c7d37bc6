// SPDX-License-Identifier: Apache-2.0
// ksamp record: options in, one Recorder, what happened in the last line.
#include <CLI/CLI.hpp>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>

#include "ksamp/recorder.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "tools/commands.h"
#include "tools/diagnostics.h"
#include "tools/option_values.h"
#include "tools/recording_signals.h"
#include "tools/target_options.h"

namespace ksamp {
namespace {

std::string Percent(double share) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %%", share * 100);
  return text;
}

std::string Seconds(std::chrono::nanoseconds time) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s", std::chrono::duration<double>(time).count());
  return text;
}

// "0 lost", "12 lost (ring full)", "15 lost (12 ring full, 3 kernel dropped)".
std::string Losses(const RecordSummary& summary) {
  uint64_t total = 0;
  std::string causes;
  for (const auto& [cause, lost] : summary.lost) {
    total += lost;
    StrAppend(&causes, causes.empty() ? "" : ", ", summary.lost.size() == 1 ? "" : GroupDigits(lost) + " ",
              cause);
  }
  return StrCat(GroupDigits(total), " lost", total == 0 ? "" : StrCat(" (", causes, ")"));
}

std::string SummaryLine(const RecordSummary& summary) {
  std::string events;
  for (const std::string& event : summary.events) StrAppend(&events, events.empty() ? "" : "; ", event);
  const double cpu = summary.elapsed.count() > 0 ? static_cast<double>(summary.recorder_cpu.count()) /
                                                       static_cast<double>(summary.elapsed.count())
                                                 : 0;
  std::string line =
      StrCat(GroupDigits(summary.samples), summary.samples == 1 ? " sample in " : " samples in ",
             Seconds(summary.elapsed), " on ", summary.cpus, summary.cpus == 1 ? " CPU (" : " CPUs (", events,
             "), ", Losses(summary));
  if (summary.throttles > 0) StrAppend(&line, ", throttled ", GroupDigits(summary.throttles), " times");
  StrAppend(&line, "; ", summary.output, " ", HumanBytes(summary.file_bytes), "; ksamp used ", Percent(cpu),
            " of one CPU.");
  if (summary.samples == 0 && summary.lost.empty())
    line += "\nNo samples: nothing of the target ran on a CPU while it was watched.";
  return line;
}

class RecordCommand : public Command {
 public:
  std::string_view name() const override { return "record"; }
  std::string_view summary() const override {
    return "sample a command, processes, CPUs or the whole machine";
  }
  std::string_view examples() const override {
    return "ksamp record -a sleep 10          the whole machine for ten seconds\n"
           "ksamp record -a -g --duration 10  the same, with call stacks\n"
           "ksamp record -p 4711              one process, until Ctrl-C\n"
           "ksamp record -- make -j8          a command and its children\n"
           "ksamp record -e cycles:k -C 0-3 sleep 1\n";
  }
  bool takes_command() const override { return true; }
  void AddOptions(CLI::App& app) override;
  int Run(World& world, const std::vector<std::string>& command_words) override;

 private:
  absl::StatusOr<RecordOptions> Options(const World& world, const std::vector<std::string>& command) const;
  absl::Status RateAndSizeOptions(RecordOptions& options) const;
  int ExplainOpenFailure(World& world, const absl::Status& status, bool has_command) const;

  TargetOptions target_;
  bool exclude_self_ = false, quiet_ = false, no_kernel_symbols_ = false;
  std::string call_graph_, output_ = "ksamp.data", duration_, delay_, max_size_, ring_size_, clockid_,
                           nmi_watchdog_ = "on";
  std::vector<std::string> events_;
  std::optional<uint64_t> frequency_, period_;
  int zstd_level_ = 0;
};

void RecordCommand::AddOptions(CLI::App& app) {
  target_.AddTo(app);
  app.add_option("-e,--event", events_, "what to sample; may be repeated. Default: cycles, or the CPU clock");
  app.add_option("-F,--freq", frequency_, "samples per second, held by changing the period");
  app.add_option("-c,--count", period_, "one sample every so many events");
  app.add_option("-g,--call-graph", call_graph_, "record call stacks, by frame pointers (fp)")
      ->expected(0, 1)
      ->default_str("fp")
      ->check(CLI::IsMember({"fp", "auto"}));
  app.add_option("-o,--output", output_, "file to write; - is a pipe. An existing one becomes FILE.old")
      ->capture_default_str();
  app.add_option("--duration", duration_, "end after this time: 10, 0.5, 500ms, 5m");
  app.add_option("-D,--delay", delay_, "begin to count this many milliseconds after the start");
  app.add_option("--max-size", max_size_, "end after this much data: 64K, 10M, 2G");
  app.add_option("-z,--compression-level", zstd_level_, "compress the data (zstd)")
      ->expected(0, 1)
      ->default_str("1")
      ->check(CLI::Range(1, 22));
  app.add_flag("--no-kernel-symbols", no_kernel_symbols_,
               "leave the kernel's symbol table out of the recording");
  app.add_option("--nmi-watchdog", nmi_watchdog_, "off: free the hardware counter it holds, for this run")
      ->check(CLI::IsMember({"on", "off"}));
  app.add_option("-m,--ring-size", ring_size_, "memory between kernel and ksamp, per CPU: 512K, 4M");
  app.add_flag("--exclude-self", exclude_self_, "leave out samples of ksamp itself");
  app.add_option("-k,--clockid", clockid_,
                 "clock of the time stamps: monotonic, monotonic_raw, realtime, boottime, tai");
  app.add_flag("-q,--quiet", quiet_, "say nothing unless it fails");
}

absl::Status RecordCommand::RateAndSizeOptions(RecordOptions& options) const {
  options.frequency = frequency_;
  options.period = period_;
  if (!duration_.empty()) {
    KSAMP_ASSIGN_OR_RETURN(options.duration, ParseDuration(duration_));
  }
  if (!delay_.empty()) {
    KSAMP_ASSIGN_OR_RETURN(const uint64_t ms, ParseSize(delay_));
    options.delay = std::chrono::milliseconds(ms);
  }
  if (!max_size_.empty()) {
    KSAMP_ASSIGN_OR_RETURN(options.max_size, ParseSize(max_size_));
  }
  if (!ring_size_.empty()) {
    KSAMP_ASSIGN_OR_RETURN(options.ring_bytes, ParseSize(ring_size_));
  }
  return absl::OkStatus();
}

absl::StatusOr<RecordOptions> RecordCommand::Options(const World& world,
                                                     const std::vector<std::string>& command) const {
  RecordOptions options;
  KSAMP_RETURN_IF_ERROR(target_.Fill(options));
  KSAMP_RETURN_IF_ERROR(RateAndSizeOptions(options));
  options.command = command;
  options.events = events_;
  options.callchain = !call_graph_.empty();
  options.output = output_;
  options.zstd_level = zstd_level_;
  options.kernel_symbols = !no_kernel_symbols_;
  options.nmi_watchdog_off = nmi_watchdog_ == "off";
  options.exclude_self = exclude_self_;
  if (!clockid_.empty()) options.clockid = clockid_;
  options.proc_root = world.proc_root;
  options.sys_root = world.sys_root;
  return options;
}

int RecordCommand::ExplainOpenFailure(World& world, const absl::Status& status, bool has_command) const {
  const OpenFailure failure = FailureOf(status);
  int exit_code = has_command ? kExitOwnFailure : kExitNothing;
  if (failure == OpenFailure::kCommandNotFound) exit_code = 127;
  if (failure == OpenFailure::kCommandNotExecutable) exit_code = 126;
  // Not Fail(): a pipe that broke is no quiet end here, something was to be recorded.
  const std::string_view remedy = RemedyFor(failure);
  Say(world, remedy.empty() ? MessageOf(status) : StrCat(MessageOf(status), "\n", remedy));
  return exit_code;
}

int RecordCommand::Run(World& world, const std::vector<std::string>& command_words) {
  const bool has_command = !command_words.empty();
  absl::StatusOr<RecordOptions> options = Options(world, command_words);
  if (!options.ok()) return Fail(world, options.status(), kExitUsage, "Try: ksamp record --help");
  if (!target_.any() && !has_command) {
    Say(world,
        "record: nothing to record: name a command, or -a, -C, -p, -t.\nTry: ksamp record -a sleep 10");
    return kExitUsage;
  }
  RecordingSignals signals;
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Open(*std::move(options), world.kernel);
  if (!recorder.ok()) return ExplainOpenFailure(world, recorder.status(), has_command);
  const size_t told = (*recorder)->notes().size();
  if (!quiet_) {
    for (const std::string& note : (*recorder)->notes()) Say(world, note);
  }
  signals.Attach(recorder->get());
  const absl::StatusOr<RecordSummary> summary = (*recorder)->Run();
  signals.Detach();
  if (!summary.ok()) return ExplainOpenFailure(world, summary.status(), has_command);
  if (!quiet_) {
    for (size_t i = told; i < summary->notes.size(); ++i) Say(world, summary->notes[i]);
    Say(world, SummaryLine(*summary));
  }
  if (summary->write_failure) {
    Say(world, StrCat(*summary->write_failure, "\nThe recording ended early; what it holds is whole."));
    return kExitOwnFailure;
  }
  if (summary->command_ended_at_limit) return kExitShown;
  return summary->command_status ? ExitCodeOf(*summary->command_status) : kExitShown;
}

}  // namespace

std::unique_ptr<Command> MakeRecordCommand() {
  return std::make_unique<RecordCommand>();
}

}  // namespace ksamp
