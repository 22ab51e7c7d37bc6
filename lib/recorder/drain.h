// SPDX-License-Identifier: Apache-2.0
// RingDrain: moves what is in the rings into a sink, and counts while it passes.
//
//   RingDrain drain(session, [&](auto bytes) { return writer.Append(bytes); }, {});
//   KSAMP_ASSIGN_OR_RETURN(uint64_t bytes, drain.Round());        // every ring once, then FINISHED_ROUND
//   drain.counts().samples
//
// Bytes go from the ring to the sink as they are; the only work per record is reading its header, plus the
// few words of LOST and THROTTLE. A round visits every ring, which is what makes FINISHED_ROUND true: nothing
// that comes later is older than what was in the rings when the round before this one began.
#ifndef KSAMP_LIB_RECORDER_DRAIN_H_
#define KSAMP_LIB_RECORDER_DRAIN_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/os/ring_reader.h"
#include "lib/recorder/session.h"
#include "lib/recorder/synthesizer.h"

namespace ksamp {

struct DrainCounts {
  uint64_t samples = 0;       // written
  uint64_t own_samples = 0;   // left out: of the recorder itself
  uint64_t lost_records = 0;  // told by LOST: the ring was full
  uint64_t lost_samples = 0;  // told by LOST_SAMPLES: the kernel dropped them before the ring
  uint64_t throttles = 0;
  std::optional<uint64_t> first_time, last_time;  // of samples
  // "lost.kernel", "lost.samples", "throttled", each also with ".cpuN" and, where the record names it,
  // ".EVENT".
  std::map<std::string, uint64_t> by_place;
};

class RingDrain {
 public:
  // `exclude_pid`: samples of this process are left out and counted; 0: none. `watch_processes`: gets each
  // MMAP2 and EXIT record, whole, after those before it went to the sink.
  using Watch = std::function<void(std::span<const std::byte>)>;
  RingDrain(PerfSession& session, RecordSink sink, pid_t exclude_pid, Watch watch_processes = {});

  // Bytes that were moved. An error is the sink's, or DataLoss: a ring holds no records.
  absl::StatusOr<uint64_t> Round();
  const DrainCounts& counts() const { return counts_; }

 private:
  absl::Status DrainRing(PerfSession::Ring& ring, const RingSpans& spans);
  absl::Status Emit(const RingSpans& spans, size_t from, size_t to);
  void CountSide(const PerfSession::Ring& ring, const RingSpans& spans, size_t at, uint32_t type,
                 size_t size);
  void ShowWatch(const RingSpans& spans, size_t at, size_t size);
  void CountPlace(const char* what, const PerfSession::Ring& ring, uint64_t id, uint64_t amount);

  PerfSession& session_;
  RecordSink sink_;
  uint32_t exclude_pid_;
  Watch watch_processes_;
  std::vector<std::byte> scratch_;  // for records that lie across a ring's end
  std::vector<std::string> names_;  // of the events
  DrainCounts counts_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_RECORDER_DRAIN_H_
