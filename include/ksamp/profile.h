// SPDX-License-Identifier: Apache-2.0
// Profile: the samples of a recording, counted.
//
//   absl::StatusOr<Recording> recording = Recording::Open("ksamp.data");
//   absl::StatusOr<Profile> profile = BuildProfile(*recording, options);
//   Symbolize(*profile, *Symbolizer::Create(SymbolizerOptionsFor(*recording)));
//   ApplySymbolFilters(*profile, filters);
//   WriteReport(*profile, report_options, std::cout);                      // ksamp/report.h
//
// Building has two steps on numbers alone (design D2): the side records make the timeline of address spaces,
// then all samples are counted, in parallel and in any order, by (what is separated, image, address). Names
// come after, once per unique address (D3). Memory grows with unique addresses, not with samples.
//
// The invariant, held to the sample for each event and in sum:
//
//   taken = rows of the report + below its threshold + filtered + idle + dropped (by cause)
//
// Plain data, freely copied; no locking.
#ifndef KSAMP_PROFILE_H_
#define KSAMP_PROFILE_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ksamp/export.h"
#include "ksamp/image.h"
#include "ksamp/perf_data.h"
#include "ksamp/source_lines.h"
#include "ksamp/symbolizer.h"

namespace ksamp {

// samples: how many. period: the events they stand for (ns of a clock, cycles). Never mixed up.
struct Counts {
  uint64_t samples = 0;
  uint64_t period = 0;
  Counts& operator+=(const Counts& o) {
    samples += o.samples;
    period += o.period;
    return *this;
  }
  friend bool operator==(const Counts&, const Counts&) = default;
};

inline constexpr uint32_t kNone32 = std::numeric_limits<uint32_t>::max();

// What is kept apart (opreport's --separate, chosen when reading).
struct Separation {
  bool library = true;  // libraries under their application; off: every image on its own
  bool kernel = false;  // kernel and modules under the application too
  bool comm = false, process = false, thread = false, cpu = false;
};

// The separated identity of some samples. kNone32: not separated by this. `app` kNone32: the image is its own
// application (kernel and modules by default).
struct ProfileKey {
  uint32_t event = 0;       // index into Profile::events
  uint32_t app = kNone32;   // index into Profile::names
  uint32_t comm = kNone32;  // index into Profile::names
  uint32_t pid = kNone32, tid = kNone32, cpu = kNone32;
  bool idle_task = false;  // a clock event in pid 0: may be idle (design D6)
  friend bool operator==(const ProfileKey&, const ProfileKey&) = default;
};

struct ProfileSymbol {
  std::string name;  // not demangled
  uint32_t image = kNone32;
  uint64_t start = 0, size = 0;
  std::string file;   // where its code begins, if the symbolizer was asked for it; empty: not known
  uint32_t line = 0;  // of that file; 0: not known
};

// One unique address.
struct ProfileLocation {
  uint32_t image = kNone32;   // index into Profile::images
  uint64_t address = 0;       // file offset or runtime address, see ksamp/symbolizer.h
  ElfAddress elf{0};          // set by Symbolize
  uint32_t symbol = kNone32;  // index into Profile::symbols; set by Symbolize
  UnresolvedReason reason = UnresolvedReason::kNone;
  // Its line and inlined calls, if the symbolizer was asked for them: frames [first_frame, first_frame +
  // frames) of Profile::source, innermost first.
  uint32_t first_frame = 0, frames = 0;
};

struct ProfileEntry {
  uint32_t key = 0;       // index into Profile::keys
  uint32_t location = 0;  // index into Profile::locations
  Counts counts;
};

// A frame of stacks: all frames from the outermost one down to this. Stacks share the nodes of callers they
// have in common.
struct StackNode {
  uint32_t parent =
      kNone32;            // index into Profile::stack_nodes, below this one's; kNone32: the outermost frame
  uint32_t location = 0;  // index into Profile::locations
};

// The samples whose whole stack this is.
struct StackEntry {
  uint32_t key = 0;   // index into Profile::keys
  uint32_t node = 0;  // index into Profile::stack_nodes: the leaf
  Counts counts;
};

struct ProfileEvent {
  std::string name;
  bool frequency_mode = false;  // shares are by period then
  bool clock = false;           // a timer, not a counter: idle is counted
  uint64_t period_or_frequency = 0;
  std::string note = {};    // why this event and not the wished one; empty: as asked
  bool has_stacks = false;  // recorded with call chains
  bool tracking = false;    // a dummy, there for its side records: reports do not show it without samples
};

// Where every sample went. Per event, same order as Profile::events; sum over all with Total().
struct Conservation {
  uint64_t taken = 0;
  uint64_t counted = 0;  // in Profile::entries
  uint64_t idle = 0;
  std::map<std::string, uint64_t> filtered =
      {};  // by the filter that took it: "time", "cpu", "comm", "symbol", …
  std::map<std::string, uint64_t> dropped = {};  // by cause: "malformed record", "no address in the sample"
  KSAMP_EXPORT uint64_t FilteredTotal() const;
  KSAMP_EXPORT uint64_t DroppedTotal() const;
  bool Holds() const { return taken == counted + idle + FilteredTotal() + DroppedTotal(); }
};

// Losses outside the sum (decision 9): events of which no sample reached us.
struct Losses {
  uint64_t lost_records = 0;  // LOST: ring was full
  uint64_t lost_samples = 0;  // LOST_SAMPLES, or PERF_FORMAT_LOST
  uint64_t throttles = 0;     // THROTTLE records
  std::map<std::string, uint64_t> by_cpu;
};

struct ProfileFacts {
  std::string file, hostname, os_release, cpu_desc, arch;
  uint32_t cpus = 0;
  double cpu_mhz = 0;  // 0: not known
  std::optional<uint64_t> duration_ns;
  std::vector<std::string> notes;  // for the report's header: damage, replaced images, hidden symbols, …
};

struct Profile {
  std::vector<ProfileEvent> events;
  std::vector<std::string> names;  // apps and comms
  std::vector<Image> images;
  std::vector<ProfileKey> keys;
  std::vector<ProfileLocation> locations;
  std::vector<ProfileSymbol> symbols;  // filled by Symbolize
  SourceFrames source;                 // filled by Symbolize; `first` is not used
  std::vector<ProfileEntry> entries;   // one per (key, location), sorted by (key, location)
  // Whole stacks, with ProfileOptions::stacks. Sorted by (key, node); summed up by leaf they are the entries:
  // whatever takes an entry out takes its stacks out. Memory grows with unique stacks.
  std::vector<StackNode> stack_nodes;
  std::vector<StackEntry> stacks;
  std::vector<Conservation> conservation;  // per event
  Losses losses;
  ProfileFacts facts;

