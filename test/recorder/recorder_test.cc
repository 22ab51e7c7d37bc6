// SPDX-License-Identifier: Apache-2.0
// Whole recordings on the fake kernel.
#include "ksamp/recorder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "lib/base/byte_reader.h"
#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "lib/perfdata/format.h"
#include "test/support/fake_perf_kernel.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::FakePerfKernel;
using ::ksamp::testing::FakeRequest;
using ::ksamp::testing::StatusIs;
using ::ksamp::testing::TempTree;
using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct RecorderTest : ::testing::Test {
  RecorderTest() {
    tree.Write("sys/devices/system/cpu/online", "0-1\n");
    tree.Write("proc/cpuinfo", "cpu MHz : 2000.0\n");
    tree.Write("proc/100/task/100/comm", "worker\n");
    tree.Write("proc/100/task/101/comm", "worker\n");
    options.system_wide = true;
    options.in_memory = true;
    options.kernel_symbols = false;
    options.duration = milliseconds(50);
    options.proc_root = tree.Path("proc");
    options.sys_root = tree.Path("sys");
    kernel.set_samples_per_poll(3);
  }

  TempTree tree;
  FakePerfKernel kernel{{.cpus = 2}};
  RecordOptions options;
};

TEST_F(RecorderTest, WhatTheRingsDeliveredIsInTheRecording) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
  const uint64_t probe_samples = kernel.samples_delivered();
  ASSERT_OK_AND_ASSIGN(const RecordSummary summary, recorder->Run());
  EXPECT_GT(summary.samples, 6u);
  EXPECT_EQ(summary.samples, kernel.samples_delivered() - probe_samples);
  EXPECT_EQ(summary.cpus, 2u);
  EXPECT_THAT(summary.events, ElementsAre(HasSubstr("cycles, every ")));
  EXPECT_THAT(summary.lost, IsEmpty());
  EXPECT_GE(summary.elapsed, milliseconds(50));
  ASSERT_OK_AND_ASSIGN(const Recording recording, recorder->TakeRecording());
  EXPECT_EQ(recording.counts().samples, summary.samples);
  EXPECT_THAT(recording.damage(), IsEmpty());
  EXPECT_FALSE(recording.was_killed());
  EXPECT_EQ(recording.events().front().name, "cycles");
  EXPECT_EQ(recording.ksamp().meta.at("event.wish"), "cycles");
  EXPECT_EQ(recording.ksamp().counters.at("samples"), summary.samples);
}

TEST_F(RecorderTest, WithoutSamplesOfTheKernelItsSymbolsAreNobodysBusiness) {
  tree.Write("proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T _etext\n");
  options.kernel_symbols = true;
  options.events = {"cpu-clock:u"};
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
  EXPECT_THAT(recorder->notes(), Not(Contains(HasSubstr("hides its addresses"))));
  options.events = {"cpu-clock:u", "cpu-clock"};
  ASSERT_OK_AND_ASSIGN(recorder, Recorder::Open(options, &kernel));
  EXPECT_THAT(recorder->notes(), Contains(HasSubstr("hides its addresses")));
}

TEST_F(RecorderTest, ThreadsOfAUserWithoutRightsAreRecordedInUserSpace) {
  kernel.SetParanoid(2);
  options.system_wide = false;
  options.tids = {100};
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
  EXPECT_THAT(recorder->notes(), Contains(HasSubstr("only user space is (cycles:u)")));
}

TEST_F(RecorderTest, TheEventThatOnlyCarriesMappingsIsNamed) {
  options.events = {"cpu-clock,task-clock"};
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
  ASSERT_OK(recorder->Run());
  ASSERT_OK_AND_ASSIGN(const Recording recording, recorder->TakeRecording());
  ASSERT_EQ(recording.ksamp().meta.at("event.tracking"), "2");
  EXPECT_EQ(recording.events().at(2).name, "dummy:u");
}

