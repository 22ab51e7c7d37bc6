// SPDX-License-Identifier: Apache-2.0
#include "tools/recording_signals.h"

#include <atomic>

namespace ksamp {
namespace {

std::atomic<void*> current = nullptr;
std::atomic<void (*)(void*)> request_stop_of_current = nullptr;
std::atomic<bool> arrived = false;
static_assert(std::atomic<void*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void EndRecording(int) {
  arrived = true;
  if (void* stoppable = current.load()) request_stop_of_current.load()(stoppable);
}

}  // namespace

RecordingSignals::RecordingSignals() {
  arrived = false;
  struct sigaction action = {};
  action.sa_handler = EndRecording;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigfillset(&action.sa_mask);
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    // nohup ksamp …: what was to be ignored stays ignored.
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

void RecordingSignals::Attach(void* stoppable, RequestStop request_stop) {
  // A reader of `-o -` that goes away, or a file that may not grow, ends the recording with a word, not by a
  // signal. Only from here on: a command that was forked before keeps its own.
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  for (size_t i = 0; i < kWriteSignals.size(); ++i) sigaction(kWriteSignals[i], &ignore, &write_before_[i]);
  attached_ = true;
  request_stop_of_current = request_stop;
  current = stoppable;
  if (arrived) request_stop(stoppable);
}

void RecordingSignals::Detach() {
  current = nullptr;
  if (!attached_) return;
  for (size_t i = 0; i < kWriteSignals.size(); ++i) sigaction(kWriteSignals[i], &write_before_[i], nullptr);
  attached_ = false;
}

RecordingSignals::~RecordingSignals() {
  Detach();
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

}  // namespace ksamp
