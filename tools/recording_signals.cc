// SPDX-License-Identifier: Apache-2.0
#include "tools/recording_signals.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

namespace ksamp {
namespace {

std::atomic<void*> current = nullptr;
std::atomic<void (*)(void*)> request_stop_of_current = nullptr;
std::atomic<bool> arrived = false;
std::atomic<int64_t> pair_ns = 0;
std::array<std::atomic<int64_t>, NSIG> first_ns = {};  // by signal number; 0: not yet
static_assert(std::atomic<void*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free &&
              std::atomic<int64_t>::is_always_lock_free);

int64_t Now() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Whether `number` came before, and so long ago that it is meant again.
bool IsSecondWish(int number) {
  const int64_t now = Now();
  int64_t first = 0;
  std::atomic<int64_t>& stored = first_ns[static_cast<size_t>(number)];
  return !stored.compare_exchange_strong(first, now) && now - first >= pair_ns;
}

void EndRecording(int number) {
  const int saved_errno = errno;
  if (IsSecondWish(number)) {
    std::signal(number, SIG_DFL);
    raise(number);  // blocked while the handler runs: delivered as it returns
  }
  arrived = true;
  if (void* stoppable = current.load()) request_stop_of_current.load()(stoppable);
  errno = saved_errno;
}

}  // namespace

RecordingSignals::RecordingSignals(std::chrono::nanoseconds pair) {
  arrived = false;
  pair_ns = pair.count();
  for (std::atomic<int64_t>& first : first_ns) first = 0;
  struct sigaction action = {};
  action.sa_handler = EndRecording;
  action.sa_flags = SA_RESTART;
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
