// SPDX-License-Identifier: Apache-2.0
// RecordingSignals: while it lives, Ctrl-C, SIGTERM and SIGHUP end the recording instead of ksamp, so that
// the file is complete. The second Ctrl-C is the ordinary one.
//
//   {
//     const RecordingSignals signals(recorder);
//     summary = recorder->Run();
//   }
//
// One at a time in a process.
#ifndef KSAMP_TOOLS_RECORDING_SIGNALS_H_
#define KSAMP_TOOLS_RECORDING_SIGNALS_H_

#include <array>
#include <csignal>

#include "ksamp/recorder.h"

namespace ksamp {

class RecordingSignals {
 public:
  explicit RecordingSignals(Recorder* recorder);
  ~RecordingSignals();
  RecordingSignals(const RecordingSignals&) = delete;
  RecordingSignals& operator=(const RecordingSignals&) = delete;

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, 3> before_ = {};
  struct sigaction pipe_before_ = {};
};

}  // namespace ksamp

#endif  // KSAMP_TOOLS_RECORDING_SIGNALS_H_
