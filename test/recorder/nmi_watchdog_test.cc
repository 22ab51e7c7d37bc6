// SPDX-License-Identifier: Apache-2.0
// A plain file stands in for /proc/sys/kernel/nmi_watchdog; everything else is real: processes, SIGKILL,
// locks.
#include "lib/recorder/nmi_watchdog.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

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

class NmiWatchdog : public ::testing::Test {
 protected:
  NmiWatchdog() {
    paths_.proc_root = tree_.Path("proc");
    paths_.run_dir = tree_.MakeDirectory("run");
    SetValue("1\n");
  }
  void SetValue(const char* text) { control_ = tree_.Write("proc/sys/kernel/nmi_watchdog", text); }
  std::string Value() const { return ReadFile(control_).value_or("unreadable"); }
  std::string State() const { return ReadFile(tree_.Path("run/ksamp-nmi-watchdog")).value_or("none"); }

  TempTree tree_;
  NmiWatchdogPaths paths_;
  std::string control_;
};

// A process that holds the watchdog off until it is killed.
class Recorder {
 public:
  explicit Recorder(const NmiWatchdogPaths& paths) {
    std::array<int, 2> fds;
    EXPECT_EQ(pipe(fds.data()), 0);
    pid_ = fork();
    if (pid_ == 0) {
      absl::StatusOr<NmiWatchdogOff> off = NmiWatchdogOff::Acquire(paths);
      const pid_t guardian = off.ok() ? off->guardian() : -1;
      if (write(fds[1], &guardian, sizeof(guardian)) < 0) _exit(1);
      for (;;) pause();
    }
    EXPECT_EQ(read(fds[0], &guardian_, sizeof(guardian_)), static_cast<ssize_t>(sizeof(guardian_)));
    close(fds[0]);
    close(fds[1]);
  }
  pid_t guardian() const { return guardian_; }
  void Kill() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_ = -1, guardian_ = -1;
};

// The guardian is nobody's child once its recorder is dead: watched by its pid.
void WaitForEnd(pid_t pid) {
  for (;;) {
    const std::string stat = ReadFile(StrCat("/proc/", pid, "/stat")).value_or("");
    if (stat.empty() || stat.find(") Z") != std::string::npos) return;
    usleep(1000);
  }
}

TEST_F(NmiWatchdog, IsOffForTheRunAndBackAfterwards) {
  {
    ASSERT_OK_AND_ASSIGN(NmiWatchdogOff off, NmiWatchdogOff::Acquire(paths_));
    EXPECT_EQ(Value(), "0\n");
    EXPECT_THAT(State(), HasSubstr(StrCat("original 1\nholder ", off.guardian(), " ")));
    struct stat file {};
    ASSERT_EQ(stat(tree_.Path("run/ksamp-nmi-watchdog").c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777u, 0600u);
  }
  EXPECT_EQ(Value(), "1\n");
  EXPECT_EQ(State(), "");
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // The guardian was reaped.
}

TEST_F(NmiWatchdog, IsBackAfterTheRecorderWasKilled) {
  Recorder recorder(paths_);
  ASSERT_GT(recorder.guardian(), 0);
  EXPECT_EQ(Value(), "0\n");
  recorder.Kill();
  WaitForEnd(recorder.guardian());
  EXPECT_EQ(Value(), "1\n");
  EXPECT_EQ(State(), "");
}

TEST_F(NmiWatchdog, TheGuardianOutlivesSignalsToTheGroup) {
  Recorder recorder(paths_);
  EXPECT_NE(getsid(recorder.guardian()), getsid(0));
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) kill(recorder.guardian(), number);
  EXPECT_EQ(Value(), "0\n");
  recorder.Kill();
  WaitForEnd(recorder.guardian());
  EXPECT_EQ(Value(), "1\n");
}

TEST_F(NmiWatchdog, TheLastHolderPutsItBack) {
  Recorder first(paths_), second(paths_);
  first.Kill();
  WaitForEnd(first.guardian());
  EXPECT_EQ(Value(), "0\n");
  EXPECT_THAT(State(), HasSubstr(StrCat("holder ", second.guardian(), " ")));
  second.Kill();
  WaitForEnd(second.guardian());
  EXPECT_EQ(Value(), "1\n");
}

