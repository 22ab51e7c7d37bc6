// SPDX-License-Identifier: Apache-2.0
// Recordings of this machine by the built tool: complete, conserving, and readable after a kill.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "ksamp/perf_data.h"
#include "ksamp/profile.h"
#include "ksamp/recorder.h"
#include "lib/base/str_cat.h"
#include "test/support/built_tree.h"
#include "test/support/capability.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::CanSampleSystemWide;
using ::ksamp::testing::HasTool;
using ::ksamp::testing::IsRoot;
using ::ksamp::testing::TempTree;
using ::ksamp::testing::ToolPath;

// Runs a shell line; its exit status, or 128 + the signal's number.
int Shell(const std::string& line) {
  const int status = std::system(line.c_str());
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

struct LiveRecordTest : ::testing::Test {
  // The exit status of a recording of the machine that gets the signal, twice as `timeout` sends it, once it
  // has written samples.
  int StatusWhenEndedBy(int number) const {
    std::filesystem::remove(file);
    const std::string line = StrCat("exec ", record, "-a");
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      const absl::StatusOr<Recording> recording = Recording::Open(file);
      if (recording.ok() && recording->counts().samples > 0) {
        kill(child, number);
        kill(child, number);
        waitpid(child, &status, 0);
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  TempTree tree;
  std::string file = tree.Path("x.data");
  std::string record = StrCat(ToolPath(), " record -q -o ", file, " ");
};

TEST_F(LiveRecordTest, TheWholeMachineIsRecordedAndNothingIsMissing) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  ASSERT_EQ(Shell(record + "-a sleep 1"), 0);
  ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(file));
  EXPECT_GT(recording.counts().samples, 1000u);
  EXPECT_EQ(recording.counts().samples, recording.ksamp().counters.at("samples"));
  EXPECT_TRUE(recording.damage().empty());
  EXPECT_FALSE(recording.was_killed());
  EXPECT_GT(recording.counts().mmaps, 0u);
}

TEST_F(LiveRecordTest, PerfReadsItWithoutAWarningAndCountsTheSame) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  KSAMP_REQUIRE(HasTool("perf"));
  ASSERT_EQ(Shell(record + "-a -g sleep 0.5"), 0);
  ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(file));
  const std::string lines = tree.Path("lines"), errors = tree.Path("errors");
  ASSERT_EQ(
      Shell(StrCat("perf script -i ", file, " -F comm,tid,ip --no-inline -G > ", lines, " 2> ", errors)), 0);
  EXPECT_EQ(Shell(StrCat("test ! -s ", errors)), 0) << "perf script complained";
  EXPECT_EQ(Shell(StrCat("test $(grep -c . ", lines, ") -eq ", recording.counts().samples)), 0);
  EXPECT_EQ(Shell(StrCat("perf report -i ", file, " --stdio > /dev/null 2> ", errors)), 0);
  EXPECT_EQ(Shell(StrCat("test ! -s ", errors)), 0) << "perf report complained";
}

TEST_F(LiveRecordTest, PerfNamesTheFieldsOfTracepoints) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  KSAMP_REQUIRE(HasTool("perf"));
  const std::string named = " 2>&1 | grep -c 'sched:sched_switch: prev_comm=.* prev_prio='";
  ASSERT_EQ(Shell(record + "-a -e sched:sched_switch sleep 0.3"), 0);
  ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(file));
  EXPECT_EQ(Shell(StrCat("test $(perf script -i ", file, named, ") -eq ", recording.counts().samples)), 0);
  EXPECT_EQ(Shell(StrCat("test $(", ToolPath(), " record -q -o - -a -e sched:sched_switch sleep 0.3 | ",
                         "perf script -i -", named, ") -gt 10")),
            0);
}

