// SPDX-License-Identifier: Apache-2.0
// Every form of a recording reads as the plain one.
#include "lib/perfdata/recording_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "lib/base/byte_reader.h"
#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "lib/perfdata/features.h"
#include "lib/perfdata/format.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::PerfDataBuilder;
using ::ksamp::testing::SampleAttr;
using ::ksamp::testing::TempTree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A process, a child, samples of two events with and without call chains, a loss.
PerfDataBuilder Story() {
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7, 8}, SampleAttr(PERF_SAMPLE_CALLCHAIN));
  b.AddEvent("page-faults", {9}, SampleAttr(PERF_SAMPLE_CALLCHAIN));
  b.Mmap({.pid = ~0u,
          .addr = 0xffffffff81000000,
          .length = 0x1000000,
          .path = "[kernel.kallsyms]_text",
          .mode = CpuMode::kKernel,
          .old_form = true});
  b.Comm(42, 42, "server");
  b.Mmap({.pid = 42,
          .addr = 0x400000,
          .length = 0x1000,
          .path = "/bin/server",
          .time = 2,
          .build_id = std::vector<uint8_t>(20, 0xab)});
  b.Fork(43, 42, 43, 42, 10);
  for (uint64_t i = 0; i < 50; ++i)
    b.Sample({.pid = 42,
              .tid = 42,
              .time = 20 + i,
              .ip = 0x400100 + i,
              .callchain = {~uint64_t{511}, 0x400100 + i, 7},
              .event = i % 2});
  b.Lost(7, 3, 80).LostSamples(2, 81).Throttle(82, 7).FinishedRound();
  b.Exit(43, 42, 43, 42, 90);
  return b;
}

std::string Line(const Recording& recording, const RawRecord& raw) {
  absl::StatusOr<Record> record = recording.Decode(raw);
  if (!record.ok()) return record.status().ToString();
  std::string line = StrCat(raw.type, " event ", recording.EventOf(raw).value_or(99), ": ");
  if (auto* sample = std::get_if<SampleRecord>(&record->body)) {
    StrAppend(&line, *sample->pid, ' ', *sample->tid, ' ', *sample->time, ' ', Hex(*sample->ip), ' ',
              *sample->cpu, ' ', *sample->period);
    for (uint64_t ip : sample->callchain) StrAppend(&line, ' ', Hex(ip));
    return line;
  }
  StrAppend(&line, record->id.time.value_or(0), ' ');
  if (auto* m = std::get_if<MmapRecord>(&record->body))
    StrAppend(&line, m->pid, ' ', Hex(m->addr), ' ', m->length, ' ', m->path, ' ', m->build_id.bytes.size());
  if (auto* c = std::get_if<CommRecord>(&record->body)) StrAppend(&line, c->pid, ' ', c->comm);
  if (auto* f = std::get_if<ForkRecord>(&record->body)) StrAppend(&line, f->pid, ' ', f->ppid, ' ', f->time);
  if (auto* e = std::get_if<ExitRecord>(&record->body)) StrAppend(&line, e->pid, ' ', e->time);
  if (auto* l = std::get_if<LostRecord>(&record->body)) StrAppend(&line, l->id, ' ', l->lost);
  if (auto* t = std::get_if<ThrottleRecord>(&record->body)) StrAppend(&line, t->id, ' ', t->time);
  return line;
}

// The records, without those that only describe a stream.
std::vector<std::string> Lines(const Recording& recording) {
  std::vector<std::string> lines;
  for (const Recording::Chunk& chunk : recording.chunks())
    Recording::ForEachRecord(chunk, [&](const RawRecord& raw) {
      if (!perfdata::StreamDescription::Describes(raw.type)) lines.push_back(Line(recording, raw));
      return true;
    });
  return lines;
}

std::vector<std::string> StoryLines() {
  absl::StatusOr<Recording> recording = Story().Open();
  EXPECT_OK(recording);
  return recording.ok() ? Lines(*recording) : std::vector<std::string>();
}

