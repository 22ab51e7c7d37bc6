// SPDX-License-Identifier: Apache-2.0
#include "lib/base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

namespace ksamp {
namespace {

bool IsOpen(int fd) {
  return fcntl(fd, F_GETFD) != -1;
}

UniqueFd OpenNull() {
  return UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

TEST(UniqueFd, ClosesWhatItOwns) {
  int number;
  {
    const UniqueFd fd = OpenNull();
    number = fd.get();
    EXPECT_TRUE(IsOpen(number));
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(UniqueFd, MovesAndReleases) {
  UniqueFd first = OpenNull();
  const int number = first.get();
  UniqueFd second = OpenNull();
  const int replaced = second.get();
  second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): a moved-from descriptor is none
  EXPECT_FALSE(IsOpen(replaced));
  EXPECT_EQ(second.Release(), number);
  EXPECT_TRUE(IsOpen(number));
  close(number);
}

}  // namespace
}  // namespace ksamp