TEST_F(LiveRecordTest, AKilledRecorderLeavesAllButTheLastSecond) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  const std::string tool = ToolPath();
  const pid_t child = fork();
  if (child == 0) {
    execl(tool.c_str(), "ksamp", "record", "-q", "-a", "-o", file.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(3500));
  ASSERT_EQ(kill(child, SIGKILL), 0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(file));
  EXPECT_TRUE(recording.was_killed());
  EXPECT_GT(recording.counts().samples, 4000u);  // At least one CPU's two seconds of about 4 000.
  EXPECT_EQ(recording.ksamp().meta.count("event.actual"), 1u);
  EXPECT_NE(recording.facts().cpu_desc, "");
  EXPECT_NE(recording.facts().os_release, "");
  EXPECT_THAT(recording.events().front().name, ::testing::AnyOf("cycles", "cpu-clock"));
}

TEST_F(LiveRecordTest, ACommandIsRecordedWithItsChildren) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  EXPECT_EQ(Shell(record + "sh -c '(i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done); exit 3'"), 3);
  ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(file));
  EXPECT_GT(recording.counts().samples, 10u);
  EXPECT_GT(recording.counts().forks, 0u);
  EXPECT_EQ(Shell(record + "sh -c 'kill -TERM $$'"), 128 + SIGTERM);
}

TEST_F(LiveRecordTest, TheEndThatWasAskedForIsNoFailure) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  EXPECT_EQ(Shell(record + "-a --duration 0.2 sleep 60"), 0);
  EXPECT_EQ(Shell(record + "-a --max-size 32K sleep 60"), 0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EQ(StatusWhenEndedBy(number), 0) << number;
    ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(file));
    EXPECT_FALSE(recording.was_killed());
    EXPECT_GT(recording.counts().samples, 0u);
  }
}

TEST_F(LiveRecordTest, AFullDiskEndsItWith125AndPerfReadsTheFile) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  KSAMP_REQUIRE(IsRoot());
  KSAMP_REQUIRE(HasTool("perf"));
  KSAMP_REQUIRE(HasTool("unshare"));
  const std::string small = tree.Path("small"), errors = tree.Path("errors");
  const std::string line =
      StrCat("unshare -m sh -c 'mkdir ", small, " && mount -t tmpfs -o size=2m none ", small, " && ",
             ToolPath(), " record -q --no-kernel-symbols -a -e cpu-clock -F 15000 -o ", small,
             "/x.data sleep 60 2> ", errors, "; status=$?; cp ", small, "/x.data ", file, "; exit $status'");
  EXPECT_EQ(Shell(line), 125);
  EXPECT_EQ(Shell(StrCat("grep -q 'write .*/small/x.data at [0-9]*: No space left on device' ", errors)), 0);
  ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(file));
  EXPECT_FALSE(recording.was_killed());
  EXPECT_TRUE(recording.damage().empty());
  EXPECT_GT(recording.counts().samples, 1000u);
  EXPECT_EQ(Shell(StrCat("test $(perf script -F ip --no-inline -i ", file, " | grep -c .) -eq ",
                         recording.counts().samples)),
            0);
}

// `timeout` sends the signal to ksamp and, right behind it, to the group ksamp is in: two signals, one wish.
TEST_F(LiveRecordTest, CtrlCAtAnyMomentLeavesAWholeFileOrNone) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  const std::string line =
      StrCat(" -s INT 0.$i ", ToolPath(), " record -q -o ", file, " -a true 2>/dev/null; status=$?; ");
  for (const char* moment : {"005", "01", "02", "03", "05", "08", "12", "2"}) {
    // 0: the command was faster; 130, 143: the signal ended it, or kept it from starting.
    EXPECT_EQ(Shell(StrCat("i=", moment, "; timeout --preserve-status", line,
                           "test $status -eq 0 -o $status -eq 130 -o $status -eq 143")),
              0)
        << moment;
    if (access(file.c_str(), F_OK) != 0) continue;
    ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(file));
    EXPECT_FALSE(recording.was_killed()) << moment;
  }
}

