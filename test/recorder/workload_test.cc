// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/workload.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "test/support/capability.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ksamp::testing::IsOkAndHolds;
using ksamp::testing::StatusIs;
using ksamp::testing::TempTree;
using ::testing::_;
using ::testing::HasSubstr;

// A script or file with a mode.
std::string WriteProgram(const TempTree& tree, const char* name, const char* text, mode_t mode) {
  const std::string path = tree.Write(name, text);
  EXPECT_EQ(chmod(path.c_str(), mode), 0);
  return path;
}

TEST(FindProgram, SearchesThePathAsExecvpDoes) {
  TempTree tree;
  WriteProgram(tree, "a/tool", "", 0600);  // Not executable: looked over.
  tree.MakeDirectory("b/tool");
  const std::string right = WriteProgram(tree, "c/tool", "", 0755);
  WriteProgram(tree, "a/locked", "", 0600);
  const std::string path =
      StrCat(tree.Path("none"), ":", tree.Path("a"), ":", tree.Path("b"), ":", tree.Path("c"));
  EXPECT_THAT(FindProgram("tool", path), IsOkAndHolds(right));
  EXPECT_THAT(FindProgram("locked", path).status(),
              StatusIs(absl::StatusCode::kPermissionDenied, "run locked: Permission denied"));
  EXPECT_THAT(FindProgram("missing", path).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("run missing")));
  EXPECT_THAT(FindProgram("", path).status(), StatusIs(absl::StatusCode::kNotFound, _));
}

TEST(FindProgram, TakesANameWithASlashAsItIs) {
  TempTree tree;
  const std::string program = WriteProgram(tree, "tool", "", 0755);
  EXPECT_THAT(FindProgram(program, ""), IsOkAndHolds(program));
  EXPECT_THAT(FindProgram(program + "/x", "").status(), StatusIs(absl::StatusCode::kNotFound, _));
  EXPECT_THAT(FindProgram(tree.root(), "").status(), StatusIs(absl::StatusCode::kPermissionDenied, _));
}

TEST(Workload, RunsNothingBeforeStart) {
  TempTree tree;
  const std::string mark = tree.Path("mark");
  ASSERT_OK_AND_ASSIGN(Workload workload, Workload::Prepare({"touch", mark}));
  EXPECT_EQ(kill(workload.pid(), 0), 0);
  EXPECT_EQ(workload.TryWait(), std::nullopt);
  EXPECT_NE(access(mark.c_str(), F_OK), 0);
  ASSERT_OK(workload.Start());
  EXPECT_EQ(workload.Wait(), 0);
  EXPECT_EQ(access(mark.c_str(), F_OK), 0);
}