TEST_F(RecorderTest, TracepointsBringTheirFormats) {
  tree.Write("sys/kernel/tracing/events/sched/sched_switch/id", "314\n");
  tree.Write("sys/kernel/tracing/events/sched/sched_switch/format", "THE FORMAT");
  options.events = {"sched:sched_switch"};
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
  EXPECT_THAT(recorder->notes(), Contains(HasSubstr("header_page"))) << "no tracefs that could be stored";
  tree.Write("sys/kernel/tracing/events/header_page", "p");
  tree.Write("sys/kernel/tracing/events/header_event", "e");
  ASSERT_OK_AND_ASSIGN(recorder, Recorder::Open(options, &kernel));
  ASSERT_OK(recorder->Run());
  ASSERT_OK_AND_ASSIGN(const Recording recording, recorder->TakeRecording());
  EXPECT_THAT(std::string(AsText(recording.Feature(perfdata::kTracingData))), HasSubstr("THE FORMAT"));
}

TEST_F(RecorderTest, ACpuThatIsNotThereIsToldByName) {
  options.system_wide = false;
  options.cpus = {1, 7};
  const absl::Status status = Recorder::Open(options, &kernel).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, "record CPU 7: it is not online (online: 0-1)"));
  EXPECT_EQ(FailureOf(status), OpenFailure::kNoSuchCpu);
}

TEST_F(RecorderTest, ACommandEndedAtTheDurationIsMarked) {
  options.command = {"sleep", "60"};
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
  ASSERT_OK_AND_ASSIGN(RecordSummary summary, recorder->Run());
  EXPECT_TRUE(summary.command_ended_at_limit);
  options.command = {"true"};
  options.duration = std::chrono::minutes(1);
  ASSERT_OK_AND_ASSIGN(recorder, Recorder::Open(options, &kernel));
  ASSERT_OK_AND_ASSIGN(summary, recorder->Run());
  EXPECT_FALSE(summary.command_ended_at_limit);
}

TEST_F(RecorderTest, EverythingIsClosedInTheEnd) {
  {
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
    ASSERT_OK(recorder->Run());
  }
  EXPECT_EQ(kernel.open_events(), 0u);
  EXPECT_EQ(kernel.mapped_bytes(), 0u);
}

TEST_F(RecorderTest, LossesReachSummaryAndRecording) {
  options.ring_bytes = 4096;
  kernel.set_samples_per_poll(500);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
  ASSERT_OK_AND_ASSIGN(const RecordSummary summary, recorder->Run());
  EXPECT_GT(summary.lost.at("ring full"), 0u);
  ASSERT_OK_AND_ASSIGN(const Recording recording, recorder->TakeRecording());
  EXPECT_EQ(recording.ksamp().counters.at("lost.ring"), summary.lost.at("ring full"));
  EXPECT_GT(recording.ksamp().counters.at("lost.kernel.cpu1"), 0u);
}

TEST_F(RecorderTest, ThrottlesAreCounted) {
  kernel.set_on_poll([&](int poll) {
    if (poll == 1) kernel.PushThrottle(0, true);
  });
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
  ASSERT_OK_AND_ASSIGN(const RecordSummary summary, recorder->Run());
  EXPECT_EQ(summary.throttles, 1u);
}

TEST_F(RecorderTest, ACpuThatGoesOfflineIsToldAndTheOthersGoOn) {
  kernel.set_on_poll([&](int poll) {
    if (poll == 2) kernel.Vanish(1);
  });
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
  ASSERT_OK_AND_ASSIGN(const RecordSummary summary, recorder->Run());
  EXPECT_THAT(summary.notes, Contains("CPU 1 went offline while recording."));
  EXPECT_GE(summary.elapsed, milliseconds(50));
}