TEST_F(NmiWatchdog, TwoHoldersInOneProcess) {
  ASSERT_OK_AND_ASSIGN(NmiWatchdogOff first, NmiWatchdogOff::Acquire(paths_));
  ASSERT_OK_AND_ASSIGN(NmiWatchdogOff second, NmiWatchdogOff::Acquire(paths_));
  first.Release();
  EXPECT_EQ(Value(), "0\n");
  second = std::move(first);  // Releases the second.
  EXPECT_EQ(Value(), "1\n");
}

TEST_F(NmiWatchdog, KeepsAnUnusualOriginal) {
  SetValue("2\n");
  { ASSERT_OK_AND_ASSIGN(NmiWatchdogOff off, NmiWatchdogOff::Acquire(paths_)); }
  EXPECT_EQ(Value(), "2\n");
}

TEST_F(NmiWatchdog, OffAlreadyMeansNothingToPutBack) {
  SetValue("0\n");
  {
    ASSERT_OK_AND_ASSIGN(NmiWatchdogOff off, NmiWatchdogOff::Acquire(paths_));
    EXPECT_EQ(off.guardian(), -1);
  }
  EXPECT_EQ(Value(), "0\n");
}

// Recorder and guardian both killed: the zero stays until somebody starts.
TEST_F(NmiWatchdog, TheNextStartRepairsWhatAKilledGuardianLeft) {
  Recorder recorder(paths_);
  kill(recorder.guardian(), SIGKILL);
  WaitForEnd(recorder.guardian());
  recorder.Kill();
  EXPECT_EQ(Value(), "0\n");
  {
    ASSERT_OK_AND_ASSIGN(NmiWatchdogOff off, NmiWatchdogOff::Acquire(paths_));
    EXPECT_EQ(Value(), "0\n");
  }
  EXPECT_EQ(Value(), "1\n");
}

TEST_F(NmiWatchdog, RepairsAStaleFileAndNothingElse) {
  EXPECT_THAT(RepairNmiWatchdog(paths_), IsOkAndHolds(false));
  SetValue("0\n");
  // A pid that lives, but started at another time: it was reused.
  tree_.Write("run/ksamp-nmi-watchdog", StrCat("original 1\nholder ", getpid(), " 1\n"));
  EXPECT_THAT(RepairNmiWatchdog(paths_), IsOkAndHolds(true));
  EXPECT_EQ(Value(), "1\n");
  EXPECT_EQ(State(), "");
  Recorder recorder(paths_);
  EXPECT_THAT(RepairNmiWatchdog(paths_), IsOkAndHolds(false));
  EXPECT_EQ(Value(), "0\n");
  recorder.Kill();
  WaitForEnd(recorder.guardian());
}

TEST_F(NmiWatchdog, ADamagedStateFileChangesNothing) {
  for (const char* text : {"nonsense", "original\nholder", "holder 1 1\n", "original -5\n", "\n\n\n"}) {
    tree_.Write("run/ksamp-nmi-watchdog", text);
    EXPECT_THAT(RepairNmiWatchdog(paths_), IsOkAndHolds(_)) << text;
    { ASSERT_OK_AND_ASSIGN(NmiWatchdogOff off, NmiWatchdogOff::Acquire(paths_)); }
    EXPECT_EQ(Value(), "1\n") << text;
  }
}

TEST_F(NmiWatchdog, AKernelWithoutOneIsNotFound) {
  ASSERT_EQ(unlink(control_.c_str()), 0);
  EXPECT_THAT(NmiWatchdogOff::Acquire(paths_).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nmi_watchdog")));
}

TEST_F(NmiWatchdog, DoesNotFollowALinkInRun) {
  const std::string victim = tree_.Write("victim", "keep me");
  tree_.Symlink("run/ksamp-nmi-watchdog", victim);
  EXPECT_FALSE(NmiWatchdogOff::Acquire(paths_).ok());
  EXPECT_THAT(ReadFile(victim), IsOkAndHolds("keep me"));
  EXPECT_EQ(Value(), "1\n");
}

// A guardian that kept our output open would make `ksamp record | cat` hang after a kill.
TEST_F(NmiWatchdog, TheGuardianHoldsNoneOfOurDescriptors) {
  std::array<int, 2> fds;
  ASSERT_EQ(pipe(fds.data()), 0);
  ASSERT_OK_AND_ASSIGN(NmiWatchdogOff off, NmiWatchdogOff::Acquire(paths_));
  close(fds[1]);
  char byte = 0;
  EXPECT_EQ(read(fds[0], &byte, 1), 0);  // Would block for ever otherwise.
  close(fds[0]);
}

}  // namespace
}  // namespace ksamp
