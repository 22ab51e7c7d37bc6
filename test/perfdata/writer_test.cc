// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "ksamp/perf_data.h"
#include "lib/base/byte_reader.h"
#include "lib/base/compression.h"
#include "lib/base/file_io.h"
#include "lib/event/record_encoder.h"
#include "lib/perfdata/features.h"
#include "lib/perfdata/format.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::SampleAttr;
using ::ksamp::testing::StatusIs;
using ::ksamp::testing::TempTree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WriterTest : public ::testing::Test {
 protected:
  WriterTest() : path_(tree_.Path("w.data")) {
    options_.name = path_;
    options_.events = {{SampleAttr(), "cpu-clock", {7, 8}}, {SampleAttr(), "page-faults", {9}}};
  }
  absl::StatusOr<PerfDataWriter> Create() {
    absl::StatusOr<UniqueFd> fd = CreateOutputFile(path_);
    if (!fd.ok()) return fd.status();
    return PerfDataWriter::Create(*std::move(fd), options_);
  }
  // A sample with `stack` as its chain, so that sizes vary.
  std::vector<std::byte> Sample(uint64_t id, uint64_t ip) const {
    ByteWriter out;
    SampleRecord record;
    record.identifier = id;
    record.ip = ip;
    record.pid = record.tid = 1;
    record.time = ip;
    EXPECT_OK(EncodeRecord({{}, record}, Layout(), out));
    return std::move(out).Take();
  }
  static SampleLayout Layout() {
    const perf_event_attr attr = SampleAttr();
    return *SampleLayout::FromAttr(std::as_bytes(std::span(&attr, 1)));
  }
  static std::vector<uint64_t> Ips(const Recording& recording) {
    std::vector<uint64_t> ips;
    for (const Recording::Chunk& chunk : recording.chunks())
      Recording::ForEachRecord(chunk, [&](const RawRecord& raw) {
        if (raw.type != PERF_RECORD_SAMPLE) return true;
        ips.push_back(*std::get<SampleRecord>(recording.Decode(raw)->body).ip);
        return true;
      });
    return ips;
  }

  TempTree tree_;
  std::string path_;
  WriterOptions options_;
};

TEST_F(WriterTest, WhatIsWrittenIsRead) {
  const std::vector<std::byte> meta = perfdata::EncodeMeta({{"event.wish", "cycles"}});
  options_.preamble = {{perfdata::kKsampMeta, meta},
                       {perfdata::kKsampModules, *CompressZstd(AsBytes("m"), 1)}};
  ASSERT_OK_AND_ASSIGN(PerfDataWriter writer, Create());
  ASSERT_OK(writer.Append(Sample(7, 100)));
  ASSERT_OK(writer.Append(Sample(9, 200)));
  ASSERT_OK(writer.Close({{perfdata::kHostname, perfdata::EncodeString("box7")},
                          {perfdata::kKsampCounters, perfdata::EncodeCounters({{"lost.kernel", 1}})}}));
  ASSERT_OK_AND_ASSIGN(Recording recording, Recording::Open(path_));
  EXPECT_THAT(Ips(recording), ElementsAre(100, 200));
  EXPECT_EQ(recording.events()[0].name, "cpu-clock");
  EXPECT_THAT(recording.events()[0].ids, ElementsAre(7, 8));
  EXPECT_EQ(recording.events()[1].name, "page-faults");
  EXPECT_EQ(recording.facts().hostname, "box7");
  EXPECT_EQ(recording.ksamp().meta.at("event.wish"), "cycles");
  EXPECT_EQ(recording.ksamp().counters.at("lost.kernel"), 1u);
  EXPECT_EQ(recording.KernelModules().value(), "m");
  EXPECT_FALSE(recording.was_killed());
  EXPECT_THAT(recording.damage(), IsEmpty());
  EXPECT_EQ(recording.file_size(), writer.file_bytes());
}

TEST_F(WriterTest, TheFileIsReadableAtEveryMoment) {
  options_.preamble = {{perfdata::kKsampMeta, perfdata::EncodeMeta({{"a", "b"}})},
                       {perfdata::kHostname, perfdata::EncodeString("box7")}};
  ASSERT_OK_AND_ASSIGN(PerfDataWriter writer, Create());
  ASSERT_OK_AND_ASSIGN(Recording fresh, Recording::Open(path_));
  EXPECT_TRUE(fresh.was_killed());
  EXPECT_EQ(fresh.ksamp().meta.at("a"), "b");
  EXPECT_EQ(fresh.facts().hostname, "box7");
  EXPECT_EQ(fresh.events()[1].name, "page-faults");
  for (uint64_t i = 1; i <= 3; ++i) {
    ASSERT_OK(writer.Append(Sample(7, i)));
    ASSERT_OK(writer.Commit());
    ASSERT_OK_AND_ASSIGN(Recording recording, Recording::Open(path_));
    EXPECT_EQ(Ips(recording).size(), i);
    EXPECT_TRUE(recording.was_killed());
    EXPECT_THAT(recording.damage(), IsEmpty());
  }
}

TEST_F(WriterTest, LargePiecesAndPartsOfRecords) {
  ASSERT_OK_AND_ASSIGN(PerfDataWriter writer, Create());
  std::vector<std::byte> large;
  std::vector<uint64_t> expected;
  for (uint64_t i = 0; large.size() < (3u << 20); ++i) {
    const std::vector<std::byte> sample = Sample(7, i);
    large.insert(large.end(), sample.begin(), sample.end());
    expected.push_back(i);
  }
  ASSERT_OK(writer.Append(std::span(large).first(13)));
  ASSERT_OK(writer.Append(std::span(large).subspan(13)));
  EXPECT_EQ(writer.data_bytes(), large.size());
  ASSERT_OK(writer.Close({}));
  ASSERT_OK_AND_ASSIGN(Recording recording, Recording::Open(path_));
  EXPECT_EQ(Ips(recording), expected);
}