TEST(RecordingForms, Plain) {
  ASSERT_OK_AND_ASSIGN(Recording recording, Story().Open());
  const std::vector<std::string> lines = Lines(recording);
  ASSERT_EQ(lines.size(), 59u);
  EXPECT_EQ(lines[0], "1 event 0: 0 4294967295 0xffffffff81000000 16777216 [kernel.kallsyms]_text 0");
  EXPECT_EQ(lines[2], "10 event 0: 2 42 0x400000 4096 /bin/server 20");
  EXPECT_EQ(lines[5], "9 event 1: 42 42 21 0x400101 0 1000000 0xfffffffffffffe00 0x400101 0x7");
  EXPECT_EQ(recording.counts().samples, 50u);
  EXPECT_EQ(recording.counts().lost, 3u);
  EXPECT_EQ(recording.facts().hostname, "testhost");
  EXPECT_EQ(recording.events()[1].name, "page-faults");
  EXPECT_THAT(recording.damage(), IsEmpty());
  EXPECT_FALSE(recording.was_killed());
}

TEST(RecordingForms, AllReadTheSame) {
  const std::vector<std::string> expected = StoryLines();
  struct Case {
    std::string name;
    PerfDataBuilder builder;
  };
  const std::vector<Case> cases = {
      {"killed", Story().Killed()},
      {"old header", Story().OldHeader()},
      {"small attrs", Story().AttrSize(64)},
      {"large attrs", Story().AttrSize(136)},
      {"piped", Story().Piped()},
      {"compressed", Story().Compressed(100)},
      {"compressed, killed", Story().Compressed(100).Killed()},
      {"compressed, frame by frame", Story().Compressed(1000, true)},
      {"compressed2", Story().Compressed(333, false, 83)},
      {"piped and compressed", Story().Piped().Compressed(4096)},
      {"foreign", Story().ForeignByteOrder()},
      {"foreign, small attrs", Story().ForeignByteOrder().AttrSize(64)},
      {"foreign and piped", Story().ForeignByteOrder().Piped()},
      {"foreign and compressed", Story().ForeignByteOrder().Compressed(777)},
      {"foreign, piped, compressed2", Story().ForeignByteOrder().Piped().Compressed(777, false, 83)},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ASSERT_OK_AND_ASSIGN(Recording recording, c.builder.Open());
    EXPECT_EQ(Lines(recording), expected);
    EXPECT_EQ(recording.counts().samples, 50u);
    EXPECT_THAT(recording.damage(), IsEmpty());
  }
}

TEST(RecordingForms, FactsSayWhichForm) {
  ASSERT_OK_AND_ASSIGN(Recording piped, Story().Piped().Open());
  EXPECT_TRUE(piped.facts().piped);
  EXPECT_EQ(piped.facts().hostname, "testhost");
  EXPECT_EQ(piped.events()[1].name, "page-faults");
  ASSERT_OK_AND_ASSIGN(Recording foreign, Story().ForeignByteOrder().Open());
  EXPECT_TRUE(foreign.facts().foreign_byte_order);
  EXPECT_EQ(foreign.facts().hostname, "testhost");
  EXPECT_EQ(foreign.events()[1].name, "page-faults");
  EXPECT_EQ(foreign.events()[1].period_or_frequency, 1'000'000u);
  ASSERT_OK_AND_ASSIGN(Recording packed, Story().Compressed().Killed().Open());
  EXPECT_TRUE(packed.facts().compressed);
  EXPECT_TRUE(packed.was_killed());
}

TEST(RecordingForms, ARealPipeIsReadToItsEnd) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::vector<std::byte> bytes = Story().Piped().Bytes();
  std::jthread writer([&] {
    UniqueFd end(ends[1]);
    EXPECT_OK(WriteAll(end.get(), bytes, "pipe"));
  });
  ASSERT_OK_AND_ASSIGN(Recording recording, Recording::FromDescriptor(ends[0], "pipe"));
  EXPECT_EQ(Lines(recording), StoryLines());
}