TEST_F(RecorderTest, AProcessIsRecordedThreadByThreadUntilItEnds) {
  options.system_wide = false;
  options.pids = {100};
  options.duration.reset();
  kernel.set_on_poll([&](int poll) {
    if (poll == 3) kernel.EndThread(100);
    if (poll == 5) kernel.EndThread(101);
  });
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
  EXPECT_EQ(kernel.open_events(), 2u * 2 * 2);
  EXPECT_TRUE(kernel.requests().back().attr.inherit);
  ASSERT_OK_AND_ASSIGN(const RecordSummary summary, recorder->Run());
  EXPECT_GT(summary.samples, 0u);
  EXPECT_FALSE(summary.stopped_by_signal);
}

TEST_F(RecorderTest, AProcessThatIsNotThereIsAnError) {
  options.system_wide = false;
  options.pids = {99};
  const absl::Status status = Recorder::Open(options, &kernel).status();
  EXPECT_EQ(FailureOf(status), OpenFailure::kNoSuchProcess);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, HasSubstr("process 99")));
}

TEST_F(RecorderTest, AStopRequestEndsTheRecording) {
  options.duration.reset();
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
  kernel.set_on_poll([&](int poll) {
    if (poll == 4) recorder->RequestStop();
  });
  ASSERT_OK_AND_ASSIGN(const RecordSummary summary, recorder->Run());
  EXPECT_TRUE(summary.stopped_by_signal);
  EXPECT_GT(summary.samples, 0u);
}

TEST_F(RecorderTest, AStopRequestBeforeTheFirstSampleRunsNoCommand) {
  const std::string mark = tree.Path("mark");
  options.command = {"touch", mark};
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
  recorder->RequestStop();
  ASSERT_OK_AND_ASSIGN(const RecordSummary summary, recorder->Run());
  EXPECT_TRUE(summary.stopped_by_signal);
  EXPECT_NE(access(mark.c_str(), F_OK), 0);
  ASSERT_OK_AND_ASSIGN(const Recording recording, recorder->TakeRecording());
  EXPECT_FALSE(recording.was_killed());
}

TEST_F(RecorderTest, TheLargestSizeEndsTheRecording) {
  options.duration.reset();
  options.max_size = 20'000;
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
  ASSERT_OK_AND_ASSIGN(const RecordSummary summary, recorder->Run());
  EXPECT_GE(summary.file_bytes, 20'000u);
}

TEST_F(RecorderTest, RecordsARegionOfTheOwnProcess) {
  options.duration.reset();
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
  ASSERT_OK(recorder->Start());
  while (kernel.samples_delivered() < 20) std::this_thread::yield();
  ASSERT_OK(recorder->Stop());
  ASSERT_OK_AND_ASSIGN(const Recording recording, recorder->TakeRecording());
  EXPECT_GE(recording.counts().samples, 19u);
  EXPECT_THAT(recorder->Stop(), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("does not run")));
}

TEST_F(RecorderTest, TheCommandEndsTheRecordingAndItsStatusIsHandedOn) {
  options.duration.reset();
  options.command = {"sh", "-c", "exit 7"};
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
  ASSERT_OK_AND_ASSIGN(const RecordSummary summary, recorder->Run());
  ASSERT_TRUE(summary.command_status.has_value());
  EXPECT_EQ(WEXITSTATUS(*summary.command_status), 7);
}

TEST_F(RecorderTest, ACommandThatCannotStartIsAnErrorBeforeAnyEvent) {
  options.command = {"no-such-program-anywhere"};
  EXPECT_EQ(FailureOf(Recorder::Open(options, &kernel).status()), OpenFailure::kCommandNotFound);
  options.command = {tree.Write("plain.txt", "x")};
  EXPECT_EQ(FailureOf(Recorder::Open(options, &kernel).status()), OpenFailure::kCommandNotExecutable);
  EXPECT_THAT(kernel.requests(), IsEmpty());
}

