// SPDX-License-Identifier: Apache-2.0
// What to count or sample, as people name it.
//
//   perf's names       cycles  cycles:k  cache-misses  L1-dcache-load-misses  r003c  cpu/event=0x3c,umask=0/
//                      sched:sched_switch  {cycles,instructions}:u
//   oprofile's names   CPU_CLK_UNHALTED  CPU_CLK_UNHALTED:100000:0:1:1   (count, unit mask, kernel, user)
//   probes             kprobe:tcp_sendmsg  kretprobe:tcp_sendmsg  uprobe:/bin/bash:readline   (not opened
//   yet: refused)
//
//   absl::StatusOr<std::vector<EventGroup>> groups = ParseEvents("cycles:k", catalog);
//
// Parsing is pure: what only the machine knows (PMU types, their terms, tracepoint ids) comes from an
// EventCatalog.
#ifndef KSAMP_EVENT_SPEC_H_
#define KSAMP_EVENT_SPEC_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ksamp/export.h"

namespace ksamp {

// One event, ready to be opened: the kernel's numbers and the name the user gave it.
struct EventSpec {
  std::string name;   // as typed, modifiers included; what reports print
  uint32_t type = 0;  // perf_event_attr.type
  uint64_t config = 0, config1 = 0, config2 = 0, config3 = 0;
  bool exclude_user = false, exclude_kernel = false, exclude_hv = false, exclude_idle = false;
  bool exclude_host = false, exclude_guest = true;              // guests are someone else's (design D5)
  bool precise_max = false;                                     // P: the highest precise_ip that opens
  uint8_t precise_ip = 0;                                       // p, pp, ppp
  bool pinned = false, exclusive = false, sample_read = false;  // D, e, S
  std::optional<uint64_t>
      period;  // oprofile's count, or a period= term; 0: no samples of its own (a member of a group with S)
  std::optional<uint64_t> frequency;  // a freq= term
  std::string cpus;                   // a PMU's own CPUs ("0-15"), empty: all
  std::string pmu;                    // PMU the event belongs to, where it was named
};

struct EventGroup {
  std::vector<EventSpec> events;  // one, or the members of {…}, leader first
};

// One term a PMU's format folder defines: which bits of which config word.
struct PmuTerm {
  std::string name;
  int word = 0;                                 // 0: config, 1: config1, 2: config2, 3: config3
  std::vector<std::pair<int, int>> bit_ranges;  // inclusive, in order of the value's bits
};

struct Pmu {
  std::string name;  // "cpu", "cpu_core", "msr"
  uint32_t type = 0;
  std::string cpus;   // cpus or cpumask file; empty: all
  bool core = false;  // counts for one CPU's execution (cpu, cpu_core, cpu_atom, armv8_pmuv3…)
  std::vector<PmuTerm> terms;
  struct Alias {
    std::string name, terms, description, unit;
    double scale = 1;
  };
  std::vector<Alias> aliases;  // the events folder
};

// What the machine offers. Implemented over sysfs and tracefs by SystemEventCatalog() and over tables in
// tests.
class KSAMP_EXPORT EventCatalog {
 public:
  virtual ~EventCatalog() = default;
  virtual const std::vector<Pmu>& pmus() const = 0;
  // The id of tracepoint subsystem:name. NotFound: the kernel has none of that name; FailedPrecondition:
  // tracefs is not mounted; PermissionDenied.
  virtual absl::StatusOr<uint64_t> TracepointId(std::string_view subsystem, std::string_view name) const = 0;
  // All tracepoints as "subsystem:name", for globs and for "did you mean".
  virtual std::vector<std::string> Tracepoints() const = 0;
};

// The catalog of the machine whose sysfs is at `sys_root`: PMUs are read now, tracepoints when asked for.
// What cannot be read is not there.
KSAMP_EXPORT std::unique_ptr<EventCatalog> SystemEventCatalog(const std::string& sys_root = "/sys");

// One -e argument: events and groups separated by commas. An unknown name suggests the nearest known one.
// Hybrid machines: a generic hardware event becomes one spec per core PMU.
KSAMP_EXPORT absl::StatusOr<std::vector<EventGroup>> ParseEvents(std::string_view text,
                                                                 const EventCatalog& catalog);

// A listed event of this kind of machine.
struct ListedEvent {
  std::string name, kind, description;  // kind: hardware, software, cache, pmu, tracepoint, oprofile
};
// Every name ParseEvents knows here, in order of kind; whether the kernel opens it is another question
// (`ksamp list` tries). Tracepoints come only as names.
KSAMP_EXPORT std::vector<ListedEvent> ListEvents(const EventCatalog& catalog);

// The name of an event when only its numbers are known ("cycles", "cpu-clock", "raw 0x3c"), for old
// recordings.
KSAMP_EXPORT std::string EventName(uint32_t type, uint64_t config);
// One sentence for a report's header: "CPU clock", "CPU cycles, halted ones excluded"; empty where unknown.
KSAMP_EXPORT std::string_view DescribeEvent(std::string_view name);

}  // namespace ksamp

#endif  // KSAMP_EVENT_SPEC_H_
