// SPDX-License-Identifier: Apache-2.0
#include "tools/recording_signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "ksamp/recorder.h"

namespace ksamp {
namespace {

class CountingRecorder : public Recorder {
 public:
  absl::StatusOr<RecordSummary> Run() override { return RecordSummary(); }
  absl::Status Start() override { return absl::OkStatus(); }
  absl::Status Stop() override { return absl::OkStatus(); }
  void RequestStop() override { ++stops; }
  absl::StatusOr<Recording> TakeRecording() override { return absl::UnimplementedError("no recording"); }
  const std::vector<std::string>& notes() const override { return notes_; }
  int stops = 0;

 private:
  std::vector<std::string> notes_;
};

struct sigaction HandlerOf(int number) {
  struct sigaction action = {};
  sigaction(number, nullptr, &action);
  return action;
}

TEST(RecordingSignalsTest, CtrlCAndKillEndTheRecording) {
  const __sighandler_t pipe_before = HandlerOf(SIGPIPE).sa_handler;  // Who starts tests may ignore it.
  CountingRecorder recorder;
  {
    RecordingSignals signals;
    signals.Attach(&recorder);
    raise(SIGINT);
    EXPECT_EQ(recorder.stops, 1);
    raise(SIGTERM);
    EXPECT_EQ(recorder.stops, 2);
    EXPECT_EQ(HandlerOf(SIGPIPE).sa_handler, SIG_IGN);
  }
  EXPECT_EQ(HandlerOf(SIGTERM).sa_handler, SIG_DFL);
  EXPECT_EQ(HandlerOf(SIGPIPE).sa_handler, pipe_before);
}

// As `timeout` sends it: to the process, then to its group.
TEST(RecordingSignalsTest, ASignalTwiceAtOnceIsOneWish) {
  CountingRecorder recorder;
  RecordingSignals signals(std::chrono::hours(1));
  signals.Attach(&recorder);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    raise(number);
    raise(number);
  }
  EXPECT_EQ(recorder.stops, 6);
}

TEST(RecordingSignalsTest, LaterTheSecondIsTheOrdinaryOne) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EXIT(
        {
          CountingRecorder recorder;
          RecordingSignals signals(std::chrono::nanoseconds(0));
          signals.Attach(&recorder);
          raise(number);
          if (recorder.stops != 1) _exit(1);
          raise(number);
          _exit(2);
        },
        ::testing::KilledBySignal(number), "");
  }
}

TEST(RecordingSignalsTest, ASignalBeforeTheRecorderEndsItAsItBegins) {
  const __sighandler_t pipe_before = HandlerOf(SIGPIPE).sa_handler;
  CountingRecorder recorder;
  RecordingSignals signals;
  EXPECT_EQ(HandlerOf(SIGPIPE).sa_handler, pipe_before) << "a command forked now must not inherit another";
  raise(SIGTERM);
  signals.Attach(&recorder);
  EXPECT_EQ(recorder.stops, 1);
  signals.Detach();
  raise(SIGINT);
  EXPECT_EQ(recorder.stops, 1) << "the recorder may be gone";
}

TEST(RecordingSignalsTest, WhatIsIgnoredStaysIgnored) {
  CountingRecorder recorder;
  std::signal(SIGHUP, SIG_IGN);
  {
    RecordingSignals signals;
    signals.Attach(&recorder);
    raise(SIGHUP);
  }
  EXPECT_EQ(recorder.stops, 0);
  std::signal(SIGHUP, SIG_DFL);
}

}  // namespace
}  // namespace ksamp
