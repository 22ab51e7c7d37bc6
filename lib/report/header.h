// SPDX-License-Identifier: Apache-2.0
// The header of text reports: which machine, which event and how often, what was left out and why, and what
// percentages are of (design §1.2).
#ifndef KSAMP_LIB_REPORT_HEADER_H_
#define KSAMP_LIB_REPORT_HEADER_H_

#include <string>

#include "lib/report/view.h"

namespace ksamp {

void AppendHeader(const ReportView& view, std::string* out);

}  // namespace ksamp

#endif  // KSAMP_LIB_REPORT_HEADER_H_
