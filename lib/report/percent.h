// SPDX-License-Identifier: Apache-2.0
// The one formatter of percentages, appending (FormatPercent of ksamp/report.h is this, as a string).
#ifndef KSAMP_LIB_REPORT_PERCENT_H_
#define KSAMP_LIB_REPORT_PERCENT_H_

#include <cstdint>
#include <string>

namespace ksamp {

void AppendPercent(double percent, std::string* out);
// The same without the blanks in front, for forms whose fields are not columns.
void AppendBarePercent(double percent, std::string* out);

// 100 * part / whole; 0 of nothing is 0.
inline double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace ksamp

#endif  // KSAMP_LIB_REPORT_PERCENT_H_
