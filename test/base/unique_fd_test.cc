// SPDX-License-Identifier: Apache-2.0
#include "lib/base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

namespace ksamp {
namespace {

bool IsOpen(int fd) {
  return fcntl(fd, F_GETFD) >= 0;
}

UniqueFd OpenNull() {
  return UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

TEST(UniqueFd, ClosesOnceAtTheEnd) {
  int number = -1;
  {
    UniqueFd fd = OpenNull();
    ASSERT_TRUE(fd);
    number = fd.get();
    UniqueFd moved(std::move(fd));
    EXPECT_FALSE(fd);  // NOLINT(bugprone-use-after-move): moved-from is none by contract.
    EXPECT_TRUE(IsOpen(number));
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(UniqueFd, AssignmentClosesTheOldOne) {
  UniqueFd a = OpenNull(), b = OpenNull();
  const int old = a.get(), kept = b.get();
  a = std::move(b);
  EXPECT_FALSE(IsOpen(old));
  EXPECT_EQ(a.get(), kept);
  UniqueFd& self = a;
  a = std::move(self);
  EXPECT_TRUE(IsOpen(kept));
}

TEST(UniqueFd, ReleaseKeepsItOpen) {
  UniqueFd fd = OpenNull();
  const int number = fd.Release();
  EXPECT_FALSE(fd);
  ASSERT_TRUE(IsOpen(number));
  fd.Reset(number);
  fd.Reset();
  EXPECT_FALSE(IsOpen(number));
}

}  // namespace
}  // namespace ksamp
