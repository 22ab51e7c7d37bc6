// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <ostream>

#include "ksamp/perf_data.h"
#include "lib/base/byte_reader.h"
#include "lib/base/compression.h"
#include "lib/base/file_io.h"
#include "lib/perfdata/features.h"
#include "lib/perfdata/format.h"
#include "test/support/built_tree.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::IsOkAndHolds;
using ::ksamp::testing::PerfDataBuilder;
using ::ksamp::testing::SampleAttr;
using ::ksamp::testing::SourceDir;
using ::ksamp::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::byte> Zstd(std::string_view text) {
  return *CompressZstd(AsBytes(text), 3);
}

TEST(Recording, DecodesEveryRecordInFileOrder) {
  PerfDataBuilder b;
  b.Comm(42, 43, "server").Sample({.pid = 42, .tid = 43, .time = 5, .ip = 0x1234}).FinishedRound();
  ASSERT_OK_AND_ASSIGN(Recording recording, b.Open());
  std::vector<std::string> seen;
  ASSERT_EQ(recording.chunks().size(), 1u);
  Recording::ForEachRecord(recording.chunks()[0], [&](const RawRecord& raw) {
    absl::StatusOr<Record> record = recording.Decode(raw);
    EXPECT_OK(record);
    if (auto* comm = std::get_if<CommRecord>(&record->body)) seen.push_back(std::string(comm->comm));
    if (auto* sample = std::get_if<SampleRecord>(&record->body)) {
      EXPECT_EQ(sample->ip, 0x1234u);
      EXPECT_EQ(sample->tid, 43u);
      seen.push_back("sample");
    }
    if (std::holds_alternative<FinishedRoundRecord>(record->body)) seen.push_back("round");
    return true;
  });
  EXPECT_THAT(seen, ElementsAre("server", "sample", "round"));
}

TEST(Recording, ForEachRecordStopsWhenTold) {
  PerfDataBuilder b;
  b.Sample({}).Sample({}).Sample({});
  ASSERT_OK_AND_ASSIGN(Recording recording, b.Open());
  int calls = 0;
  Recording::ForEachRecord(recording.chunks()[0], [&](const RawRecord&) { return ++calls < 2; });
  EXPECT_EQ(calls, 2);
}

TEST(Recording, EventOfTellsEventsApart) {
  PerfDataBuilder b;
  b.AddEvent("a", {7}).AddEvent("b", {8, 9}, SampleAttr(PERF_SAMPLE_CALLCHAIN));
  b.Sample({.event = 0}).Sample({.callchain = {1, 2}, .event = 1}).Sample({.event = 1, .id = 99});
  ASSERT_OK_AND_ASSIGN(Recording recording, b.Open());
  std::vector<std::optional<size_t>> events;
  std::vector<absl::StatusCode> codes;
  Recording::ForEachRecord(recording.chunks()[0], [&](const RawRecord& raw) {
    events.push_back(recording.EventOf(raw));
    codes.push_back(recording.Decode(raw).status().code());
    return true;
  });
  EXPECT_THAT(events, ElementsAre(0, 1, std::nullopt));
  EXPECT_THAT(codes, ElementsAre(absl::StatusCode::kOk, absl::StatusCode::kOk, absl::StatusCode::kNotFound));
}

TEST(Recording, OurSectionsAreInflated) {
  PerfDataBuilder b;
  b.Preamble(perfdata::kKsampKernelSymbols, Zstd("ffffffff81000000 T _text\n"));
  b.Preamble(perfdata::kKsampModules, Zstd("ext4 1 0 - Live 0x0\n"));
  b.Preamble(perfdata::kKsampModuleSections, std::vector<std::byte>(30, std::byte{1}));
  ASSERT_OK_AND_ASSIGN(Recording recording, b.Open());
  EXPECT_TRUE(recording.ksamp().has_kernel_symbols);
  EXPECT_THAT(recording.KernelSymbols(), IsOkAndHolds("ffffffff81000000 T _text\n"));
  EXPECT_THAT(recording.KernelModules(), IsOkAndHolds("ext4 1 0 - Live 0x0\n"));
  EXPECT_THAT(recording.ModuleSections(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("module sections of")));
}

