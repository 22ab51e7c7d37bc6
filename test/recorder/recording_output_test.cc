// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/recording_output.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>

#include "lib/base/file_io.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::IsOkAndHolds;
using ::ksamp::testing::TempTree;

TEST(RecordingOutputTest, AFileIsNewAndOnlyOurs) {
  TempTree tree;
  ASSERT_OK_AND_ASSIGN(const RecordingOutput output, OpenRecordingFile(tree.Path("x.data")));
  struct stat status {};
  ASSERT_EQ(fstat(output.fd.get(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_FALSE(output.pipe);
  EXPECT_EQ(output.name, tree.Path("x.data"));
}

TEST(RecordingOutputTest, AnEarlierRecordingStepsAside) {
  TempTree tree;
  const std::string path = tree.Write("x.data", "first");
  ASSERT_OK(OpenRecordingFile(path));
  EXPECT_THAT(ReadFile(path + ".old"), IsOkAndHolds("first"));
  EXPECT_THAT(ReadFile(path), IsOkAndHolds(""));
}

TEST(RecordingOutputTest, NothingIsWrittenThroughALink) {
  TempTree tree;
  const std::string precious = tree.Write("precious", "keep me");
  const std::string link = tree.Symlink("x.data", precious);
  EXPECT_EQ(StatusErrno(OpenRecordingFile(link).status()), ELOOP);
  EXPECT_THAT(ReadFile(precious), IsOkAndHolds("keep me"));
}

TEST(RecordingOutputTest, DevicesAreOpenedAsTheyAre) {
  EXPECT_OK(OpenRecordingFile("/dev/null"));
}

TEST(RecordingOutputTest, MemoryHasNoPath) {
  ASSERT_OK_AND_ASSIGN(const RecordingOutput output, OpenRecordingInMemory());
  struct stat status {};
  ASSERT_EQ(fstat(output.fd.get(), &status), 0);
  EXPECT_EQ(status.st_nlink, 0u);
}

}  // namespace
}  // namespace ksamp
