// SPDX-License-Identifier: Apache-2.0
// The forms of a report, one writer each; WriteReport (report.cc) chooses.
#ifndef KSAMP_LIB_REPORT_WRITERS_H_
#define KSAMP_LIB_REPORT_WRITERS_H_

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
void WriteXml(const Profile& profile, const ReportOptions& options, TextSink& out);

}  // namespace ksamp

#endif  // KSAMP_LIB_REPORT_WRITERS_H_
