// SPDX-License-Identifier: Apache-2.0
#include "lib/base/status_macros.h"

#include <memory>
#include <utility>

#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ksamp::testing::IsOkAndHolds;
using ksamp::testing::StatusIs;

absl::StatusOr<std::unique_ptr<int>> Make(bool ok, int* calls) {
  ++*calls;
  if (!ok) return absl::AbortedError("no");
  return std::make_unique<int>(5);
}

absl::StatusOr<int> Sum(bool first, bool second, int* calls) {
  KSAMP_ASSIGN_OR_RETURN(std::unique_ptr<int> a, Make(first, calls));
  KSAMP_ASSIGN_OR_RETURN(std::unique_ptr<int> b, Make(second, calls));
  return *a + *b;
}

TEST(AssignOrReturn, MovesTheValueOrReturnsAtOnce) {
  int calls = 0;
  EXPECT_THAT(Sum(true, true, &calls), IsOkAndHolds(10));
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(Sum(false, true, &calls).status(), StatusIs(absl::StatusCode::kAborted, "no"));
  EXPECT_EQ(calls, 3);
}

absl::Status Both(const absl::Status& a, const absl::Status& b) {
  if (absl::IsCancelled(a))
    KSAMP_RETURN_IF_ERROR(b);
  else
    KSAMP_RETURN_IF_ERROR(a);
  return absl::OkStatus();
}

TEST(ReturnIfError, IsOneStatement) {
  EXPECT_OK(Both(absl::OkStatus(), absl::AbortedError("unused")));
  EXPECT_THAT(Both(absl::DataLossError("a"), absl::OkStatus()), StatusIs(absl::StatusCode::kDataLoss, "a"));
  EXPECT_THAT(Both(absl::CancelledError("a"), absl::AbortedError("b")),
              StatusIs(absl::StatusCode::kAborted, "b"));
}

}  // namespace
}  // namespace ksamp
