// SPDX-License-Identifier: Apache-2.0
// A decoded record as text, every field of it: two records are the same where their texts are.
//
//   EXPECT_EQ(PrintRecord(decoded), PrintRecord(expected));
#ifndef KSAMP_TEST_SUPPORT_RECORD_PRINTERS_H_
#define KSAMP_TEST_SUPPORT_RECORD_PRINTERS_H_

#include <string>

#include "ksamp/record.h"

namespace ksamp::testing {

// "comm pid=7 tid=8 exec=1 comm=\"bash\" | id.time=9"
std::string PrintRecord(const Record& record);

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_SUPPORT_RECORD_PRINTERS_H_
