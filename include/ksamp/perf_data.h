// SPDX-License-Identifier: Apache-2.0
// Recording: a perf.data file, opened for reading.
//
//   absl::StatusOr<Recording> recording = Recording::Open("ksamp.data");
//   for (const EventDescription& event : recording->events()) std::cout << event.name << "\n";
//   absl::StatusOr<Profile> profile = BuildProfile(*recording, {});       // ksamp/profile.h
//
// Opens what perf wrote from 3.x on (several events, groups, with and without sample_id_all, truncated,
// killed with data.size 0, zstd-compressed, piped, directory, the other byte order), what simpleperf writes,
// and our own. A plain file is mapped and read in place. Every other form is turned once, at Open, into plain
// records of the host's byte order in an unlinked scratch file, so there is one way to read from then on.
//
// Damage does not hide what is intact: Open fails only where nothing can be read (InvalidArgument: not a
// recording; DataLoss: header or attrs unusable); otherwise damage() says what is missing and from which
// offset on.
//
// Formats: doc/perf-data-format.md. Thread-compatible: const use from several threads is fine.
#ifndef KSAMP_PERF_DATA_H_
#define KSAMP_PERF_DATA_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ksamp/export.h"
#include "ksamp/record.h"

namespace ksamp {

struct EventDescription {
  std::string name;  // from EVENT_DESC, else by number
  uint32_t type = 0;
  uint64_t config = 0;
  uint64_t sample_type = 0;     // PERF_SAMPLE_* bits
  bool frequency_mode = false;  // attr.freq
  uint64_t period_or_frequency = 0;
  bool exclude_kernel = false, exclude_user = false;
  std::vector<std::byte> attr;  // the perf_event_attr as stored, host byte order
  std::vector<uint64_t> ids;
};

struct BuildIdEntry {  // feature BUILD_ID: images hit, found by perf at the end of its run
  CpuMode mode = CpuMode::kUnknown;
  int32_t pid = -1;
  std::vector<uint8_t> build_id;
  std::string path;
};

// Facts about where and how it was recorded. Empty or zero: not in the file.
struct RecordingFacts {
  std::string hostname, os_release, perf_version, arch, cpu_desc, cpu_id;
  uint32_t cpus_available = 0, cpus_online = 0;
  uint64_t total_memory_kb = 0;
  std::vector<std::string> command_line;
  std::optional<uint64_t> first_sample_time, last_sample_time;  // SAMPLE_TIME, ns
  std::vector<BuildIdEntry> build_ids;
  bool compressed = false, piped = false, foreign_byte_order = false, directory = false, simpleperf = false;
};

// What only our recorder stores (feature sections 200 and up): see doc/perf-data-format.md.
struct KsampSections {
  std::map<std::string, std::string>
      meta;  // "event.wish", "event.actual", "event.note", "event.tracking", "duration_ns", ...
  std::map<std::string, uint64_t>
      counters;  // "lost.kernel", "lost.samples", "throttled", per CPU: "lost.kernel.cpu3"
  bool has_kernel_symbols = false;
};

// A file that a recorded process wrote about code it generated, copied when the process or the recording
// ended.
enum class CodeFileKind : uint32_t {
  kPerfMap = 1,  // perf-PID.map: lines "start size name"
  kJitDump = 2,  // jit-PID.dump without the code itself: functions with their times
};
struct CodeFile {
  CodeFileKind kind = CodeFileKind::kPerfMap;
  uint32_t pid = 0;
  std::string path;  // as the process called it
  std::string bytes;
};

struct Damage {
  uint64_t offset = 0;  // in the file (decoded input: in the decoded stream)
  std::string what;     // "record of size 3 at 1048576"
  uint64_t bytes_skipped = 0;
};

// Records by kind, from the sweep over the headers that Open makes.
struct RecordCounts {
  uint64_t samples = 0, mmaps = 0, comms = 0, forks = 0, exits = 0, lost_records = 0, lost = 0,
           lost_samples = 0, throttles = 0, unthrottles = 0, unknown = 0, malformed = 0;
  std::map<uint32_t, uint64_t> unknown_by_type;
};

struct OpenOptions {
  unsigned threads = 0;  // for decoding compressed input; 0: one per CPU
};

class KSAMP_EXPORT Recording {
 public:
  // A file, a perf.data directory, or "-" for standard input.
  static absl::StatusOr<Recording> Open(const std::string& path, const OpenOptions& options = {});
  // An open descriptor of a regular file or a pipe, which is taken over.
  static absl::StatusOr<Recording> FromDescriptor(int fd, const std::string& name,
                                                  const OpenOptions& options = {});
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  ~Recording();

  const std::string& path() const;
  uint64_t file_size() const;
  const std::vector<EventDescription>& events() const;
  const RecordingFacts& facts() const;
  const KsampSections& ksamp() const;
  const RecordCounts& counts() const;
  const std::vector<Damage>& damage() const;  // empty: the file is whole
  bool was_killed() const;                    // data.size was never final: the recorder died

  // kallsyms, modules and section anchors stored by our recorder, inflated. NotFound where the recording has
  // none.
  absl::StatusOr<std::string> KernelSymbols() const;   // text of /proc/kallsyms
  absl::StatusOr<std::string> KernelModules() const;   // text of /proc/modules
  absl::StatusOr<std::string> ModuleSections() const;  // lines "module section 0xaddress"
  // Files about generated code stored by our recorder, inflated; damaged ones are left out. At most
  // kMaxCodeFileBytes together.
  static constexpr size_t kMaxCodeFileBytes = size_t{256} << 20;
  std::vector<CodeFile> CodeFiles() const;
  // Texts of the format files of its tracepoints, as the kernel's tracefs has them; none where the recording
  // has none.
  std::vector<std::string_view> TracepointFormats() const;
  // The payload of any feature section, by bit number; empty where absent.
  std::span<const std::byte> Feature(unsigned bit) const;

  // All records in file order, in pieces of about a megabyte that begin at record boundaries: the unit of
  // parallel work. Bytes live as long as the recording.
  struct Chunk {
    std::span<const std::byte> bytes;
    uint64_t offset = 0;  // of its first byte, increasing from chunk to chunk
  };
  const std::vector<Chunk>& chunks() const;
  // Gives the memory of a chunk back once it was read; its bytes come again from the file when touched. Who
  // calls this behind a walk over all chunks needs as little memory for a file of gigabytes as for one of
  // megabytes. Any thread.
  void ReleaseChunk(const Chunk& chunk) const;
  // Records that are no samples (mmap, comm, fork, exit, lost, …), in file order, collected by the sweep of
  // Open.
  const std::vector<RawRecord>& side_records() const;

  // Calls fn for every record of `chunk`; stops early where fn returns false.
  static void ForEachRecord(const Chunk& chunk, const std::function<bool(const RawRecord&)>& fn);
  // The event a record belongs to, by its id; index into events(). Nothing: its id is not listed.
  std::optional<size_t> EventOf(const RawRecord& record) const;
  absl::StatusOr<Record> Decode(const RawRecord& record) const;

 private:
  friend class RecordingBuilder;  // lib/perfdata
  struct State;
  explicit Recording(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ksamp

#endif  // KSAMP_PERF_DATA_H_
