// SPDX-License-Identifier: Apache-2.0
// Golden texts: what a command printed, kept in a file beside the command line that made it.
//
//   EXPECT_TRUE(MatchesGolden(path, actual));
//
// With KSAMP_UPDATE_GOLDEN=1 in the environment the file is written instead, and the test passes: what
// changed is then seen in the diff of the commit.
#ifndef KSAMP_TEST_SUPPORT_GOLDEN_H_
#define KSAMP_TEST_SUPPORT_GOLDEN_H_

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace ksamp::testing {

::testing::AssertionResult MatchesGolden(const std::string& path, const std::string& actual);

// Lines only in `expected` with "-", only in `actual` with "+", what both have around them with " ".
std::string LineDiff(std::string_view expected, std::string_view actual);

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_SUPPORT_GOLDEN_H_