TEST_F(RecorderTest, ACommandAloneStartsWithItsExec) {
  options.system_wide = false;
  options.command = {"true"};
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
  const FakeRequest& last = kernel.requests().back();
  EXPECT_TRUE(last.attr.enable_on_exec);
  EXPECT_TRUE(last.attr.inherit);
  ASSERT_OK(recorder->Run());
}

TEST_F(RecorderTest, CountingBeginsAfterTheDelay) {
  options.delay = milliseconds(40);
  options.duration = milliseconds(20);  // over before it began
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
  ASSERT_OK_AND_ASSIGN(const RecordSummary nothing, recorder->Run());
  EXPECT_EQ(nothing.samples, 0u);
  options.duration = milliseconds(80);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> longer, Recorder::Open(options, &kernel));
  ASSERT_OK_AND_ASSIGN(const RecordSummary something, longer->Run());
  EXPECT_GT(something.samples, 0u);
}

TEST_F(RecorderTest, ImpossibleRequestsAreRefusedBeforeAnything) {
  const auto refuses = [&](const char* why) {
    EXPECT_THAT(Recorder::Open(options, &kernel),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)));
  };
  options.pids = {1};
  refuses("choose either");
  options.pids.clear();
  options.frequency = 99;
  options.period = 1000;
  refuses("exclude each other");
  options.period.reset();
  options.frequency = 0;
  refuses("0 takes no samples");
  options.frequency.reset();
  options.clockid = "sundial";
  refuses("clock 'sundial'");
  options.clockid.reset();
  options.system_wide = false;
  refuses("nothing to record");
  EXPECT_THAT(kernel.requests(), IsEmpty());
}

TEST_F(RecorderTest, AFullDiskEndsTheRecordingAndSaysSo) {
  options.in_memory = false;
  options.output = "/dev/full";
  const absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Open(options, &kernel);
  EXPECT_EQ(StatusErrno(recorder.status()), ENOSPC);  // Not even the header fits.
}

// By the limit of a file's size: no other way to fill a disk without root.
TEST_F(RecorderTest, ADiskThatFillsUpLeavesAWholeFile) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &usual), 0);
  options.in_memory = false;
  options.output = tree.Path("x.data");
  options.duration.reset();
  options.command = {"sleep", "60"};
  kernel.set_samples_per_poll(1000);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::Open(options, &kernel));
  const rlimit small{.rlim_cur = 400'000, .rlim_max = usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::StatusOr<RecordSummary> summary = recorder->Run();
  setrlimit(RLIMIT_FSIZE, &usual);
  std::signal(SIGXFSZ, before);
  ASSERT_OK(summary);
  ASSERT_TRUE(summary->write_failure.has_value());
  EXPECT_THAT(*summary->write_failure, HasSubstr(StrCat("write ", options.output, " at ")));
  EXPECT_GT(summary->lost.at("recorder: disk full"), 0u);
  ASSERT_TRUE(summary->command_status.has_value());
  EXPECT_EQ(WTERMSIG(*summary->command_status), SIGTERM);
  ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(options.output));
  EXPECT_FALSE(recording.was_killed());
  EXPECT_THAT(recording.damage(), IsEmpty());
  EXPECT_EQ(recording.counts().samples, summary->samples);
  EXPECT_EQ(recording.ksamp().counters.at("samples"), summary->samples);
}

TEST_F(RecorderTest, ManyCpusAreRecorded) {
  tree.Write("sys/devices/system/cpu/online", "0-511\n");
  FakePerfKernel large({.cpus = 512, .samples_per_poll = 1});
  options.ring_bytes = 4096;
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Recorder> recorder, Recorder::Open(options, &large));
  ASSERT_OK_AND_ASSIGN(const RecordSummary summary, recorder->Run());
  EXPECT_EQ(summary.cpus, 512u);
  EXPECT_GE(summary.samples, 512u);
  ASSERT_OK_AND_ASSIGN(const Recording recording, recorder->TakeRecording());
  EXPECT_EQ(recording.counts().samples, summary.samples);
}

}  // namespace
}  // namespace ksamp
