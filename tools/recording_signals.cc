// SPDX-License-Identifier: Apache-2.0
#include "tools/recording_signals.h"

#include <atomic>

namespace ksamp {
namespace {

std::atomic<Recorder*> current = nullptr;
static_assert(std::atomic<Recorder*>::is_always_lock_free);

void EndRecording(int) {
  if (Recorder* recorder = current.load()) recorder->RequestStop();
}

}  // namespace

RecordingSignals::RecordingSignals(Recorder* recorder) {
  current = recorder;
  struct sigaction action = {};
  action.sa_handler = EndRecording;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigfillset(&action.sa_mask);
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    // nohup ksamp …: what was to be ignored stays ignored.
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
  // A reader of `-o -` that goes away ends the recording with a word, not by a signal.
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &pipe_before_);
}

RecordingSignals::~RecordingSignals() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  sigaction(SIGPIPE, &pipe_before_, nullptr);
  current = nullptr;
}

}  // namespace ksamp
