// SPDX-License-Identifier: Apache-2.0
// Why the kernel refused an event: errno alone does not say, errno and circumstances do.
//
//   OpenCircumstances around = ReadOpenCircumstances("/proc");
//   around.whole_cpus = true;
//   OpenVerdict verdict = ExplainOpenFailure(EACCES, spec, attr, around);
//   // kParanoid, "kernel.perf_event_paranoid is 2, and without CAP_PERFMON whole CPUs may be watched only at
//   0 or
//   // below"
//
// The table is a pure function, so each of its cells has a test. Remedies for people live in
// tools/diagnostics; the status carries the case (FailureOf, ksamp/recorder.h).
#ifndef KSAMP_LIB_RECORDER_OPEN_FAILURE_H_
#define KSAMP_LIB_RECORDER_OPEN_FAILURE_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "ksamp/event_spec.h"
#include "ksamp/recorder.h"

namespace ksamp {

struct OpenCircumstances {
  bool whole_cpus = false;  // -a, -C; else threads
  std::optional<int> paranoid = {};
  uint64_t capabilities = 0;  // effective ones, by number
  bool may_profile = false;   // CAP_PERFMON or CAP_SYS_ADMIN is effective
  bool seccomp_filter = false;
  bool nmi_watchdog = false;  // holds one hardware counter of each CPU
  std::optional<uint64_t> max_sample_rate = {};
  uint64_t files_needed = 0, files_allowed = 0;
};
// What /proc knows; the target and the numbers of files are the caller's.
OpenCircumstances ReadOpenCircumstances(const std::string& proc_root);

struct OpenVerdict {
  OpenFailure failure = OpenFailure::kOther;
  std::string cause;  // a sentence without capital and full stop, to stand behind "open EVENT: "
};
OpenVerdict ExplainOpenFailure(int error, const EventSpec& event, const perf_event_attr& attr,
                               const OpenCircumstances& around);

// "open EVENT: CAUSE", with the case for FailureOf() and the errno for StatusErrno().
absl::Status OpenFailureStatus(const absl::Status& refusal, const EventSpec& event,
                               const perf_event_attr& attr, const OpenCircumstances& around);
// A status of one's own wording that carries a case.
absl::Status WithFailure(absl::Status status, OpenFailure failure);
// Of a Workload that cannot be started: with the case that becomes a shell's 127 or 126.
absl::Status CommandFailure(absl::Status status);

}  // namespace ksamp

#endif  // KSAMP_LIB_RECORDER_OPEN_FAILURE_H_