TEST(Recording, FilesAboutGeneratedCodeAreInflatedAndDamagedOnesLeftOut) {
  PerfDataBuilder b;
  b.Feature(perfdata::kKsampGeneratedCode,
            perfdata::EncodeCodeFiles(std::vector<perfdata::PackedCodeFile>{
                {CodeFileKind::kPerfMap, 7, "/tmp/perf-7.map", std::vector<std::byte>(30, std::byte{1})},
                {CodeFileKind::kPerfMap, 8, "/tmp/perf-1.map", Zstd("1000 10 f\n")}}));
  ASSERT_OK_AND_ASSIGN(Recording recording, b.Open());
  const std::vector<CodeFile> files = recording.CodeFiles();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].pid, 8u);
  EXPECT_EQ(files[0].path, "/tmp/perf-1.map");
  EXPECT_EQ(files[0].bytes, "1000 10 f\n");
}

TEST(Recording, WithoutOurSectionsNothingIsFound) {
  ASSERT_OK_AND_ASSIGN(Recording recording, PerfDataBuilder().Open());
  EXPECT_FALSE(recording.ksamp().has_kernel_symbols);
  EXPECT_THAT(recording.KernelSymbols(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no kernel symbols")));
  EXPECT_TRUE(recording.Feature(200).empty());
  EXPECT_FALSE(recording.Feature(perfdata::kHostname).empty());
}

TEST(Recording, OpenNamesWhatItCannotOpen) {
  EXPECT_THAT(Recording::Open("/no/such/file"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such/file")));
}

// What perf, or where perf cannot read the file a bare walk over its headers, counts in the files of
// test/data/perf/forms; their README tells how each was made.
struct RealFile {
  std::string name;
  std::map<std::string, uint64_t> samples;  // by event; events without samples are left out
  uint64_t mmaps, comms, forks, exits;
  bool killed = false, piped = false, compressed = false, directory = false;
};

void PrintTo(const RealFile& file, std::ostream* out) {
  *out << file.name;
}

class RealFiles : public ::testing::TestWithParam<RealFile> {};
INSTANTIATE_TEST_SUITE_P(
    Of, RealFiles,
    ::testing::Values(
        RealFile{"plain.data", {{"cpu-clock", 181}}, 19, 5, 3, 4},
        RealFile{.name = "zstd.data",
                 .samples = {{"cpu-clock", 179}},
                 .mmaps = 19,
                 .comms = 5,
                 .forks = 3,
                 .exits = 4,
                 .compressed = true},
        RealFile{.name = "pipe.data",
                 .samples = {{"cpu-clock", 175}},
                 .mmaps = 19,
                 .comms = 5,
                 .forks = 3,
                 .exits = 4,
                 .piped = true},
        RealFile{.name = "pipe-zstd.data",
                 .samples = {{"cpu-clock", 175}},
                 .mmaps = 19,
                 .comms = 5,
                 .forks = 3,
                 .exits = 4,
                 .piped = true,
                 .compressed = true},
        RealFile{"stacks.data", {{"cpu-clock", 93}}, 19, 5, 3, 4},
        RealFile{"dwarf.data", {{"cpu-clock", 16}}, 138, 5, 3, 4},
        RealFile{"fields.data", {{"cpu-clock", 176}}, 138, 5, 3, 4},
        RealFile{"buildid-mmap.data", {{"cpu-clock", 88}}, 19, 5, 3, 4},
        RealFile{"switch.data", {{"cpu-clock", 89}}, 19, 5, 3, 4},
        RealFile{"tracking.data", {{"cpu-clock", 25}}, 19, 5, 3, 4},
        RealFile{"three-events.data", {{"cpu-clock", 211}, {"page-faults", 1}}, 5, 2, 0, 1},
        RealFile{"group.data", {{"cpu-clock", 6}}, 5, 2, 3, 1},
        RealFile{
            "tracepoints.data", {{"sched:sched_switch", 165}, {"sched:sched_process_exit", 4}}, 19, 5, 3, 4},
        RealFile{.name = "tracepoints-pipe.data",
                 .samples = {{"sched:sched_switch", 129}},
                 .mmaps = 19,
                 .comms = 5,
                 .forks = 3,
                 .exits = 4,
                 .piped = true},
        RealFile{.name = "killed.data",
                 .samples = {{"cpu-clock", 223}},
                 .mmaps = 9,
                 .comms = 3,
                 .forks = 1,
                 .exits = 0,
                 .killed = true},
        RealFile{.name = "killed-zstd.data",
                 .samples = {{"cpu-clock", 4}},
                 .mmaps = 9,
                 .comms = 3,
                 .forks = 1,
                 .exits = 0,
                 .killed = true,
                 .compressed = true},
        RealFile{.name = "threads",
                 .samples = {{"cpu-clock", 27}},
                 .mmaps = 19,
                 .comms = 5,
                 .forks = 3,
                 .exits = 4,
                 .killed = true,
                 .directory = true},
        RealFile{"aarch64-cycles.data", {{"cycles", 1045}}, 193, 85, 84, 21},
        RealFile{"x86_64-kprobe.data", {{"probe:ext4_file_read_iter", 85}}, 173, 81, 81, 19},
        RealFile{"x86_64-softirq.data",
                 {{"irq:softirq_entry", 203}, {"irq:softirq_exit", 203}, {"irq:softirq_raise", 212}},
                 165,
                 79,
                 78,
                 15}),
    [](const auto& tested) {
      std::string name = tested.param.name;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
      return name;
    });

TEST_P(RealFiles, AreCountedAsPerfCounts) {
  const RealFile& file = GetParam();
  ASSERT_OK_AND_ASSIGN(Recording recording,
                       Recording::Open(SourceDir() + "/test/data/perf/forms/" + file.name));
  EXPECT_TRUE(recording.damage().empty()) << recording.damage().front().what;
  const RecordCounts& counts = recording.counts();
  EXPECT_EQ(counts.mmaps, file.mmaps);
  EXPECT_EQ(counts.comms, file.comms);
  EXPECT_EQ(counts.forks, file.forks);
  EXPECT_EQ(counts.exits, file.exits);
  EXPECT_EQ(counts.unknown + counts.malformed, 0u);
  EXPECT_EQ(recording.was_killed(), file.killed);
  EXPECT_EQ(recording.facts().piped, file.piped);
  EXPECT_EQ(recording.facts().compressed, file.compressed);
  EXPECT_EQ(recording.facts().directory, file.directory);
  EXPECT_EQ(recording.facts().hostname.empty(), file.killed);
}

TEST_P(RealFiles, EveryRecordDecodesAndEverySampleHasItsEvent) {
  const RealFile& file = GetParam();
  ASSERT_OK_AND_ASSIGN(Recording recording,
                       Recording::Open(SourceDir() + "/test/data/perf/forms/" + file.name));
  std::map<std::string, uint64_t> samples;
  uint64_t total = 0;
  for (const Recording::Chunk& chunk : recording.chunks()) {
    Recording::ForEachRecord(chunk, [&](const RawRecord& raw) {
      EXPECT_OK(recording.Decode(raw));
      if (raw.type != PERF_RECORD_SAMPLE) return true;
      ++total;
      const std::optional<size_t> event = recording.EventOf(raw);
      ++samples[event ? recording.events()[*event].name : "(none)"];
      return true;
    });
  }
  EXPECT_EQ(samples, file.samples);
  EXPECT_EQ(recording.counts().samples, total);
}

// Memory of this process that mirrors files, in bytes.
size_t MappedFileMemory() {
  const std::string status = ReadFile("/proc/self/status").value_or("");
  const size_t at = status.find("RssFile:");
  return at == std::string::npos ? 0 : std::stoul(status.substr(at + 8)) * 1024;
}

TEST(Recording, ALargeFileNeedsLittleMemory) {
  constexpr size_t kSlack = size_t{8} << 20, kRecords = 1024, kRecordSize = 65528;
  const testing::TempTree tree;
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7});
  std::vector<std::byte> record(kRecordSize);
  const perf_event_header header{PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, kRecordSize};
  std::memcpy(record.data(), &header, sizeof(header));
  for (size_t i = 0; i < kRecords; ++i) b.AddBytes(record);
  const std::string path = b.WriteTo(tree.Path("large.data"));

  const size_t before = MappedFileMemory();
  ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(path));
  EXPECT_EQ(recording.counts().samples, kRecords);
  EXPECT_LT(MappedFileMemory(), before + kSlack);
  size_t zeros = 0;
  for (const Recording::Chunk& chunk : recording.chunks()) {
    zeros += static_cast<size_t>(std::count(chunk.bytes.begin(), chunk.bytes.end(), std::byte{0}));
    recording.ReleaseChunk(chunk);
  }
  EXPECT_GT(zeros, kRecords * (kRecordSize - sizeof(header)));
  EXPECT_LT(MappedFileMemory(), before + kSlack);
}

}  // namespace
}  // namespace ksamp
