// SPDX-License-Identifier: Apache-2.0
#include "tools/diagnostics.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "lib/base/file_io.h"
#include "test/support/test_world.h"
#include "tools/command.h"

namespace ksamp {
namespace {

TEST(Diagnostics, TheRemedyStandsBelowTheCause) {
  testing::TestWorld world;
  EXPECT_EQ(Fail(world.world, absl::PermissionDeniedError("open cycles: not allowed"), kExitOwnFailure,
                 "Run it as root."),
            kExitOwnFailure);
  EXPECT_EQ(world.err(), "ksamp: open cycles: not allowed\n       Run it as root.\n");
  EXPECT_EQ(world.out(), "");
}

TEST(Diagnostics, TextOfARecordingCannotDriveTheTerminal) {
  testing::TestWorld world;
  Say(world.world, "no image \x1b[2J\rhere\n");
  EXPECT_EQ(world.err(), "ksamp: no image \\x1b[2J\\x0dhere\n");
}

TEST(Diagnostics, AReaderThatWentAwayIsNoFailure) {
  testing::TestWorld world;
  EXPECT_EQ(Fail(world.world, ErrnoStatus(EPIPE, "write standard output"), kExitNothing), kExitShown);
  EXPECT_EQ(world.err(), "");
}

}  // namespace
}  // namespace ksamp
