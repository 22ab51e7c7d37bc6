// SPDX-License-Identifier: Apache-2.0
// The order of rows: opreport's -s keys, all remaining keys as tie-breakers, -r turning every comparison
// round.
#ifndef KSAMP_LIB_REPORT_ORDER_H_
#define KSAMP_LIB_REPORT_ORDER_H_

#include <cstdint>
#include <vector>

#include "lib/report/view.h"

namespace ksamp {

// Rows that reach the threshold, in order.
std::vector<uint32_t> SortedRows(const ReportView& view);
// Samples of the rows that do not.
uint64_t SamplesBelowThreshold(const ReportView& view);
// All rows, in order.
std::vector<uint32_t> SortedRowsOfAll(const ReportView& view);

}  // namespace ksamp

#endif  // KSAMP_LIB_REPORT_ORDER_H_