// Cut shorter and shorter: what is left is reported, with a word about the rest, or it says why it cannot be
// read.
TEST_F(LiveRecordTest, CutAtEveryByteItIsReportedOrRefusedWithAWord) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  ASSERT_EQ(
      Shell(record +
            "--no-kernel-symbols -e cpu-clock -c 1000000 -- sh -c 'for i in 1 2 3; do true | cat; done'"),
      0);
  uint64_t whole = 0, last = 0;
  {
    ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(file));
    whole = last = recording.counts().samples;
  }
  ASSERT_GT(whole, 0u);
  size_t read = 0;
  for (auto size = static_cast<off_t>(std::filesystem::file_size(file)); size-- > 0;) {
    ASSERT_EQ(truncate(file.c_str(), size), 0);
    const absl::StatusOr<Recording> recording = Recording::Open(file);
    if (!recording.ok()) {
      EXPECT_THAT(std::string(recording.status().message()), ::testing::HasSubstr(file)) << size;
      continue;
    }
    ++read;
    const uint64_t samples = recording->counts().samples;
    EXPECT_LE(samples, last) << size;
    last = samples;
    EXPECT_TRUE(samples == whole || recording->was_killed() || !recording->damage().empty()) << size;
    const absl::StatusOr<Profile> profile = BuildProfile(*recording, {});
    ASSERT_OK(profile.status());
    uint64_t taken = 0;
    for (const Conservation& event : profile->conservation) taken += event.taken;
    EXPECT_EQ(taken, samples) << size;
  }
  EXPECT_GT(read, 100u);
  EXPECT_EQ(last, 0u);
}

TEST_F(LiveRecordTest, ACommandThatCannotRunTouchesNoFile) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  EXPECT_EQ(Shell(record + "no-such-program-anywhere 2> /dev/null"), 127);
  EXPECT_EQ(Shell(record + "/etc/passwd 2> /dev/null"), 126);
  EXPECT_EQ(Shell(StrCat("test ! -e ", file)), 0);
  ASSERT_EQ(Shell(record + "true"), 0);
  EXPECT_EQ(Shell(record + "no-such-program-anywhere 2> /dev/null"), 127);
  EXPECT_EQ(Shell(StrCat("test -e ", file, " && test ! -e ", file, ".old")), 0);
}

TEST_F(LiveRecordTest, ALinkIsNotFollowed) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  const std::string target = tree.Path("target");
  ASSERT_EQ(symlink(target.c_str(), file.c_str()), 0);
  EXPECT_EQ(Shell(record + "true 2> /dev/null"), 125);
  EXPECT_EQ(Shell(StrCat("test ! -e ", target)), 0);
}

TEST_F(LiveRecordTest, TenThousandASecondLoseNothing) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  // Every CPU is busy: an idle one takes fewer samples, as its timer sleeps too.
  const std::string busy = "timeout 2 sh -c 'while :; do :; done' & ";
  const std::string load = "i=0; while [ $i -lt $(nproc) ]; do " + busy + "i=$((i+1)); done; wait";
  ASSERT_EQ(Shell(StrCat("cat > ", tree.Path("load.sh"), " <<'END'\n", load, "\nEND\n")), 0);
  ASSERT_EQ(Shell(StrCat(record, "-a -F 10000 sh ", tree.Path("load.sh"))), 0);
  ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(file));
  EXPECT_EQ(recording.counts().lost, 0u);
  EXPECT_EQ(recording.counts().lost_samples, 0u);
  EXPECT_GT(recording.counts().samples, 10'000u);
}

TEST_F(LiveRecordTest, TheOwnProcessIsRecordedInMemory) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  RecordOptions options;
  options.pids = {getpid()};
  options.in_memory = true;
  options.kernel_symbols = false;
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::Open(options));
  ASSERT_OK(recorder->Start());
  for (int i = 0; i < 100'000'000; ++i) asm volatile("");
  ASSERT_OK(recorder->Stop());
  ASSERT_OK_AND_ASSIGN(const Recording recording, recorder->TakeRecording());
  EXPECT_GT(recording.counts().samples, 10u);
}

}  // namespace
}  // namespace ksamp
