// SPDX-License-Identifier: Apache-2.0
#include "lib/os/process_fd.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "lib/base/file_io.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

TEST(OpenProcessFd, BecomesReadableWhenTheProcessEnds) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  ASSERT_OK_AND_ASSIGN(UniqueFd fd, OpenProcessFd(child));
  EXPECT_NE(fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, 0);
  pollfd ended{fd.get(), POLLIN, 0};
  EXPECT_EQ(poll(&ended, 1, 0), 0);
  kill(child, SIGKILL);
  EXPECT_EQ(poll(&ended, 1, 60'000), 1);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(StatusErrno(OpenProcessFd(child).status()), ESRCH);
}

}  // namespace
}  // namespace ksamp
