// SPDX-License-Identifier: Apache-2.0
// Reports: a profile as text in opreport's layouts, or as CSV, JSON, XML; its stacks as call graphs and flame
// graphs.
//
//   WriteReport(profile, {.form = ReportForm::kSymbols}, std::cout);
//
// Letters and layouts are opreport's (design D9): columns separated by blanks, so scripts that grep and awk
// them work. Percent base: symbol and image rows of the shown total before thresholds; sub-rows as opreport
// (details of their symbol, sub-tables of their application). The header says the base. In frequency mode
// shares, sorting and thresholds are by period while `samples` stays the number of samples. Pure: no files,
// no clock. Text from the recording is escaped for the form it goes into (D10).
#ifndef KSAMP_REPORT_H_
#define KSAMP_REPORT_H_

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "ksamp/export.h"
#include "ksamp/profile.h"

namespace ksamp {

enum class ReportForm {
  kImages,   // applications, under each its images
  kSymbols,  // -l
  kDetails,  // -d: per-address lines under each symbol
  kModules,  // -p without -l: one block per image, its total, its symbols
  // Of whole stacks (ProfileOptions::stacks), of one event, as text:
  kCallGraph,    // -c: each function between its callers and its callees
  kChildren,     // functions with what was counted in them and in what they call
  kCallerTree,   // from the outermost functions inwards
  kCalleeTree,   // from the sampled functions outwards
  kCallGraphOf,  // both around one function, ReportOptions::symbol
};

// kFolded, kFlameGraph: of whole stacks; the form does not matter.
enum class OutputFormat { kText, kXml, kCsv, kJson, kFolded, kFlameGraph };

enum class SortKey { kSample, kImage, kApp, kSymbol, kDebug, kVma };

// Columns side by side: one class per value.
enum class ClassAxis { kNone, kEvent, kCpu, kThread, kProcess };

struct ReportOptions {
  ReportForm form = ReportForm::kImages;
  OutputFormat format = OutputFormat::kText;
  bool show_address = false;             // -w
  bool show_line = false;                // -g: file and line, which Symbolize must have filled
  bool accumulated = false;              // -a
  bool reverse = false;                  // -r
  bool global_percent = false;           // -%
  bool percent_of_block = false;         // --percent=block, for kModules
  bool long_filenames = false;           // -f
  bool header = true;                    // -n turns it off
  bool all_notes = false;                // --notes: all of them in the header, not only the first lines
  std::vector<SortKey> sort;             // -s; default: sample
  double threshold = 0;                  // -t, percent
  std::string symbol;                    // for kCallGraphOf: a function's name, mangled or not
  bool icicle = false;                   // kFlameGraph grows downwards
  ClassAxis classes = ClassAxis::kNone;  // events become columns by themselves when there are several
  // Makes a symbol table's name the printed (and sorted) one; called once per name. Default: Demangle() of
  // ksamp/symbolizer.h.
  std::function<std::string(std::string_view)> demangle;
  std::string tool_version;  // for XML and JSON
};

// InvalidArgument: a combination opreport refuses, in its words. FailedPrecondition: stacks of a profile that
// was built without. NotFound: no stack holds ReportOptions::symbol. Unavailable: the stream failed.
KSAMP_EXPORT absl::Status WriteReport(const Profile& profile, const ReportOptions& options,
                                      std::ostream& out);

// The one formatter of percentages (opreport's rules): 7 wide, "29.3501", " 7.8747", "      0", "7.5e-04",
// "100.000". `percent` is already multiplied by 100.
KSAMP_EXPORT std::string FormatPercent(double percent);

}  // namespace ksamp

#endif  // KSAMP_REPORT_H_
