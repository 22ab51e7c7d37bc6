// SPDX-License-Identifier: Apache-2.0
// The forms of a report, one writer each; WriteReport (report.cc) chooses.
#ifndef KSAMP_LIB_REPORT_WRITERS_H_
#define KSAMP_LIB_REPORT_WRITERS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "ksamp/profile.h"
#include "ksamp/report.h"
#include "lib/report/table.h"

namespace ksamp {

void WriteImageReport(const Profile& profile, const ReportOptions& options, TextSink& out);
// -l and -d.
void WriteSymbolReport(const Profile& profile, const ReportOptions& options, TextSink& out);
void WriteModuleReport(const Profile& profile, const ReportOptions& options, TextSink& out);
void WriteCsv(const Profile& profile, const ReportOptions& options, TextSink& out);
void WriteJson(const Profile& profile, const ReportOptions& options, TextSink& out);
// Of one event's stacks (EventOfStacks of call_tree.h).
void WriteCallGraph(const Profile& profile, uint32_t event, const ReportOptions& options, TextSink& out);
void WriteChildren(const Profile& profile, uint32_t event, const ReportOptions& options, TextSink& out);
void WriteCallerTree(const Profile& profile, uint32_t event, const ReportOptions& options, TextSink& out);
void WriteCalleeTree(const Profile& profile, uint32_t event, const ReportOptions& options, TextSink& out);
// NotFound: no stack holds the function.
absl::Status WriteCallGraphOf(const Profile& profile, uint32_t event, const ReportOptions& options,
                              TextSink& out);
void WriteFolded(const Profile& profile, const ReportOptions& options, TextSink& out);
void WriteFlameGraph(const Profile& profile, uint32_t event, const ReportOptions& options, TextSink& out);
void WriteXml(const Profile& profile, const ReportOptions& options, TextSink& out);

}  // namespace ksamp

#endif  // KSAMP_LIB_REPORT_WRITERS_H_
