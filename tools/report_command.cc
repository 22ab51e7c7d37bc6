// SPDX-License-Identifier: Apache-2.0
// `ksamp report`: opreport's options over a recording.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>

#include "ksamp/perf_data.h"
#include "ksamp/profile.h"
#include "ksamp/report.h"
#include "ksamp/symbolizer.h"
#include "ksamp/version.h"
#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "tools/commands.h"
#include "tools/diagnostics.h"
#include "tools/fd_stream.h"
#include "tools/image_selection.h"
#include "tools/lists.h"
#include "tools/pager.h"
#include "tools/recording_input.h"

namespace ksamp {
namespace {

constexpr const char* kEveryImage = "*";  // what -p without a directory stands for

// The options as typed.
struct Flags {
  bool callgraph = false, children = false, caller_tree = false, callee_tree = false, folded = false,
       icicle = false;
  std::string call_graph_of, flame_graph;
  std::optional<double> threshold;
  bool symbols = false, details = false, show_address = false, modules = false, accumulated = false,
       reverse = false, exclude_dependent = false, long_filenames = false, no_header = false, notes = false,
       global_percent = false, debug_info = false, inlined = false, not_inlined = false, xml = false,
       csv = false, json = false, idle = false, no_pager = false;
  std::string input, output, image_path, root, vmlinux, kallsyms, demangle = "normal", percent = "all", time;
  std::vector<std::string> sort, exclude_symbols, include_symbols, merge, separate, only_images, cpus, pids,
      tids, comms, events, debug_dirs, words;
};

// What the options mean.
struct Request {
  ReportOptions report;
  ProfileOptions profile;
  std::string output;
  SymbolFilters filters;
  std::vector<std::string> search_directories;  // -p
  std::vector<std::string> directories;         // only images found below these
};

absl::Status MergeAxes(const std::vector<std::string>& words, bool exclude_dependent, Separation& separate) {
  for (const std::string& word : words) {
    const bool all = word == "all", library = word == "lib" || word == "library";
    if (library && exclude_dependent)
      return absl::InvalidArgumentError("--merge=lib is meaningless with --exclude-dependent");
    if (all || library) separate.library = separate.kernel = false;
    if (all || word == "cpu") separate.cpu = false;
    if (all || word == "tid" || word == "tgid") separate.thread = false;
    if (all || word == "tgid") separate.process = false;
    if (!all && !library && word != "cpu" && word != "tid" && word != "tgid" && word != "unitmask")
      return absl::InvalidArgumentError(
          StrCat("--merge: ", word, " is none of cpu, lib, tid, tgid, unitmask, all"));
  }
  return absl::OkStatus();
}

absl::Status Separate(const std::vector<std::string>& words, Separation& separate) {
  for (const std::string& word : words) {
    if (word == "none") {
      separate.library = separate.kernel = false;
    } else if (word == "lib" || word == "library") {
      separate.library = true;
    } else if (word == "kernel") {
      separate.library = separate.kernel = true;
    } else if (word == "thread") {
      separate.thread = true;
    } else if (word == "process") {
      separate.process = true;
    } else if (word == "cpu") {
      separate.cpu = true;
    } else if (word == "comm") {
      separate.comm = true;
    } else if (word == "all") {
      separate.library = separate.kernel = separate.thread = separate.cpu = true;
    } else {
      return absl::InvalidArgumentError(
          StrCat("--separate: ", word, " is none of none, lib, kernel, process, thread, cpu, comm, all"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SortKey>> SortKeys(const std::vector<std::string>& words) {
  constexpr std::array<std::pair<std::string_view, SortKey>, 7> kKeys = {{{"sample", SortKey::kSample},
                                                                          {"image", SortKey::kImage},
                                                                          {"app-name", SortKey::kApp},
                                                                          {"app", SortKey::kApp},
                                                                          {"symbol", SortKey::kSymbol},
                                                                          {"debug", SortKey::kDebug},
                                                                          {"vma", SortKey::kVma}}};
  std::vector<SortKey> keys;
  for (const std::string& word : words) {
    const auto found =
        std::find_if(kKeys.begin(), kKeys.end(), [&](const auto& key) { return key.first == word; });
    if (found == kKeys.end())
      return absl::InvalidArgumentError(
          StrCat("--sort: ", word, " is none of sample, image, app-name, symbol, debug, vma"));
    keys.push_back(found->second);
  }
  return keys;
}

ClassAxis AxisOf(const Separation& separate) {
  if (separate.cpu) return ClassAxis::kCpu;
  if (separate.thread) return ClassAxis::kThread;
  return separate.process ? ClassAxis::kProcess : ClassAxis::kNone;
}

// Forms that need whole stacks, by the option that asks for each.
absl::StatusOr<std::optional<ReportForm>> FormOfStacks(const Flags& flags) {
  const std::array<std::tuple<bool, const char*, ReportForm>, 5> asked = {
      {{flags.callgraph, "--callgraph", ReportForm::kCallGraph},
       {flags.children, "--children", ReportForm::kChildren},
       {flags.caller_tree, "--caller", ReportForm::kCallerTree},
       {flags.callee_tree, "--callee", ReportForm::kCalleeTree},
       {!flags.call_graph_of.empty(), "--call-graph-of", ReportForm::kCallGraphOf}}};
  std::optional<ReportForm> form;
  const char* chosen = nullptr;
  for (const auto& [is_asked, name, its_form] : asked) {
    if (!is_asked) continue;
    if (form) return absl::InvalidArgumentError(StrCat("choose one of ", chosen, " and ", name));
    form = its_form;
    chosen = name;
  }
  if (form && flags.details)
    return absl::InvalidArgumentError(StrCat(chosen, " is incompatible with --details"));
  if (form && (flags.modules || flags.image_path == kEveryImage))
    return absl::InvalidArgumentError(StrCat(chosen, " is incompatible with the per-module report"));
  return form;
}

ReportForm FormOf(const Flags& flags) {
  if (flags.modules || flags.image_path == kEveryImage) return ReportForm::kModules;
  if (flags.details) return ReportForm::kDetails;
  const bool symbols = flags.symbols || flags.show_address || flags.accumulated || flags.inlined ||
                       !flags.exclude_symbols.empty() || !flags.include_symbols.empty();
  if (symbols) return ReportForm::kSymbols;
  if (!flags.image_path.empty()) return ReportForm::kModules;
  return flags.debug_info ? ReportForm::kSymbols : ReportForm::kImages;
}

absl::StatusOr<OutputFormat> FormatOf(const Flags& flags) {
  const bool flame_graph = !flags.flame_graph.empty();
  if (flags.xml + flags.csv + flags.json + flags.folded + flame_graph > 1)
    return absl::InvalidArgumentError("choose one of --xml, --csv, --json, --folded and --flamegraph");
  if (flags.icicle && !flame_graph)
    return absl::InvalidArgumentError("--icicle is meaningless without --flamegraph FILE");
  if (flame_graph && !flags.output.empty())
    return absl::InvalidArgumentError("--flamegraph names its file: -o does not go with it");
  if (flame_graph) return OutputFormat::kFlameGraph;
  if (flags.folded) return OutputFormat::kFolded;
  if (flags.xml) return OutputFormat::kXml;
  if (flags.csv) return OutputFormat::kCsv;
  return flags.json ? OutputFormat::kJson : OutputFormat::kText;
}

// Whole trees are endless: what nobody would read is left out unless asked for.
double DefaultThreshold(ReportForm form) {
  constexpr double kOfTrees = 0.5;
  const bool tree =
      form == ReportForm::kCallerTree || form == ReportForm::kCalleeTree || form == ReportForm::kCallGraphOf;
  return tree ? kOfTrees : 0;
}

absl::Status FillReportOptions(const Flags& flags, Request& request) {
  ReportOptions& report = request.report;
  KSAMP_ASSIGN_OR_RETURN(const std::optional<ReportForm> of_stacks, FormOfStacks(flags));
  report.form = of_stacks.value_or(FormOf(flags));
  KSAMP_ASSIGN_OR_RETURN(report.format, FormatOf(flags));
  report.symbol = flags.call_graph_of;
  report.icicle = flags.icicle;
  request.profile.stacks =
      of_stacks || report.format == OutputFormat::kFolded || report.format == OutputFormat::kFlameGraph;
  if (request.profile.stacks && (flags.debug_info || flags.inlined))
    return absl::InvalidArgumentError(
        StrCat(flags.inlined ? "--inline" : "--debug-info", " is not for reports of stacks"));
  request.output = flags.flame_graph.empty()  ? flags.output
                   : flags.flame_graph == "-" ? ""
                                              : flags.flame_graph;
  if (report.form == ReportForm::kModules && flags.details)
    return absl::InvalidArgumentError("the per-module report has no details: use -d with --only-images");
  if (flags.inlined && flags.not_inlined)
    return absl::InvalidArgumentError("choose one of --inline and --no-inline");
  report.show_address = flags.show_address || flags.details;
  report.show_line = flags.debug_info;
  report.accumulated = flags.accumulated;
  report.reverse = flags.reverse;
  report.global_percent = flags.global_percent;
  report.percent_of_block = flags.percent == "block";
  report.long_filenames = flags.long_filenames;
  report.header = !flags.no_header;
  report.all_notes = flags.notes;
  report.threshold = flags.threshold.value_or(DefaultThreshold(report.form));
  report.tool_version = KSAMP_VERSION;
  KSAMP_ASSIGN_OR_RETURN(report.sort, SortKeys(SplitCommas(flags.sort)));
  const DemangleStyle style = flags.demangle == "none"    ? DemangleStyle::kNone
                              : flags.demangle == "smart" ? DemangleStyle::kSmart
                                                          : DemangleStyle::kNormal;
  report.demangle = [style](std::string_view name) { return Demangle(name, style); };
  return absl::OkStatus();
}

absl::Status FillProfileOptions(const Flags& flags, const OutputFormat format, Request& request) {
  ProfileOptions& profile = request.profile;
  KSAMP_RETURN_IF_ERROR(Separate(SplitCommas(flags.separate), profile.separate));
  // As flame graphs are read: a program's name below its stacks.
  if (flags.separate.empty())
    profile.separate.comm = format == OutputFormat::kFolded || format == OutputFormat::kFlameGraph;
  KSAMP_RETURN_IF_ERROR(MergeAxes(SplitCommas(flags.merge), flags.exclude_dependent, profile.separate));
  const Separation& separate = profile.separate;
  if (format == OutputFormat::kText && separate.cpu && (separate.thread || separate.process))
    return absl::InvalidArgumentError(
        "attempted to show two axes of columns at once, cpu and thread: specify --merge=cpu or --merge=tgid, "
        "or use --csv");
  request.report.classes = AxisOf(separate);
  if (!flags.time.empty()) {
    KSAMP_ASSIGN_OR_RETURN(profile.time, ParseTimeRange(flags.time));
  }
  KSAMP_ASSIGN_OR_RETURN(profile.cpus, ParseNumbers(flags.cpus, "--cpu"));
  KSAMP_ASSIGN_OR_RETURN(profile.pids, ParseNumbers(flags.pids, "--pid"));
  KSAMP_ASSIGN_OR_RETURN(profile.tids, ParseNumbers(flags.tids, "--tid"));
  profile.comms = SplitCommas(flags.comms);
  profile.events = flags.events;  // Names may hold commas (cpu/event=1,umask=2/): one name per --event.
  profile.count_idle = flags.idle;
  return absl::OkStatus();
}

// As little of the debug info as the report shows.
SourceDetail SourceDetailOf(const Flags& flags) {
  if (flags.inlined) return SourceDetail::kInlined;
  if (!flags.debug_info) return SourceDetail::kNone;
  return flags.details ? SourceDetail::kLines : SourceDetail::kSymbols;
}

bool IsDirectory(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

// Someone who knows -p as perf's option for processes, or opreport's image names, wrote a name behind it.
absl::Status NoSuchDirectory(const std::string& word) {
  std::string message = StrCat("-p ", word, ": not a directory to search for images");
  if (word.find('/') == std::string::npos)
    StrAppend(&message, "\nTo see only one image: ksamp report -l ", word, ", or --only-images '", word,
              "*'");
  return absl::InvalidArgumentError(message);
}

absl::Status FillImageSelection(const Flags& flags, Request& request) {
  if (!flags.image_path.empty() && flags.image_path != kEveryImage) {
    for (const std::string& word : SplitCommas(std::array{flags.image_path})) {
      if (!IsDirectory(word)) return NoSuchDirectory(word);
      request.search_directories.push_back(word);
    }
    if (request.report.form == ReportForm::kModules) request.directories = request.search_directories;
  }
  for (const std::string& word : SplitCommas(flags.only_images)) {
    if (IsDirectory(word)) {
      request.directories.push_back(word);
    } else {
      request.filters.images.push_back(word);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Request> MakeRequest(const Flags& flags) {
  Request request;
  for (const std::string& word : flags.words)
    if (word == "{" || word == "}" || word == "{}")
      return absl::InvalidArgumentError(
          "comparing two profiles ({ first } { second }) is not part of this version");
  KSAMP_RETURN_IF_ERROR(FillReportOptions(flags, request));
  KSAMP_RETURN_IF_ERROR(FillProfileOptions(flags, request.report.format, request));
  request.filters.include_symbols = SplitCommas(flags.include_symbols);
  request.filters.exclude_symbols = SplitCommas(flags.exclude_symbols);
  request.filters.exclude_dependent = flags.exclude_dependent;
  KSAMP_RETURN_IF_ERROR(FillImageSelection(flags, request));
  KSAMP_RETURN_IF_ERROR(ParseProfileSpecification(flags.words, request.profile, request.filters));
  return request;
}

// A file that -o must not overwrite.
bool IsRecording(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::array<char, 8> magic = {};
  if (!fd || read(fd.get(), magic.data(), magic.size()) != static_cast<ssize_t>(magic.size())) return false;
  const std::string_view text(magic.data(), magic.size());
  return text == "PERFILE2" || text == "2ELIFREP";
}

class ReportCommand : public Command {
 public:
  std::string_view name() const override { return "report"; }
  std::string_view summary() const override { return "where the time of a recording went"; }
  std::string_view examples() const override {
    return "ksamp report | head                    images, hottest first\n"
           "ksamp report -l | head                 functions\n"
           "ksamp report -d -l vmlinux             hot addresses of the kernel's functions\n"
           "ksamp report -dg -S tcp_v4_rcv         its hot addresses with their source lines\n"
           "ksamp report -p /lib/modules/$(uname -r)/kernel/drivers/net/\n"
           "                                       network drivers, one block each\n"
           "ksamp report -l --comm=nginx --cpu=0-3\n"
           "ksamp report -c | less                 callers and callees of each function (record -g)\n"
           "ksamp report --flamegraph out.svg      the stacks as a picture to zoom and search in\n"
           "ksamp report --csv --separate=comm     for other programs";
  }

  void AddOptions(CLI::App& app) override;
  int Run(World& world, const std::vector<std::string>& command_words) override;

 private:
  absl::StatusOr<Profile> MakeProfile(World& world, const Recording& recording, Request& request) const;
  absl::Status Write(World& world, const Profile& profile, const Request& request) const;

  Flags flags_;
};

void ReportCommand::AddOptions(CLI::App& app) {
  Flags& f = flags_;
  app.add_option("-i,--input", f.input, "The recording [ksamp.data, else perf.data]");
  app.add_flag("-l,--symbols", f.symbols, "List symbols");
  app.add_flag("-d,--details", f.details, "List the sampled addresses below each symbol; implies -l and -w");
  app.add_flag("-w,--show-address", f.show_address,
               "Add the column of addresses, as nm shows them; implies -l");
  app.add_flag("-g,--debug-info", f.debug_info,
               "Add the column of source files and lines; implies -l. With -d also of each address");
  app.add_flag("--inline", f.inlined,
               "Count samples for the functions inlined at their addresses; implies -l");
  app.add_flag("--no-inline", f.not_inlined, "Count them for the functions that hold the code (the default)");
  app.add_option("-p,--image-path", f.image_path,
                 "Search these directories for images; without -l or -d: one block per image found there")
      ->expected(0, 1)
      ->default_str(kEveryImage);
  app.add_flag("--modules", f.modules, "One block per image, its total, its symbols");
  app.add_option("--only-images", f.only_images,
                 "Only these images: a glob, or a directory they are found below");
  app.add_flag("-a,--accumulated", f.accumulated, "Add running totals; implies -l");
  app.add_flag("-r,--reverse-sort", f.reverse, "Turn the order round");
  app.add_option("-s,--sort", f.sort, "Order by: sample, image, app-name, symbol, debug, vma");
  app.add_flag("-c,--callgraph", f.callgraph, "Each function between its callers and its callees");
  app.add_flag("--children", f.children, "List functions with what they call summed up");
  app.add_flag("--caller", f.caller_tree, "Tree of calls from the outermost functions inwards");
  app.add_flag("--callee", f.callee_tree, "Tree of callers from the sampled functions outwards");
  app.add_option("--call-graph-of", f.call_graph_of, "Trees of callers and callees of this function");
  app.add_flag("--folded", f.folded, "A line per stack: main;run;memcpy 12");
  app.add_option("--flamegraph", f.flame_graph, "Write a flame graph (SVG) to this file; - is the output");
  app.add_flag("--icicle", f.icicle, "The flame graph grows downwards");
  app.add_option("-t,--threshold", f.threshold, "Only rows of at least this many percent");
  app.add_option("-e,--exclude-symbols", f.exclude_symbols, "Leave these symbols out; implies -l");
  app.add_option("-S,--include-symbols", f.include_symbols, "Only these symbols; implies -l");
  app.add_option("-m,--merge", f.merge, "Sum up: cpu, lib, tid, tgid, unitmask, all");
  app.add_flag("-x,--exclude-dependent", f.exclude_dependent,
               "Leave out libraries and modules below applications");
  app.add_option("--separate", f.separate,
                 "Keep apart: none, lib, kernel, process, thread, cpu, comm, all [lib]");
  app.add_flag("-f,--long-filenames", f.long_filenames, "Whole paths");
  app.add_flag("-n,--no-header", f.no_header, "No header and no column titles");
  app.add_flag("--notes", f.notes, "All notes in the header, not only the first lines");
  app.add_flag("-%,--global-percent", f.global_percent, "Percentages of everything, not of the group");
  app.add_option("--percent", f.percent, "Percentages in blocks: of all, or of the block")
      ->check(CLI::IsMember({"all", "block"}));
  app.add_option("-D,--demangle", f.demangle, "C++ and Rust names: none, normal, smart")
      ->check(CLI::IsMember({"none", "normal", "smart"}));
  app.add_option("-o,--output-file", f.output, "Write to this file");
  app.add_flag("-X,--xml", f.xml, "XML as opreport writes it");
  app.add_flag("--csv", f.csv, "Comma separated values");
  app.add_flag("--json", f.json, "JSON");
  app.add_option("--time", f.time, "Only A,B: seconds from the first sample (also 20ms, 7us)");
  app.add_option("--cpu", f.cpus, "Only these CPUs: 0-3,7");
  app.add_option("--comm", f.comms, "Only threads of these names");
  app.add_option("--pid", f.pids, "Only these processes");
  app.add_option("--tid", f.tids, "Only these threads");
  app.add_option("--event", f.events, "Only this event");
  app.add_flag("--idle", f.idle, "Count the idle loop as work");
  app.add_option("-R,--root", f.root, "Prefix of all image paths");
  app.add_option("--vmlinux", f.vmlinux, "The kernel's symbols from this file");
  app.add_option("--kallsyms", f.kallsyms, "The kernel's symbols from this copy of /proc/kallsyms");
  app.add_option("--debug-dir", f.debug_dirs, "Search debug files here first [/usr/lib/debug]");
  app.add_flag("--no-pager", f.no_pager, "Never start a pager");
  app.add_option(
      "specification", f.words,
      "Profile specification: image:GLOB image-exclude:GLOB lib-image:GLOB cpu:N tid:N tgid:N event:NAME, or "
      "names of images");
}

absl::StatusOr<Profile> ReportCommand::MakeProfile(World& world, const Recording& recording,
                                                   Request& request) const {
  SymbolizerOptions options = SymbolizerOptionsFor(recording);
  options.image_paths = request.search_directories;
  options.root = flags_.root;
  options.vmlinux = flags_.vmlinux;
  options.kallsyms = flags_.kallsyms;
  options.debug_dirs.insert(options.debug_dirs.begin(), flags_.debug_dirs.begin(), flags_.debug_dirs.end());
  options.source = SourceDetailOf(flags_);
  options.live_machine = world.live_machine;
  options.proc_root = world.proc_root;
  options.sys_root = world.sys_root;
  std::vector<std::string> notes;
  options.jit_dumps = request.profile.jit_dumps = FindJitDumps(recording, options, &notes);
  KSAMP_ASSIGN_OR_RETURN(Profile profile, BuildProfile(recording, request.profile));
  profile.facts.notes.insert(profile.facts.notes.end(), notes.begin(), notes.end());
  Symbolize(profile, *Symbolizer::Create(std::move(options)), request.profile);
  if (flags_.inlined) AttributeToInlined(profile);
  if (!request.directories.empty()) {
    const std::vector<std::string> found = ImagesBelow(profile.images, request.directories);
    request.filters.images.insert(request.filters.images.end(), found.begin(), found.end());
  }
  ApplySymbolFilters(profile, request.filters);
  return profile;
}

absl::Status ReportCommand::Write(World& world, const Profile& profile, const Request& request) const {
  if (!request.output.empty()) {
    if (IsRecording(request.output))
      return absl::InvalidArgumentError(StrCat(flags_.flame_graph.empty() ? "-o " : "--flamegraph ",
                                               request.output,
                                               ": this is a recording, it is not overwritten"));
    KSAMP_ASSIGN_OR_RETURN(const UniqueFd fd, CreateOutputFile(request.output));
    FdStream out(fd.get(), request.output);
    const absl::Status status = WriteReport(profile, request.report, out);
    return absl::IsUnavailable(status) ? FlushStatus(out) : status;
  }
  const bool text = request.report.format == OutputFormat::kText;
  Pager pager(world, text && !flags_.no_pager ? PagerUse::kWhereUseful : PagerUse::kNever);
  const absl::Status status = WriteReport(profile, request.report, pager.out());
  const absl::Status finished = pager.Finish();
  return status.ok() || absl::IsUnavailable(status) ? finished : status;
}

// On stderr, as opreport.
void WarnOfLosses(World& world, const Profile& profile, uint64_t taken) {
  constexpr double kWorthSaying = 0.01;  // percent
  const uint64_t lost = profile.losses.lost_records + profile.losses.lost_samples;
  const double share = lost == 0 ? 0 : 100.0 * static_cast<double>(lost) / static_cast<double>(lost + taken);
  if (share > kWorthSaying)
    Say(world,
        StrCat("warning: ", GroupDigits(lost), " records were lost while recording, beside ",
               GroupDigits(taken), " samples taken: larger rings (record --ring-size) or a lower rate help"));
}

int ReportCommand::Run(World& world, const std::vector<std::string>&) {
  absl::StatusOr<Request> request = MakeRequest(flags_);
  if (!request.ok()) return Fail(world, request.status(), kExitUsage);
  const absl::StatusOr<std::string> input = FindRecording(world, flags_.input);
  if (!input.ok()) {
    const bool symbol = !flags_.input.empty() && flags_.input.find_first_of("/.") == std::string::npos;
    return Fail(
        world, input.status(), kExitNothing,
        symbol ? "-i names the recording, as in perf; opreport's -i is -S (--include-symbols) here." : "");
  }
  const absl::StatusOr<Recording> recording = Recording::Open(*input);
  if (!recording.ok()) return Fail(world, recording.status(), kExitNothing);
  const bool damaged = WarnOfDamage(world, *recording);
  const absl::StatusOr<Profile> profile = MakeProfile(world, *recording, *request);
  if (!profile.ok()) {
    const bool usage = !absl::IsFailedPrecondition(profile.status());
    return Fail(world, profile.status(), usage ? kExitUsage : kExitNothing);
  }
  const Conservation total = profile->Total();
  if (total.taken == 0) {
    Say(world, StrCat(*input, " holds no samples"));
    if (request->report.format == OutputFormat::kText) return damaged ? kExitDamaged : kExitShown;
  } else if (total.counted == 0 && total.FilteredTotal() > 0) {
    Say(world, StrCat("no samples found: profile specification too strict ? (", GroupDigits(total.taken),
                      " samples in ", *input, ", all filtered out or idle)"));
    return kExitNothing;
  }
  WarnOfLosses(world, *profile, total.taken);
  const absl::Status written = Write(world, *profile, *request);
  if (!written.ok())
    return Fail(world, written, absl::IsInvalidArgument(written) ? kExitUsage : kExitNothing);
  return damaged ? kExitDamaged : kExitShown;
}

}  // namespace

std::unique_ptr<Command> MakeReportCommand() {
  return std::make_unique<ReportCommand>();
}

}  // namespace ksamp