TEST(RecordingForms, ADirectoryJoinsItsFiles) {
  TempTree tree;
  tree.MakeDirectory("perf.data");
  Story().WriteTo(tree.Path("perf.data/data"));
  ASSERT_OK_AND_ASSIGN(Recording main, Story().Open());
  const std::string stream(AsText(main.chunks()[0].bytes));
  tree.Write("perf.data/data.0", stream);
  tree.Write("perf.data/data.1", stream);
  ASSERT_OK_AND_ASSIGN(Recording recording, Recording::Open(tree.Path("perf.data")));
  EXPECT_TRUE(recording.facts().directory);
  EXPECT_EQ(recording.counts().samples, 150u);
  ASSERT_EQ(recording.chunks().size(), 3u);
  EXPECT_LT(recording.chunks()[0].offset, recording.chunks()[1].offset);
  EXPECT_LT(recording.chunks()[1].offset, recording.chunks()[2].offset);
}

TEST(RecordingDamage, TruncationAnywhereNeverHidesTheRest) {
  for (PerfDataBuilder whole : {Story(), Story().Piped(), Story().Compressed(500), Story().ForeignByteOrder(),
                                Story().Killed(), Story().Preamble(perfdata::kKsampMeta, {})}) {
    const size_t size = whole.Bytes().size();
    uint64_t samples = 0;
    for (size_t cut = 0; cut < size; ++cut) {
      PerfDataBuilder builder = whole;
      absl::StatusOr<Recording> recording = builder.Truncated(cut).Open();
      if (!recording.ok()) {
        EXPECT_THAT(MessageOf(recording.status()), Not(IsEmpty()));
        EXPECT_EQ(samples, 0u) << "cut at " << cut << ": " << recording.status();
        continue;
      }
      EXPECT_GE(recording->counts().samples, samples) << "cut at " << cut;
      samples = recording->counts().samples;
      for (const std::string& line : Lines(*recording)) EXPECT_THAT(line, HasSubstr(" event ")) << cut;
    }
    EXPECT_EQ(samples, 50u);
  }
}

TEST(RecordingDamage, ACutFileSaysSo) {
  ASSERT_OK_AND_ASSIGN(Recording whole, Story().Open());
  const uint64_t data_end = whole.chunks()[0].offset + whole.chunks()[0].bytes.size();
  ASSERT_OK_AND_ASSIGN(Recording cut, Story().Truncated(data_end - 100).Open());
  ASSERT_GE(cut.damage().size(), 2u);
  EXPECT_EQ(cut.damage()[0].what, "the file is cut: 100 bytes of records are missing");
  EXPECT_FALSE(cut.was_killed());
}

TEST(RecordingFacts, FeaturesOfPerfAndOurs) {
  PerfDataBuilder b;
  b.Feature(perfdata::kNrCpus, perfdata::EncodeCpuCounts({8, 4}));
  b.Feature(perfdata::kCmdline, perfdata::EncodeCommandLine({"ksamp", "record"}));
  b.Feature(perfdata::kSampleTime, perfdata::EncodeSampleTimes({10, 20}));
  b.Feature(perfdata::kKsampCounters, perfdata::EncodeCounters({{"lost.kernel", 4}}));
  b.Feature(perfdata::kKsampMeta, perfdata::EncodeMeta({{"event.wish", "cycles"}}));
  b.Feature(250, std::vector<std::byte>(5));
  ASSERT_OK_AND_ASSIGN(Recording recording, b.Open());
  EXPECT_EQ(recording.facts().cpus_available, 8u);
  EXPECT_EQ(recording.facts().cpus_online, 4u);
  EXPECT_THAT(recording.facts().command_line, ElementsAre("ksamp", "record"));
  EXPECT_EQ(recording.facts().last_sample_time, 20u);
  EXPECT_EQ(recording.ksamp().counters.at("lost.kernel"), 4u);
  EXPECT_EQ(recording.ksamp().meta.at("event.wish"), "cycles");
  EXPECT_EQ(recording.Feature(250).size(), 5u);
}

TEST(RecordingFacts, ADamagedFeatureIsToldAndTheRestRead) {
  PerfDataBuilder b;
  b.Feature(perfdata::kCmdline, std::vector<std::byte>(6, std::byte{0x7f}));
  ASSERT_OK_AND_ASSIGN(Recording recording, b.Open());
  ASSERT_EQ(recording.damage().size(), 1u);
  EXPECT_THAT(recording.damage()[0].what, HasSubstr("feature 11"));
  EXPECT_EQ(recording.facts().hostname, "testhost");
}

}  // namespace
}  // namespace ksamp
