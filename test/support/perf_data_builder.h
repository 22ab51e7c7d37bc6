// SPDX-License-Identifier: Apache-2.0
// PerfDataBuilder: recordings for tests, record by record, in every form a reader must understand.
//
//   PerfDataBuilder b;
//   b.AddEvent("cpu-clock", {7});
//   b.Comm(42, 42, "server").Mmap({.pid = 42, .addr = 0x400000, .length = 0x1000, .path = "/bin/server"});
//   b.Sample({.pid = 42, .tid = 42, .time = 100, .ip = 0x400123});
//   std::string path = b.WriteTo(tree.Path("x.data"));
//   ASSERT_OK_AND_ASSIGN(Recording recording, b.Open());           // without a file
//
// Forms: b.Piped(), b.Compressed(), b.ForeignByteOrder(), b.Killed(), b.Truncated(n), and combinations of
// them. The file around the records is written here and not by the production writer, so that reader and
// writer are tested independently. Without AddEvent there is one event: cpu-clock with id 1.
#ifndef KSAMP_TEST_SUPPORT_PERF_DATA_BUILDER_H_
#define KSAMP_TEST_SUPPORT_PERF_DATA_BUILDER_H_

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ksamp/perf_data.h"
#include "ksamp/record.h"

namespace ksamp::testing {

// cpu-clock, period 1 000 000, IDENTIFIER|IP|TID|TIME|CPU|PERIOD plus `more`, sample_id_all.
perf_event_attr SampleAttr(uint64_t more_sample_type = 0);

struct BuiltSample {
  uint32_t pid = 0, tid = 0;
  uint64_t time = 0, ip = 0;
  CpuMode mode = CpuMode::kUser;
  uint32_t cpu = 0;
  uint64_t period = 1'000'000;
  std::vector<uint64_t> callchain = {};  // with markers; needs an attr with PERF_SAMPLE_CALLCHAIN
  size_t event = 0;                      // in the order of AddEvent
  std::optional<uint64_t> id = {};       // an id the event does not list; default: its first
  uint64_t addr = 0, weight = 0;
  bool exact_ip = false;
  std::vector<std::byte> raw = {};  // needs an attr with PERF_SAMPLE_RAW
};

struct BuiltMmap {
  uint32_t pid = 0;
  std::optional<uint32_t> tid = {};  // default: pid
  uint64_t addr = 0, length = 0, file_offset = 0;
  std::string path = {};
  uint64_t time = 0;
  CpuMode mode = CpuMode::kUser;  // kKernel with pid ~0u: the kernel's or a module's map
  uint32_t protection = 5;        // read, execute
  std::vector<uint8_t> build_id = {};
  bool old_form = false;  // MMAP instead of MMAP2
};

class PerfDataBuilder {
 public:
  PerfDataBuilder& AddEvent(std::string name, std::vector<uint64_t> ids, perf_event_attr attr = SampleAttr());

  PerfDataBuilder& Comm(uint32_t pid, uint32_t tid, std::string_view comm, uint64_t time = 0,
                        bool exec = false);
  PerfDataBuilder& Mmap(const BuiltMmap& mmap);
  // A new process (pid != ppid) or thread (pid == ppid).
  PerfDataBuilder& Fork(uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid, uint64_t time);
  PerfDataBuilder& Exit(uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid, uint64_t time);
  PerfDataBuilder& Sample(const BuiltSample& sample);
  PerfDataBuilder& Lost(uint64_t id, uint64_t lost, uint64_t time = 0);
  PerfDataBuilder& LostSamples(uint64_t lost, uint64_t time = 0);
  PerfDataBuilder& Throttle(uint64_t time, uint64_t id, bool throttled = true);
  PerfDataBuilder& FinishedRound();
  // Any record, decoded; its id fields are taken as they are.
  PerfDataBuilder& Add(const Record& record, size_t event = 0);
  // Any bytes in the place of a record, and bytes outside header.size behind it.
  PerfDataBuilder& AddBytes(std::span<const std::byte> bytes);
  PerfDataBuilder& AddRecord(uint32_t type, std::span<const std::byte> payload, uint16_t misc = 0);

  // A feature section; HOSTNAME and EVENT_DESC are there by themselves.
  PerfDataBuilder& Feature(unsigned bit, std::vector<std::byte> payload);
  // One of ours, before the data section.
  PerfDataBuilder& Preamble(unsigned bit, std::vector<std::byte> payload);

  PerfDataBuilder& Piped();
  // perf's way: one zstd stream across all COMPRESSED records of `piece` raw bytes. Independent: one frame
  // each, as our recorder writes. `record_type` 83: COMPRESSED2, whose size wraps where it passes 64 KiB.
  PerfDataBuilder& Compressed(size_t piece = 4096, bool independent = false, uint32_t record_type = 81);
  // Only the kinds of record this builder has a method for.
  PerfDataBuilder& ForeignByteOrder();
  // As a killed recorder leaves it: data.size 0 and no feature table. perf has announced its features in the
  // header by then, we have not.
  PerfDataBuilder& Killed(bool announced = true);
  PerfDataBuilder& Truncated(size_t size);
  PerfDataBuilder& AttrSize(
      uint32_t size);            // of each perf_event_attr: 64, 72, 80, 96, 104, 112, 120, 128 or more
  PerfDataBuilder& OldHeader();  // 72 bytes: no feature bitmap

  std::vector<std::byte> Bytes() const;
  std::string WriteTo(const std::string& path) const;  // returns `path`
  absl::StatusOr<Recording> Open(const OpenOptions& options = {}) const;

 private:
  struct Event {
    perf_event_attr attr;
    std::string name;
    std::vector<uint64_t> ids;
  };
  struct Stored {
    std::vector<std::byte> bytes;
    size_t event = 0;
    bool is_record = true;
  };

  SampleId IdFor(size_t event, uint32_t pid, uint32_t tid, uint64_t time, uint32_t cpu = 0) const;
  const Event& EventAt(size_t event) const;
  std::vector<std::byte> AttrBytes(const Event& event) const;
  std::vector<std::byte> RecordBytes() const;
  std::vector<std::byte> CompressedRecords(const std::vector<std::byte>& records) const;
  std::map<unsigned, std::vector<std::byte>> Features() const;
  std::vector<std::byte> FileBytes() const;
  std::vector<std::byte> PipeBytes() const;

  std::vector<Event> events_;
  std::vector<Stored> records_;
  std::map<unsigned, std::vector<std::byte>> features_, preamble_;
  bool piped_ = false, foreign_ = false, killed_ = false, announced_ = false, old_header_ = false,
       independent_ = false;
  uint32_t attr_size_ = 128, compressed_type_ = 0;
  size_t compressed_piece_ = 0;
  std::optional<size_t> truncated_;
};

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_SUPPORT_PERF_DATA_BUILDER_H_
