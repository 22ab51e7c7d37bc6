// SPDX-License-Identifier: Apache-2.0
// RecordingSignals: while it lives, Ctrl-C, SIGTERM and SIGHUP end the recording (or the counting) instead of
// ksamp, so that what was gathered is complete. The second Ctrl-C is the ordinary one, unless it comes at
// once: `timeout` sends its signal to the command and then to the group that the command is in, and a
// terminal's Ctrl-C may be passed on by a parent that got it too. Such a pair is one wish.
//
//   RecordingSignals signals;
//   recorder = Recorder::Open(...);      // a signal that comes by now ends the recording as it begins
//   signals.Attach(recorder);            // from here, SIGPIPE and SIGXFSZ are errors of writing, no ends
//   summary = recorder->Run();
//   signals.Detach();                    // before the recorder goes
//
// One at a time in a process.
#ifndef KSAMP_TOOLS_RECORDING_SIGNALS_H_
#define KSAMP_TOOLS_RECORDING_SIGNALS_H_

#include <array>
#include <chrono>
#include <csignal>

namespace ksamp {

class RecordingSignals {
 public:
  // A signal that comes again within `pair` of the first of its number is taken for the same.
  explicit RecordingSignals(std::chrono::nanoseconds pair = std::chrono::seconds(1));
  // A Recorder, Counters: whatever has an async-signal-safe RequestStop().
  template <typename T>
  void Attach(T* stoppable) {
    Attach(stoppable, [](void* who) { static_cast<T*>(who)->RequestStop(); });
  }
  void Detach();
  ~RecordingSignals();
  RecordingSignals(const RecordingSignals&) = delete;
  RecordingSignals& operator=(const RecordingSignals&) = delete;

 private:
  using RequestStop = void (*)(void*);
  void Attach(void* stoppable, RequestStop request_stop);

  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, 3> before_ = {};
  static constexpr std::array<int, 2> kWriteSignals = {SIGPIPE, SIGXFSZ};
  std::array<struct sigaction, 2> write_before_ = {};
  bool attached_ = false;
};

}  // namespace ksamp

#endif  // KSAMP_TOOLS_RECORDING_SIGNALS_H_