TEST_F(WriterTest, CompressedFilesReadTheSameWhateverTheDataIs) {
  options_.zstd_level = 1;
  std::mt19937_64 random(1);
  for (bool noise : {false, true}) {
    ASSERT_OK_AND_ASSIGN(PerfDataWriter writer, Create());
    std::vector<uint64_t> expected;
    for (uint64_t i = 0; i < 20'000; ++i) {
      expected.push_back(noise ? random() : i);
      const std::vector<std::byte> sample = Sample(7, expected.back());
      ASSERT_OK(writer.Append(std::span(sample).first(20)));
      ASSERT_OK(writer.Append(std::span(sample).subspan(20)));
      if (i % 7000 == 0) {
        ASSERT_OK(writer.Commit());
      }
    }
    ASSERT_OK(writer.Close({}));
    ASSERT_OK_AND_ASSIGN(Recording recording, Recording::Open(path_));
    EXPECT_EQ(Ips(recording), expected);
    EXPECT_TRUE(recording.facts().compressed);
    EXPECT_THAT(recording.damage(), IsEmpty());
    EXPECT_LT(recording.file_size(), writer.data_bytes());
  }
}

TEST_F(WriterTest, ARecordThatDoesNotShrinkGoesOutAsItIs) {
  options_.zstd_level = 1;
  ASSERT_OK_AND_ASSIGN(PerfDataWriter writer, Create());
  std::mt19937_64 random(1);
  std::vector<std::byte> noise(65528);
  for (size_t i = 0; i < noise.size(); i += 8) {
    const uint64_t word = random();
    std::memcpy(noise.data() + i, &word, 8);
  }
  const perf_event_header header{90, 0, 65528};
  std::memcpy(noise.data(), &header, sizeof(header));
  for (int i = 0; i < 5; ++i) ASSERT_OK(writer.Append(noise));
  ASSERT_OK(writer.Append(Sample(7, 1)));
  ASSERT_OK(writer.Close({}));
  ASSERT_OK_AND_ASSIGN(Recording recording, Recording::Open(path_));
  EXPECT_THAT(recording.damage(), IsEmpty());
  EXPECT_EQ(recording.counts().unknown_by_type.at(90), 5u);
  EXPECT_EQ(recording.counts().samples, 1u);
}

TEST_F(WriterTest, APipeCarriesAttrsFeaturesAndRecords) {
  for (int level : {0, 1}) {
    options_.pipe = true;
    options_.zstd_level = level;
    const std::span<const std::byte> formats = AsBytes("formats of tracepoints");
    options_.preamble = {{perfdata::kKsampMeta, perfdata::EncodeMeta({{"a", "b"}})},
                         {perfdata::kTracingData, {formats.begin(), formats.end()}},
                         {perfdata::kOsRelease, perfdata::EncodeString("6.1.0")}};
    ASSERT_OK_AND_ASSIGN(PerfDataWriter writer, Create());
    ASSERT_OK(writer.Append(Sample(9, 5)));
    std::vector<BuildIdEntry> images(2);
    images[0].path = "/bin/a";
    images[1].path = "/bin/bcdefg";
    for (BuildIdEntry& image : images) image.build_id.assign(20, 0xab);
    std::vector<std::byte> build_ids = perfdata::EncodeBuildIds(images);
    std::memset(build_ids.data(), 0, sizeof(uint32_t));  // perf's entries have no type in files
    ASSERT_OK(writer.Close({{perfdata::kHostname, perfdata::EncodeString("box7")},
                            {perfdata::kBuildId, build_ids},
                            {perfdata::kKsampCounters, perfdata::EncodeCounters({{"x", 1}})}}));
    ASSERT_OK_AND_ASSIGN(Recording recording, Recording::Open(path_));
    EXPECT_TRUE(recording.facts().piped);
    ASSERT_EQ(recording.facts().build_ids.size(), 2u);
    EXPECT_EQ(recording.facts().build_ids[0].path, "/bin/a");
    EXPECT_EQ(recording.facts().build_ids[1].path, "/bin/bcdefg");
    EXPECT_EQ(recording.facts().build_ids[1].build_id.size(), 20u);
    EXPECT_EQ(recording.facts().compressed, level > 0);
    EXPECT_EQ(recording.facts().hostname, "box7");
    EXPECT_EQ(recording.facts().os_release, "6.1.0");
    EXPECT_THAT(std::string(AsText(recording.Feature(perfdata::kTracingData))),
                ::testing::StartsWith("formats of tracepoints"));
    EXPECT_EQ(recording.events()[1].name, "page-faults");
    EXPECT_THAT(Ips(recording), ElementsAre(5));
    EXPECT_THAT(recording.ksamp().meta, IsEmpty());
    EXPECT_THAT(recording.damage(), IsEmpty());
  }
}

TEST_F(WriterTest, AFullDiskIsNamedAndStays) {
  options_.name = "/dev/full";
  options_.pipe = true;
  absl::StatusOr<PerfDataWriter> writer =
      PerfDataWriter::Create(UniqueFd(open("/dev/full", O_WRONLY | O_CLOEXEC)), options_);
  EXPECT_THAT(writer.status(), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("write /dev/full")));
  options_.pipe = false;
  ASSERT_OK_AND_ASSIGN(PerfDataWriter closed, Create());
  ASSERT_OK(closed.Close({}));
  EXPECT_THAT(closed.Append(Sample(7, 1)),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("closed")));
}

TEST_F(WriterTest, NoEventsNoFile) {
  options_.events.clear();
  EXPECT_THAT(Create(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no events")));
}

}  // namespace
}  // namespace ksamp