TEST(Workload, HandsOnTheExitStatusAndKeepsIt) {
  ASSERT_OK_AND_ASSIGN(Workload workload, Workload::Prepare({"sh", "-c", "exit 42"}));
  ASSERT_OK(workload.Start());
  pollfd poll_fd{workload.poll_fd(), POLLIN, 0};
  ASSERT_EQ(poll(&poll_fd, 1, 60'000), 1);
  const std::optional<int> status = workload.TryWait();
  ASSERT_TRUE(status.has_value());
  EXPECT_TRUE(WIFEXITED(*status));
  EXPECT_EQ(WEXITSTATUS(*status), 42);
  EXPECT_EQ(workload.TryWait(), status);
  EXPECT_EQ(workload.Wait(), *status);
}

TEST(Workload, TellsTheSignalThatKilledIt) {
  ASSERT_OK_AND_ASSIGN(Workload workload, Workload::Prepare({"sleep", "1000"}));
  ASSERT_OK(workload.Start());
  workload.Signal(SIGTERM);
  const int status = workload.Wait();
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

// Ctrl-C while events are opened: the child that waits is in the foreground group, too.
TEST(Workload, AChildThatASignalEndedBeforeItsStartIsACommandThatItEnded) {
  for (const bool reaped : {false, true}) {
    ASSERT_OK_AND_ASSIGN(Workload workload, Workload::Prepare({"true"}));
    ASSERT_EQ(kill(workload.pid(), SIGINT), 0);
    pollfd gone{workload.poll_fd(), POLLIN, 0};
    ASSERT_EQ(poll(&gone, 1, 60'000), 1);
    if (reaped) {
      EXPECT_TRUE(workload.TryWait().has_value());
    }
    EXPECT_OK(workload.Start());
    const std::optional<int> status = workload.TryWait();
    ASSERT_TRUE(status.has_value());
    EXPECT_EQ(WTERMSIG(*status), SIGINT);
  }
}

TEST(Workload, HandlersOfTheRecorderAreNotTheChilds) {
  struct sigaction mine {
  }, before{};
  mine.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGTERM, &mine, &before), 0);
  ASSERT_OK_AND_ASSIGN(Workload workload, Workload::Prepare({"sleep", "1000"}));
  sigaction(SIGTERM, &before, nullptr);
  // Sent until it has put its own handlers away.
  pollfd gone{workload.poll_fd(), POLLIN, 0};
  while (poll(&gone, 1, 10) == 0) workload.Signal(SIGTERM);
  EXPECT_EQ(WTERMSIG(workload.Wait()), SIGTERM);
}

TEST(Workload, RefusesWhatCannotRunBeforeForking) {
  TempTree tree;
  const std::string locked = WriteProgram(tree, "locked", "#!/bin/sh\n", 0600);
  EXPECT_THAT(Workload::Prepare({"no-such-command-at-all"}).status(),
              StatusIs(absl::StatusCode::kNotFound, _));
  EXPECT_THAT(Workload::Prepare({locked}).status(), StatusIs(absl::StatusCode::kPermissionDenied, _));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // No child is left behind.
}

TEST(Workload, TellsTheErrnoOfAnExecThatFails) {
  TempTree tree;
  const std::string script = WriteProgram(tree, "script", "#!/no/such/interpreter\n", 0755);
  ASSERT_OK_AND_ASSIGN(Workload workload, Workload::Prepare({script}));
  const absl::Status status = workload.Start();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, HasSubstr(script)));
  EXPECT_EQ(StatusErrno(status), ENOENT);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(Workload, RunsAScriptWithoutAnInterpreterLineByTheShell) {
  TempTree tree;
  const std::string script = WriteProgram(tree, "script", "exit $(($1 + $2))\n", 0755);
  ASSERT_OK_AND_ASSIGN(Workload workload, Workload::Prepare({script, "3", "4"}));
  ASSERT_OK(workload.Start());
  EXPECT_EQ(WEXITSTATUS(workload.Wait()), 7);
}

TEST(Workload, LeavesNothingBehindWhenNeverStarted) {
  TempTree tree;
  const std::string mark = tree.Path("mark");
  pid_t pid = -1;
  {
    ASSERT_OK_AND_ASSIGN(Workload workload, Workload::Prepare({"touch", mark}));
    pid = workload.pid();
    Workload moved = std::move(workload);
    EXPECT_EQ(moved.pid(), pid);
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
  EXPECT_NE(access(mark.c_str(), F_OK), 0);
}

// The child of a recorder that dies before Start sees the pipe's end.
TEST(Workload, RunsNothingWhenTheRecorderIsKilled) {
  TempTree tree;
  const std::string mark = tree.Path("mark");
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  const pid_t recorder = fork();
  if (recorder == 0) {
    close(fds[0]);
    absl::StatusOr<Workload> workload = Workload::Prepare({"touch", mark});
    kill(getpid(), SIGKILL);
  }
  close(fds[1]);
  waitpid(recorder, nullptr, 0);
  // The write end lives on in the waiting child: its end is the child's end.
  char byte = 0;
  EXPECT_EQ(read(fds[0], &byte, 1), 0);
  close(fds[0]);
  EXPECT_NE(access(mark.c_str(), F_OK), 0);
}

TEST(Workload, ExitStatusSurvivesAnIgnoredSigchld) {
  struct sigaction ignore {
  }, before{};
  ignore.sa_handler = SIG_IGN;
  ASSERT_EQ(sigaction(SIGCHLD, &ignore, &before), 0);
  absl::StatusOr<Workload> workload = Workload::Prepare({"sh", "-c", "exit 3"});
  ASSERT_OK(workload);
  ASSERT_OK(workload->Start());
  EXPECT_EQ(WEXITSTATUS(workload->Wait()), 3);
  sigaction(SIGCHLD, &before, nullptr);
}

std::vector<std::string> Descriptors(const std::string& folder, bool with_cloexec) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    const int flags = fcntl(std::stoi(name), F_GETFD);
    if (with_cloexec || (flags >= 0 && (flags & FD_CLOEXEC) == 0)) names.push_back(name);
  }
  return names;
}

TEST(Workload, InheritsNoDescriptorsOfOurs) {
  const std::vector<std::string> inheritable = Descriptors("/proc/self/fd", false);
  ASSERT_OK_AND_ASSIGN(Workload workload, Workload::Prepare({"sleep", "1000"}));
  ASSERT_OK(workload.Start());
  EXPECT_THAT(Descriptors(StrCat("/proc/", workload.pid(), "/fd"), true),
              ::testing::UnorderedElementsAreArray(inheritable));
  workload.Signal(SIGKILL);
  workload.Wait();
}

}  // namespace
}  // namespace ksamp
