// SPDX-License-Identifier: Apache-2.0
#include "tools/fd_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <sstream>

#include "lib/base/file_io.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

TEST(FdStream, WritesSmallAndLargePiecesInOrder) {
  auto file = CreateScratchFile("fd_stream_test");
  ASSERT_OK(file);
  const std::string large(200000, 'x');
  {
    FdStream out(file->get(), "scratch");
    out << "first " << 42 << large << "last";
    EXPECT_OK(FlushStatus(out));
  }
  ASSERT_EQ(lseek(file->get(), 0, SEEK_SET), 0);
  EXPECT_THAT(ReadAll(file->get(), "scratch"), testing::IsOkAndHolds("first 42" + large + "last"));
}

TEST(FdStream, KeepsTheCauseOfAFailure) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  close(ends[0]);
  auto* old = std::signal(SIGPIPE, SIG_IGN);
  {
    FdStream out(ends[1], "pipe");
    out << "nobody reads this";
    EXPECT_EQ(StatusErrno(FlushStatus(out)), EPIPE);
    EXPECT_FALSE(out);
  }
  std::signal(SIGPIPE, old);
  close(ends[1]);
}

TEST(FdStream, OtherStreamsHaveNoCause) {
  std::ostringstream out;
  EXPECT_OK(FlushStatus(out));
  out.setstate(std::ios::badbit);
  EXPECT_THAT(FlushStatus(out), testing::StatusIs(absl::StatusCode::kUnavailable, ::testing::_));
}

}  // namespace
}  // namespace ksamp