  KSAMP_EXPORT Conservation Total() const;
};

// [begin, end) in ns since the recording's first sample.
struct TimeRange {
  uint64_t begin_ns = 0, end_ns = std::numeric_limits<uint64_t>::max();
};

struct ProfileOptions {
  Separation separate = {};
  std::optional<TimeRange> time = {};
  std::vector<uint32_t> cpus = {}, pids = {}, tids = {};  // empty: all
  std::vector<std::string> comms = {}, events = {};       // exact names; empty: all
  bool count_idle = false;                                // --idle
  bool stacks = false;                                    // fill Profile::stacks
  unsigned threads = 0;                                   // 0: one per CPU
  std::vector<JitDumpText> jit_dumps = {};                // empty: those in the recording
};

// InvalidArgument: an event name that the recording lacks, a time range on a recording without times.
// FailedPrecondition: stacks of a recording that has none.
KSAMP_EXPORT absl::StatusOr<Profile> BuildProfile(const Recording& recording, const ProfileOptions& options);

// What a symbolizer needs to know of the recording: kernel tables, release, build-ids, KASLR.
KSAMP_EXPORT SymbolizerOptions SymbolizerOptionsFor(const Recording& recording);

// The jitdumps of the recorded processes: the recording's copies, and of the others those that are still
// there (`options`: as ReadJitDump has it). For ProfileOptions and SymbolizerOptions alike: functions are
// told apart by time when counting, and named when symbolizing. `notes`: which could not be read, and why.
KSAMP_EXPORT std::vector<JitDumpText> FindJitDumps(const Recording& recording,
                                                   const SymbolizerOptions& options,
                                                   std::vector<std::string>* notes);

// Resolves every location (images in parallel), then takes idle samples out (design D6; decision 20) unless
// counted.
KSAMP_EXPORT void Symbolize(Profile& profile, Symbolizer& symbolizer, const ProfileOptions& options = {});

// Counts each sample for the innermost function inlined at its address instead of the function that holds the
// code (report --inline). A function that is both is one symbol; one that is only inlined has no code of its
// own, so its start and size are 0, and its line is that of its declaration. Requires: Symbolize with
// SourceDetail::kInlined.
KSAMP_EXPORT void AttributeToInlined(Profile& profile);

// Filters that need names; matching samples are moved to Conservation::filtered, never just gone.
struct SymbolFilters {
  std::vector<std::string> include_symbols = {}, exclude_symbols = {};  // exact, mangled or demangled
  // Globs on an image's path or basename (lib-image:, --only-images).
  std::vector<std::string> images = {};
  // Globs on image or application: with its application go its libraries (image:, bare words of a profile
  // specification; image-exclude:).
  std::vector<std::string> apps = {}, exclude_images = {};
  bool exclude_dependent = false;  // -x: libraries, kernel and modules below an app
};
KSAMP_EXPORT void ApplySymbolFilters(Profile& profile, const SymbolFilters& filters);

// opreport's profile specification: "image:GLOB,…" "image-exclude:" "lib-image:" "cpu:" "tid:" "tgid:"
// "event:" and bare image names. Fills the two option structs; InvalidArgument as opreport says it (a tag
// twice, an empty value, …).
KSAMP_EXPORT absl::Status ParseProfileSpecification(const std::vector<std::string>& words,
                                                    ProfileOptions& options, SymbolFilters& filters);

}  // namespace ksamp

#endif  // KSAMP_PROFILE_H_
