// SPDX-License-Identifier: Apache-2.0
// PerfSession: the opened events of one recording and their rings.
//
//   KSAMP_ASSIGN_OR_RETURN(std::unique_ptr<PerfSession> session, PerfSession::Open(kernel, plan, options));
//   session->EnableTracking();  …describe running processes…  session->Enable();
//   for (PerfSession::Ring& ring : session->rings()) Drain(ring.reader);
//
// One ring per CPU takes the records of every event there (SET_OUTPUT). A target of threads gets an event per
// (thread × CPU), because the kernel gives no ring to an inherited event that follows its thread over the
// CPUs.
//
// Mappings, forks and names are told by a dummy event of their own, enabled before the running processes are
// described: a mapping made in between is told twice, never missed. A command of our own needs none: its
// story begins with exec, so its first event tells it.
//
// Degraded openings go on and are told in notes(): CPUs that are offline, rings smaller than wished (the
// limit of locked memory), a raised limit of open files is silent. One thread.
#ifndef KSAMP_LIB_RECORDER_SESSION_H_
#define KSAMP_LIB_RECORDER_SESSION_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/os/perf_kernel.h"
#include "lib/os/ring_reader.h"
#include "lib/perfdata/writer.h"
#include "lib/recorder/event_ladder.h"

namespace ksamp {

struct SessionOptions {
  std::vector<int> cpus;    // to watch
  std::vector<pid_t> tids;  // empty: every thread on these CPUs
  AttrOptions tracking;     // for the dummy event that tells of mappings
  uint64_t ring_bytes = 0;  // 0: sized for the rate
  OpenCircumstances around;
  std::string proc_root = "/proc";
};

// A power of two of bytes that holds a quarter of a second of samples: 128 KiB to 4 MiB.
uint64_t RingBytesFor(const EventPlan& plan);

class PerfSession {
 public:
  struct Ring {
    int cpu = 0;
    RingReader reader;
    std::vector<int> fds;  // all events that write into it; the one that is polled first
    bool alive = true;     // false: every event of it has hung up
  };

  static absl::StatusOr<std::unique_ptr<PerfSession>> Open(PerfKernel& kernel, EventPlan plan,
                                                           SessionOptions options);

  // Of the mapping and naming records.
  absl::Status EnableTracking();
  absl::Status Enable();
  // Counting stops; records that are in the rings stay there. All events, also where some have gone.
  absl::Status Disable();

  std::vector<Ring>& rings() { return rings_; }
  // As the file describes them: attr, name and ids. The tracking event is the last.
  std::vector<WriterEvent> WriterEvents() const;
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<int>& cpus() const { return cpus_; }  // with a ring
  // Which event (index into WriterEvents) an id belongs to; -1: none of ours.
  int EventOfId(uint64_t id) const;
  // PERF_FORMAT_LOST of each event, summed: samples the ring had no room for. Empty where the kernel cannot
  // say.
  std::vector<uint64_t> ReadLost() const;

 private:
  struct Event {
    EventSpec spec;
    perf_event_attr attr = {};
    std::vector<int> cpus;
    size_t leader = 0;  // index of its group's leader; its own for leaders
    bool tracks = false;
    std::vector<uint64_t> ids;
    std::vector<UniqueFd> fds;
  };
  // What was opened on one CPU for one thread, by event; -1 where the event is not for this CPU.
  struct Place {
    int cpu;
    std::vector<int> fds;
  };

  PerfSession(PerfKernel& kernel, SessionOptions options) : kernel_(kernel), options_(std::move(options)) {}
  void TakePlan(EventPlan plan);
  absl::Status OpenAll();
  absl::Status OpenPlace(pid_t tid, int cpu);
  absl::Status OpenEvent(Event& event, pid_t tid, int cpu, Place& place);
  bool IsTolerable(const absl::Status& status, pid_t tid, int cpu);
  absl::Status MapAll();
  absl::Status MapRings(size_t pages);
  void SetWatermarks(uint64_t ring_bytes);
  absl::Status Forget(absl::Status status);
  absl::Status Switch(bool tracking, bool on);
  absl::Status TellFiles(const absl::Status& status, const Event& event) const;
  void TellSkippedCpus();

  PerfKernel& kernel_;
  SessionOptions options_;
  std::vector<Event> events_;
  std::vector<Place> places_;
  std::vector<Ring> rings_;
  std::vector<int> cpus_, offline_;
  std::vector<pid_t> gone_;
  absl::flat_hash_map<uint64_t, int> event_of_id_;
  std::vector<std::string> notes_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_RECORDER_SESSION_H_
