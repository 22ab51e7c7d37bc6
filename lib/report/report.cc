// SPDX-License-Identifier: Apache-2.0
#include "ksamp/report.h"

#include <ostream>

#include "ksamp/symbolizer.h"
#include "lib/base/status_macros.h"
#include "lib/report/call_tree.h"
#include "lib/report/view.h"
#include "lib/report/writers.h"

namespace ksamp {
namespace {

// What opreport refuses, in its words.
absl::Status CheckOptions(const ReportOptions& options) {
  if (options.threshold < 0 || options.threshold > 100)
    return absl::InvalidArgumentError("illegal threshold value: it must be between 0 and 100");
  if (options.format == OutputFormat::kXml) {
    if (options.accumulated) return absl::InvalidArgumentError("--accumulated is incompatible with --xml");
    if (options.global_percent)
      return absl::InvalidArgumentError("--global-percent is incompatible with --xml");
  }
  if (options.form == ReportForm::kImages) {
    if (options.accumulated)
      return absl::InvalidArgumentError("--accumulated is meaningless without --symbols");
    if (options.show_address)
      return absl::InvalidArgumentError("--show-address is meaningless without --symbols");
    if (options.show_line) return absl::InvalidArgumentError("--debug-info is meaningless without --symbols");
    for (SortKey key : options.sort)
      if (key == SortKey::kVma || key == SortKey::kDebug)
        return absl::InvalidArgumentError(key == SortKey::kVma
                                              ? "--sort=vma is meaningless without --symbols"
                                              : "--sort=debug is meaningless without --symbols");
  }
  return absl::OkStatus();
}

bool IsOfStacks(const ReportOptions& options) {
  if (options.format == OutputFormat::kFolded || options.format == OutputFormat::kFlameGraph) return true;
  switch (options.form) {
    case ReportForm::kCallGraph:
    case ReportForm::kChildren:
    case ReportForm::kCallerTree:
    case ReportForm::kCalleeTree:
    case ReportForm::kCallGraphOf:
      return true;
    default:
      return false;
  }
}

absl::Status WriteStacks(const Profile& profile, ReportOptions options, TextSink& out) {
  if (options.accumulated) return absl::InvalidArgumentError("--accumulated is meaningless in a call graph");
  KSAMP_ASSIGN_OR_RETURN(const uint32_t event, EventOfStacks(profile));
  options.classes = ClassAxis::kNone;  // Stacks are summed up over what is separated, but for threads' names.
  switch (options.format) {
    case OutputFormat::kFolded:
      WriteFolded(profile, options, out);
      return absl::OkStatus();
    case OutputFormat::kFlameGraph:
      WriteFlameGraph(profile, event, options, out);
      return absl::OkStatus();
    case OutputFormat::kText:
      break;
    default:
      return absl::InvalidArgumentError("call graphs have no CSV, JSON or XML: use --folded or --flamegraph");
  }
  switch (options.form) {
    case ReportForm::kChildren:
      WriteChildren(profile, event, options, out);
      return absl::OkStatus();
    case ReportForm::kCallerTree:
      WriteCallerTree(profile, event, options, out);
      return absl::OkStatus();
    case ReportForm::kCalleeTree:
      WriteCalleeTree(profile, event, options, out);
      return absl::OkStatus();
    case ReportForm::kCallGraphOf:
      return WriteCallGraphOf(profile, event, options, out);
    default:
      WriteCallGraph(profile, event, options, out);
      return absl::OkStatus();
  }
}

void WriteText(const Profile& profile, const ReportOptions& options, TextSink& out) {
  switch (options.form) {
    case ReportForm::kImages:
      return WriteImageReport(profile, options, out);
    case ReportForm::kModules:
      return WriteModuleReport(profile, options, out);
    default:
      return WriteSymbolReport(profile, options, out);
  }
}

}  // namespace

absl::Status WriteReport(const Profile& profile, const ReportOptions& asked, std::ostream& out) {
  ReportOptions options = asked;
  if (!options.demangle) options.demangle = [](std::string_view name) { return Demangle(name); };
  KSAMP_RETURN_IF_ERROR(CheckOptions(options));
  if (IsOfStacks(options)) {
    {
      TextSink sink(out);
      KSAMP_RETURN_IF_ERROR(WriteStacks(profile, options, sink));
    }
    out.flush();
    return out ? absl::OkStatus() : absl::UnavailableError("write report: the stream failed");
  }
  if (options.format == OutputFormat::kText || options.format == OutputFormat::kXml)
    KSAMP_RETURN_IF_ERROR(CheckColumns(profile, options));
  {
    TextSink sink(out);
    switch (options.format) {
      case OutputFormat::kText:
        WriteText(profile, options, sink);
        break;
      case OutputFormat::kXml:
        WriteXml(profile, options, sink);
        break;
      case OutputFormat::kCsv:
        WriteCsv(profile, options, sink);
        break;
      case OutputFormat::kJson:
        WriteJson(profile, options, sink);
        break;
      case OutputFormat::kFolded:
      case OutputFormat::kFlameGraph:
        break;  // Written above.
    }
  }
  out.flush();
  return out ? absl::OkStatus() : absl::UnavailableError("write report: the stream failed");
}

}  // namespace ksamp
