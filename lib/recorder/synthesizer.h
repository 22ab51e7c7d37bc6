// SPDX-License-Identifier: Apache-2.0
// The synthesizer: records that describe the processes which were there before the recording.
//
// The kernel tells of processes and mappings only from the moment on that it counts. For everything older,
// the recorder writes what /proc says, as the kernel would have written it, with time 0: "from the
// beginning".
//
//   BuildIdCache build_ids(&proc);
//   KSAMP_ASSIGN_OR_RETURN(SynthesisTotals totals,
//       SynthesizeProcesses(proc, {}, layout, build_ids, [&](auto bytes) { return writer.Append(bytes); }));
//
// Per process: COMM of its main thread, MMAP2 of each executable mapping, COMM of the other threads. The
// mappings of /proc/PID/exe come first, because the first one names the application (not always the lowest:
// generated code may lie below). No FORK: a COMM already says which process a thread belongs to, and the
// parent would cost a read of /proc/PID/status, the slowest file there, for each process.
//
// Call it after the events were opened: a process that starts in between is then described twice, not never.
#ifndef KSAMP_LIB_RECORDER_SYNTHESIZER_H_
#define KSAMP_LIB_RECORDER_SYNTHESIZER_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/event/sample_layout.h"
#include "lib/os/proc_fs.h"
#include "lib/recorder/build_id_cache.h"

namespace ksamp {

// Gets whole records, several at a time; the bytes are valid during the call.
using RecordSink = std::function<absl::Status(std::span<const std::byte>)>;

struct SynthesisTargets {
  // Both empty: every process. A thread's process is described whole: its mappings are shared.
  std::vector<pid_t> pids, tids;
};

struct SynthesisTotals {
  uint64_t processes = 0, threads = 0, mappings = 0;
  // Processes whose mappings the kernel does not let us read: another user's, or one that a security module
  // or a process's own choice (PR_SET_DUMPABLE) protects, from root too.
  uint64_t unreadable = 0;
  // "user 1000 may not read the mappings of 12 processes (1 systemd, …): …"; empty where all could be read.
  std::string note;
};

// Errors are the sink's and the encoder's own; processes that vanish are left out.
absl::StatusOr<SynthesisTotals> SynthesizeProcesses(const ProcFs& proc, const SynthesisTargets& targets,
                                                    const SampleLayout& layout, BuildIdCache& build_ids,
                                                    const RecordSink& sink);

}  // namespace ksamp

#endif  // KSAMP_LIB_RECORDER_SYNTHESIZER_H_
