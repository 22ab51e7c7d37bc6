// SPDX-License-Identifier: Apache-2.0
// `ksamp dump`: samples as perf script prints them, or every record.
#include <CLI/CLI.hpp>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "ksamp/dump.h"
#include "ksamp/perf_data.h"
#include "ksamp/sample_stream.h"
#include "ksamp/symbolizer.h"
#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "tools/commands.h"
#include "tools/diagnostics.h"
#include "tools/fd_stream.h"
#include "tools/lists.h"
#include "tools/pager.h"
#include "tools/recording_input.h"

namespace ksamp {
namespace {

struct Flags {
  bool raw = false, no_pager = false;
  std::string input, root, vmlinux, kallsyms, demangle = "normal", time;
  std::vector<std::string> image_paths, debug_dirs, cpus, pids, tids, comms, events;

  bool select() const {
    return !time.empty() || !cpus.empty() || !pids.empty() || !tids.empty() || !comms.empty() ||
           !events.empty();
  }
};

absl::StatusOr<ProfileOptions> Selection(const Flags& flags) {
  ProfileOptions options;
  if (!flags.time.empty()) {
    KSAMP_ASSIGN_OR_RETURN(options.time, ParseTimeRange(flags.time));
  }
  KSAMP_ASSIGN_OR_RETURN(options.cpus, ParseNumbers(flags.cpus, "--cpu"));
  KSAMP_ASSIGN_OR_RETURN(options.pids, ParseNumbers(flags.pids, "--pid"));
  KSAMP_ASSIGN_OR_RETURN(options.tids, ParseNumbers(flags.tids, "--tid"));
  options.comms = SplitCommas(flags.comms);
  options.events = flags.events;
  if (flags.raw && flags.select())
    return absl::InvalidArgumentError("--raw shows every record: filters select samples");
  return options;
}

class DumpCommand : public Command {
 public:
  std::string_view name() const override { return "dump"; }
  std::string_view summary() const override { return "samples one by one, or every record"; }
  std::string_view examples() const override {
    return "ksamp dump | head                       samples in order of time, as perf script\n"
           "ksamp dump --comm=nginx --time=1.5,1.6  what nginx ran in a tenth of a second\n"
           "ksamp dump | stackcollapse-perf.pl      for tools made for perf script\n"
           "ksamp dump --raw | grep ' MMAP2 '       records with all their fields";
  }
  void AddOptions(CLI::App& app) override;
  int Run(World& world, const std::vector<std::string>& command_words) override;

 private:
  absl::Status DumpSamples(World& world, const Recording& recording, const ProfileOptions& selection,
                           bool& shown) const;
  absl::Status Write(World& world, const std::function<absl::Status(std::ostream&)>& write) const;

  Flags flags_;
};

void DumpCommand::AddOptions(CLI::App& app) {
  Flags& f = flags_;
  app.add_option("-i,--input", f.input, "The recording [ksamp.data, else perf.data]");
  app.add_flag("--raw", f.raw, "Every record with all its fields, one per line");
  app.add_option("--time", f.time, "Only A,B: seconds from the first sample (also 20ms, 7us)");
  app.add_option("--cpu", f.cpus, "Only these CPUs: 0-3,7");
  app.add_option("--comm", f.comms, "Only threads of these names");
  app.add_option("--pid", f.pids, "Only these processes");
  app.add_option("--tid", f.tids, "Only these threads");
  app.add_option("--event", f.events, "Only this event");
  app.add_option("-D,--demangle", f.demangle, "C++ and Rust names: none, normal, smart")
      ->check(CLI::IsMember({"none", "normal", "smart"}));
  app.add_option("-p,--image-path", f.image_paths, "Search these directories for images");
  app.add_option("-R,--root", f.root, "Prefix of all image paths");
  app.add_option("--vmlinux", f.vmlinux, "The kernel's symbols from this file");
  app.add_option("--kallsyms", f.kallsyms, "The kernel's symbols from this copy of /proc/kallsyms");
  app.add_option("--debug-dir", f.debug_dirs, "Search debug files here first [/usr/lib/debug]");
  app.add_flag("--no-pager", f.no_pager, "Never start a pager");
}

absl::Status DumpCommand::Write(World& world, const std::function<absl::Status(std::ostream&)>& write) const {
  Pager pager(world, flags_.no_pager ? PagerUse::kNever : PagerUse::kWhereUseful);
  const absl::Status status = write(pager.out());
  const absl::Status finished = pager.Finish();
  return status.ok() || absl::IsUnavailable(status) ? finished : status;
}

// `shown`: whether any sample was selected.
absl::Status DumpCommand::DumpSamples(World& world, const Recording& recording,
                                      const ProfileOptions& selection, bool& shown) const {
  SymbolizerOptions options = SymbolizerOptionsFor(recording);
  options.image_paths = SplitCommas(flags_.image_paths);
  options.root = flags_.root;
  options.vmlinux = flags_.vmlinux;
  options.kallsyms = flags_.kallsyms;
  options.debug_dirs.insert(options.debug_dirs.begin(), flags_.debug_dirs.begin(), flags_.debug_dirs.end());
  options.live_machine = world.live_machine;
  options.proc_root = world.proc_root;
  options.sys_root = world.sys_root;
  std::vector<std::string> notes;
  ProfileOptions with_dumps = selection;
  options.jit_dumps = with_dumps.jit_dumps = FindJitDumps(recording, options, &notes);
  for (const std::string& note : notes) Say(world, note);
  KSAMP_ASSIGN_OR_RETURN(SampleStream stream, SampleStream::Create(recording, with_dumps));
  uint64_t selected = 0;
  for (const Conservation& event : stream.conservation()) selected += event.counted;
  shown = selected != 0;
  if (!shown) return absl::OkStatus();
  stream.Symbolize(*Symbolizer::Create(std::move(options)));
  DumpOptions dump;
  if (flags_.demangle != "none") {
    const DemangleStyle style = flags_.demangle == "smart" ? DemangleStyle::kSmart : DemangleStyle::kNormal;
    dump.demangle = [style](std::string_view name) { return Demangle(name, style); };
  }
  return Write(world, [&](std::ostream& out) { return WriteSamples(stream, dump, out); });
}

int DumpCommand::Run(World& world, const std::vector<std::string>&) {
  const absl::StatusOr<ProfileOptions> selection = Selection(flags_);
  if (!selection.ok()) return Fail(world, selection.status(), kExitUsage);
  const absl::StatusOr<std::string> input = FindRecording(world, flags_.input);
  if (!input.ok()) return Fail(world, input.status(), kExitNothing);
  const absl::StatusOr<Recording> recording = Recording::Open(*input);
  if (!recording.ok()) return Fail(world, recording.status(), kExitNothing);
  const bool damaged = WarnOfDamage(world, *recording);
  bool shown = true;
  const absl::Status status =
      flags_.raw ? Write(world, [&](std::ostream& out) { return WriteRecords(*recording, out); })
                 : DumpSamples(world, *recording, *selection, shown);
  if (!status.ok()) return Fail(world, status, absl::IsInvalidArgument(status) ? kExitUsage : kExitNothing);
  if (!shown && recording->counts().samples != 0) {
    Say(world, StrCat("no samples selected (", GroupDigits(recording->counts().samples), " samples in ",
                      *input, ")"));
    return kExitNothing;
  }
  if (!shown) Say(world, StrCat(*input, " holds no samples"));
  return damaged ? kExitDamaged : kExitShown;
}

}  // namespace

std::unique_ptr<Command> MakeDumpCommand() {
  return std::make_unique<DumpCommand>();
}

}  // namespace ksamp
