// SPDX-License-Identifier: Apache-2.0
// Matchers that make a status part of a test's contract.
//
//   EXPECT_THAT(ReadFile(path), IsOkAndHolds("text"));
//   ASSERT_OK_AND_ASSIGN(Recording recording, Recording::Open(path));
//   EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss, HasSubstr("at 104")));
#ifndef KSAMP_TEST_SUPPORT_STATUS_MATCHERS_H_
#define KSAMP_TEST_SUPPORT_STATUS_MATCHERS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/status_macros.h"

namespace ksamp::testing {

inline const absl::Status& StatusOf(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

MATCHER(IsOk, negation ? "is an error" : "is OK") {
  if (StatusOf(arg).ok()) return true;
  *result_listener << StatusOf(arg).ToString();
  return false;
}

MATCHER_P2(StatusIs, code, message_matcher, "") {
  *result_listener << StatusOf(arg).ToString();
  return ::testing::ExplainMatchResult(code, StatusOf(arg).code(), result_listener) &&
         ::testing::ExplainMatchResult(message_matcher, std::string(StatusOf(arg).message()),
                                       result_listener);
}

MATCHER_P(IsOkAndHolds, value_matcher, "") {
  if (!arg.ok()) {
    *result_listener << arg.status().ToString();
    return false;
  }
  return ::testing::ExplainMatchResult(value_matcher, *arg, result_listener);
}

}  // namespace ksamp::testing

#define EXPECT_OK(expression) EXPECT_THAT(expression, ::ksamp::testing::IsOk())
#define ASSERT_OK(expression) ASSERT_THAT(expression, ::ksamp::testing::IsOk())
#define ASSERT_OK_AND_ASSIGN(declaration, expression) \
  ASSERT_OK_AND_ASSIGN_(KSAMP_MACRO_JOIN(ksamp_result_, __LINE__), declaration, expression)
#define ASSERT_OK_AND_ASSIGN_(result, declaration, expression) \
  auto result = (expression);                                  \
  ASSERT_OK(result);                                           \
  declaration = *std::move(result)

#endif  // KSAMP_TEST_SUPPORT_STATUS_MATCHERS_H_
