// SPDX-License-Identifier: Apache-2.0
// A report as a string.
#ifndef KSAMP_TEST_REPORT_WRITE_H_
#define KSAMP_TEST_REPORT_WRITE_H_

#include <sstream>
#include <string>

#include "ksamp/report.h"
#include "test/report/sample_profile.h"
#include "test/support/status_matchers.h"

namespace ksamp::testing {

inline std::string Written(const Profile& profile, const ReportOptions& options) {
  std::ostringstream out;
  EXPECT_OK(WriteReport(profile, options, out));
  return out.str();
}

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_REPORT_WRITE_H_
