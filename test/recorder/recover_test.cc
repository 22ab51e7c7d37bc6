// SPDX-License-Identifier: Apache-2.0
#include "ksamp/recover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/base/byte_reader.h"
#include "lib/perfdata/format.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::PerfDataBuilder;
using ::ksamp::testing::SampleAttr;
using ::ksamp::testing::StatusIs;
using ::ksamp::testing::TempTree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PerfDataBuilder ThreeSamples() {
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7, 8}).Comm(10, 10, "a");
  for (uint64_t time : {300, 100, 200}) b.Sample({.pid = 10, .tid = 10, .time = time, .ip = time});
  return b;
}

std::vector<uint64_t> SampleIps(const Recording& recording) {
  std::vector<uint64_t> ips;
  for (const Recording::Chunk& chunk : recording.chunks())
    Recording::ForEachRecord(chunk, [&](const RawRecord& raw) {
      if (raw.type == PERF_RECORD_SAMPLE)
        ips.push_back(*std::get<SampleRecord>(recording.Decode(raw)->body).ip);
      return true;
    });
  return ips;
}

struct RecoverTest : ::testing::Test {
  absl::StatusOr<Recovery> Recover(const PerfDataBuilder& builder, const RecoverOptions& options = {}) {
    input = builder.WriteTo(tree.Path("in.data"));
    const absl::StatusOr<Recording> recording = Recording::Open(input);
    if (!recording.ok()) return recording.status();
    return RecoverRecording(*recording, output, options);
  }
  TempTree tree;
  std::string input, output = tree.Path("out.data");
};

TEST_F(RecoverTest, AKilledRecordingComesOutFinished) {
  ASSERT_OK_AND_ASSIGN(const Recovery recovery, Recover(ThreeSamples().Killed()));
  EXPECT_EQ(recovery.records, 4u);
  EXPECT_EQ(recovery.samples, 3u);
  EXPECT_EQ(recovery.bytes_dropped, 0u);
  ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(output));
  EXPECT_FALSE(recording.was_killed());
  EXPECT_THAT(recording.damage(), IsEmpty());
  EXPECT_THAT(SampleIps(recording), ElementsAre(300, 100, 200));
  EXPECT_EQ(recording.events()[0].name, "cpu-clock");
  EXPECT_THAT(recording.events()[0].ids, ElementsAre(7, 8));
  EXPECT_EQ(recording.facts().first_sample_time, 100u);
  EXPECT_EQ(recording.facts().last_sample_time, 300u);
}

TEST_F(RecoverTest, WhatWasCutIsCounted) {
  PerfDataBuilder b = ThreeSamples().Killed();
  ASSERT_OK_AND_ASSIGN(const Recovery recovery, Recover(b.Truncated(b.Bytes().size() - 9)));
  EXPECT_EQ(recovery.samples, 2u);
  EXPECT_EQ(recovery.bytes_dropped, 56u - 9u);
  ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(output));
  EXPECT_THAT(recording.damage(), IsEmpty());
  EXPECT_THAT(SampleIps(recording), ElementsAre(300, 100));
}

TEST_F(RecoverTest, CompressedPipedAndForeignInputComesOutPlain) {
  const PerfDataBuilder forms[] = {ThreeSamples().Compressed(), ThreeSamples().Piped(),
                                   ThreeSamples().ForeignByteOrder()};
  for (const PerfDataBuilder& form : forms) {
    ASSERT_OK(Recover(form));
    ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(output));
    EXPECT_THAT(SampleIps(recording), ElementsAre(300, 100, 200));
    EXPECT_FALSE(recording.facts().compressed || recording.facts().piped ||
                 recording.facts().foreign_byte_order);
  }
}

TEST_F(RecoverTest, WhatTheFileKnewStays) {
  PerfDataBuilder b = ThreeSamples();
  const std::string payload = "not looked into";
  const auto bytes = AsBytes(payload);
  b.Preamble(perfdata::kKsampModules, {bytes.begin(), bytes.end()});
  ASSERT_OK(Recover(b));
  ASSERT_OK_AND_ASSIGN(const Recording before, Recording::Open(input));
  ASSERT_OK_AND_ASSIGN(const Recording after, Recording::Open(output));
  EXPECT_EQ(after.facts().hostname, before.facts().hostname);
  EXPECT_FALSE(after.facts().hostname.empty());
  EXPECT_EQ(AsText(after.Feature(perfdata::kKsampModules)), payload);
}

TEST_F(RecoverTest, TracepointsGetTheFormatsOfThisKernelAndThatIsSaid) {
  perf_event_attr attr = SampleAttr();
  attr.type = PERF_TYPE_TRACEPOINT;
  attr.config = 314;
  PerfDataBuilder b;
  b.AddEvent("x", {7}, attr).Sample({.pid = 1, .tid = 1, .time = 1, .ip = 1}).Killed();
  ASSERT_OK_AND_ASSIGN(const Recovery without, Recover(b, {.sys_root = tree.root()}));
  EXPECT_THAT(without.notes, ElementsAre(HasSubstr("tracing/events/header_page")));

  tree.Write("kernel/tracing/events/header_page", "p");
  tree.Write("kernel/tracing/events/header_event", "e");
  tree.Write("kernel/tracing/events/sched/sched_switch/id", "314\n");
  tree.Write("kernel/tracing/events/sched/sched_switch/format", "f");
  ASSERT_OK_AND_ASSIGN(const Recovery with, Recover(b, {.sys_root = tree.root()}));
  EXPECT_THAT(with.notes, ElementsAre(HasSubstr("kernel that runs here now")));
  ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(output));
  EXPECT_EQ(recording.events()[0].name, "sched:sched_switch");
  EXPECT_FALSE(recording.Feature(perfdata::kTracingData).empty());
}

TEST_F(RecoverTest, NeverOverItself) {
  output = tree.Path("in.data");
  EXPECT_THAT(Recover(ThreeSamples()), StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("same file")));
}

}  // namespace
}  // namespace ksamp
