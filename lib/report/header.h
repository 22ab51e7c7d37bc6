// SPDX-License-Identifier: Apache-2.0
// The header of text reports: which machine, which event and how often, what was left out and why, and what
// percentages are of (design §1.2).
#ifndef KSAMP_LIB_REPORT_HEADER_H_
#define KSAMP_LIB_REPORT_HEADER_H_

#include <cstdint>
#include <string>

#include "lib/report/view.h"

namespace ksamp {

// `below_threshold`: samples of the rows that the threshold hides.
void AppendHeader(const ReportView& view, uint64_t below_threshold, std::string* out);

}  // namespace ksamp

#endif  // KSAMP_LIB_REPORT_HEADER_H_
