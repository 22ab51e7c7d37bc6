// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "lib/base/byte_reader.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::IsOkAndHolds;
using ::ksamp::testing::StatusIs;
using ::ksamp::testing::TempTree;
using ::testing::HasSubstr;

TEST(FileIo, WhatIsWrittenIsRead) {
  const TempTree tree;
  const std::string path = tree.Path("f");
  ASSERT_OK(WriteFile(path, "long text"));
  ASSERT_OK(WriteFile(path, "text"));
  EXPECT_THAT(ReadFile(path), IsOkAndHolds("text"));
  ASSERT_OK_AND_ASSIGN(UniqueFd fd, OpenForReading(path));
  EXPECT_THAT(FileSize(fd.get(), path), IsOkAndHolds(4u));
}

TEST(FileIo, FilesOfProcHaveNoSizeAndAreRead) {
  EXPECT_THAT(ReadFile("/proc/self/comm"), IsOkAndHolds(HasSubstr("base_test")));
}

TEST(FileIo, AnEndlessFileStopsAtTheLimit) {
  EXPECT_THAT(ReadFile("/dev/zero", 10000),
              StatusIs(absl::StatusCode::kResourceExhausted, "read /dev/zero: longer than 10000 bytes"));
  const TempTree tree;
  EXPECT_THAT(ReadFile(tree.Write("f", "12345"), 5), IsOkAndHolds("12345"));
}

TEST(FileIo, ErrorsNameOperationPathAndCause) {
  const absl::Status status = ReadFile("/nowhere/at/all").status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, HasSubstr("open /nowhere/at/all")));
  EXPECT_EQ(StatusErrno(status), ENOENT);
  EXPECT_EQ(StatusErrno(absl::InternalError("without errno")), 0);
}

TEST(FileIo, OutputIsOursAlone) {
  const TempTree tree;
  const std::string path = tree.Path("out");
  const mode_t old_mask = umask(0);
  EXPECT_OK(CreateOutputFile(path));
  umask(old_mask);
  struct stat found {};
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
}

TEST(FileIo, OutputNeverGoesThroughALink) {
  const TempTree tree;
  const std::string victim = tree.Write("victim", "precious");
  const absl::Status status = CreateOutputFile(tree.Symlink("out", victim)).status();
  EXPECT_EQ(StatusErrno(status), ELOOP);
  EXPECT_THAT(ReadFile(victim), IsOkAndHolds("precious"));
}

TEST(FileIo, WritesAtOffsets) {
  ASSERT_OK_AND_ASSIGN(UniqueFd fd, CreateScratchFile("scratch"));
  ASSERT_OK(WriteAll(fd.get(), AsBytes("hello world"), "scratch"));
  ASSERT_OK(WriteAllAt(fd.get(), AsBytes("HELLO"), 0, "scratch"));
  ASSERT_EQ(lseek(fd.get(), 0, SEEK_SET), 0);
  EXPECT_THAT(ReadAll(fd.get(), "scratch"), IsOkAndHolds("HELLO world"));
}

TEST(FileIo, AFullDiskIsToldWithItsErrno) {
  UniqueFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  const absl::Status status = WriteAll(full.get(), AsBytes("x"), "/dev/full");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("write /dev/full")));
  EXPECT_EQ(StatusErrno(status), ENOSPC);
}

TEST(FileIo, ScratchOnDiskHasNoName) {
  const TempTree tree;
  setenv("TMPDIR", tree.root().c_str(), 1);
  ASSERT_OK_AND_ASSIGN(UniqueFd fd, CreateScratchFileOnDisk());
  unsetenv("TMPDIR");
  struct stat found {};
  ASSERT_EQ(fstat(fd.get(), &found), 0);
  EXPECT_EQ(found.st_nlink, 0u);
  EXPECT_OK(WriteAll(fd.get(), AsBytes("x"), "scratch"));
}

TEST(FileIo, SplitsPaths) {
  const struct {
    std::string_view path, folder, base;
  } cases[] = {
      {"a/b/c.so", "a/b", "c.so"}, {"c.so", ".", "c.so"}, {"/c", "/", "c"}, {"", ".", ""}, {"a/", "a", ""}};
  for (const auto& c : cases) {
    EXPECT_EQ(Dirname(c.path), c.folder) << c.path;
    EXPECT_EQ(Basename(c.path), c.base) << c.path;
  }
}

}  // namespace
}  // namespace ksamp
