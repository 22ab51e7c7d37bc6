// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <thread>

#include "lib/base/byte_reader.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ksamp::testing::IsOkAndHolds;
using ksamp::testing::StatusIs;
using ksamp::testing::TempTree;
using ::testing::_;
using ::testing::HasSubstr;

TEST(ReadFile, ReadsAllUpToTheLimit) {
  TempTree tree;
  for (size_t size : {1, 4096, 4097, 100000}) {
    const std::string text(size, 'x'), path = tree.Write("file", text);
    EXPECT_THAT(ReadFile(path), IsOkAndHolds(text));
    EXPECT_THAT(ReadFile(path, size), IsOkAndHolds(text));
    EXPECT_THAT(ReadFile(path, size - 1).status(),
                StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr(path)));
  }
  EXPECT_THAT(ReadFile(tree.Write("empty", ""), 0), IsOkAndHolds(""));
}

TEST(ReadFile, ReadsFilesWithoutASize) {
  EXPECT_THAT(ReadFile("/proc/self/status"), IsOkAndHolds(HasSubstr("Pid:")));
}

TEST(ReadFile, AnEndlessFileStopsAtTheLimit) {
  EXPECT_THAT(ReadFile("/dev/zero", 1 << 20).status(),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("/dev/zero")));
}

TEST(ReadFile, ErrorsNameThePathAndKeepErrno) {
  TempTree tree;
  const absl::Status missing = ReadFile(tree.Path("none")).status();
  EXPECT_THAT(missing, StatusIs(absl::StatusCode::kNotFound, HasSubstr("open " + tree.Path("none"))));
  EXPECT_EQ(StatusErrno(missing), ENOENT);
  const absl::Status folder = ReadFile(tree.root()).status();
  EXPECT_EQ(StatusErrno(folder), EISDIR);
  EXPECT_THAT(folder, StatusIs(_, HasSubstr("read " + tree.root())));
  EXPECT_EQ(StatusErrno(absl::OkStatus()), 0);
  EXPECT_EQ(StatusErrno(absl::NotFoundError("not of this room")), 0);
}

TEST(CreateOutputFile, IsOursAloneAndReplacesTheOld) {
  TempTree tree;
  const std::string path = tree.Path("out");
  ASSERT_OK(WriteFile(path, "long old text"));
  ASSERT_OK(WriteFile(path, "new"));
  EXPECT_THAT(ReadFile(path), IsOkAndHolds("new"));
  struct stat file {};
  ASSERT_EQ(stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777u, 0600u);
}

TEST(AppendToOutputFile, KeepsWhatIsThereAndFollowsNoLink) {
  TempTree tree;
  const std::string path = tree.Write("old", "one"), link = tree.Path("link");
  ASSERT_OK_AND_ASSIGN(UniqueFd fd, AppendToOutputFile(path));
  ASSERT_OK(WriteAll(fd.get(), AsBytes("two"), path));
  EXPECT_THAT(ReadFile(path), IsOkAndHolds("onetwo"));
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  EXPECT_EQ(StatusErrno(AppendToOutputFile(link).status()), ELOOP);
}

TEST(CreateOutputFile, FollowsNoLink) {
  TempTree tree;
  const std::string victim = tree.Write("victim", "keep me"), link = tree.Symlink("link", victim);
  EXPECT_EQ(StatusErrno(CreateOutputFile(link).status()), ELOOP);
  EXPECT_THAT(ReadFile(victim), IsOkAndHolds("keep me"));
}

TEST(CreateOutputFile, TakesADeviceAsItIs) {
  ASSERT_OK(WriteFile("/dev/null", "gone"));
}

TEST(CreateScratchFile, HasNoNameAndHoldsBytes) {
  TempTree tree;
  setenv("TMPDIR", tree.root().c_str(), 1);
  absl::StatusOr<UniqueFd> files[] = {CreateScratchFile("scratch"), CreateScratchFileOnDisk()};
  unsetenv("TMPDIR");
  for (const absl::StatusOr<UniqueFd>& fd : files) {
    ASSERT_OK(fd);
    ASSERT_OK(WriteAll(fd->get(), AsBytes("hello"), "scratch"));
    EXPECT_THAT(FileSize(fd->get(), "scratch"), IsOkAndHolds(5u));
    ASSERT_EQ(lseek(fd->get(), 0, SEEK_SET), 0);
    EXPECT_THAT(ReadAll(fd->get(), "scratch"), IsOkAndHolds("hello"));
    struct stat file {};
    ASSERT_EQ(fstat(fd->get(), &file), 0);
    EXPECT_EQ(file.st_nlink, 0u);
    EXPECT_NE(fcntl(fd->get(), F_GETFD) & FD_CLOEXEC, 0);
  }
}

TEST(WriteAllAt, WritesWhereItIsTold) {
  TempTree tree;
  const std::string path = tree.Path("out");
  ASSERT_OK_AND_ASSIGN(UniqueFd fd, CreateOutputFile(path));
  ASSERT_OK(WriteAll(fd.get(), AsBytes("0123456789"), path));
  ASSERT_OK(WriteAllAt(fd.get(), AsBytes("ab"), 3, path));
  ASSERT_OK(WriteAll(fd.get(), AsBytes("+"), path));  // The position did not move.
  EXPECT_THAT(ReadFile(path), IsOkAndHolds("012ab56789+"));
}

TEST(WriteAll, ErrorsKeepErrno) {
  ASSERT_OK_AND_ASSIGN(UniqueFd full, CreateOutputFile("/dev/full"));
  const absl::Status status = WriteAll(full.get(), AsBytes("x"), "the disk");
  EXPECT_EQ(StatusErrno(status), ENOSPC);
  EXPECT_THAT(status, StatusIs(_, HasSubstr("write the disk")));
  EXPECT_EQ(StatusErrno(WriteAll(-1, AsBytes("x"), "nothing")), EBADF);
  EXPECT_OK(WriteAll(-1, {}, "nothing"));
}

// Somebody who shares our pipe may have made it non-blocking.
TEST(WriteAll, WaitsForAFullPipe) {
  std::array<int, 2> fds;
  ASSERT_EQ(pipe2(fds.data(), O_CLOEXEC), 0);
  UniqueFd read_end(fds[0]), write_end(fds[1]);
  ASSERT_EQ(fcntl(write_end.get(), F_SETFL, O_NONBLOCK), 0);
  const std::string text(1 << 20, 'x');
  std::string got;
  std::thread reader([&] { got = ReadAll(read_end.get(), "pipe").value_or(""); });
  EXPECT_OK(WriteAll(write_end.get(), AsBytes(text), "pipe"));
  write_end.Reset();
  reader.join();
  EXPECT_TRUE(got == text) << got.size();
}

TEST(FileSize, NamesTheFileItCannotStat) {
  EXPECT_THAT(FileSize(-1, "that"), StatusIs(_, HasSubstr("stat that")));
}

TEST(Basename, AndDirname) {
  const std::array<std::string_view, 3> cases[] = {{"a/b/c.so", "c.so", "a/b"},
                                                   {"c.so", "c.so", "."},
                                                   {"/c.so", "c.so", "/"},
                                                   {"", "", "."},
                                                   {"/", "", "/"},
                                                   {"a/", "", "a"}};
  for (const auto& [path, base, folder] : cases) {
    EXPECT_EQ(Basename(path), base) << path;
    EXPECT_EQ(Dirname(path), folder) << path;
  }
}

}  // namespace
}  // namespace ksamp
