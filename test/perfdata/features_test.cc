// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/status_matchers.h"

namespace ksamp::perfdata {
namespace {

using ::ksamp::testing::IsOkAndHolds;
using ::ksamp::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(Features, StringsArePaddedAsPerfPadsThem) {
  EXPECT_EQ(EncodeString("vm").size(), 4u + 64u);
  EXPECT_EQ(EncodeString(std::string(64, 'x')).size(), 4u + 128u);
  EXPECT_THAT(DecodeString(EncodeString("vm"), false), IsOkAndHolds("vm"));
}

TEST(Features, StringLongerThanItsPayloadIsDamage) {
  Payload payload = EncodeString("vm");
  payload.resize(20);
  EXPECT_THAT(DecodeString(payload, false), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("ends early")));
}

TEST(Features, NumbersComeInEitherByteOrder) {
  const Payload host = EncodeCpuCounts({4, 2});
  Payload foreign(host.rbegin(), host.rend());  // two u32: the reverse is the swap with the fields exchanged
  ASSERT_OK_AND_ASSIGN(CpuCounts counts, DecodeCpuCounts(host, false));
  EXPECT_EQ(counts.available, 4u);
  EXPECT_EQ(counts.online, 2u);
  ASSERT_OK_AND_ASSIGN(CpuCounts swapped, DecodeCpuCounts(foreign, true));
  EXPECT_EQ(swapped.available, 2u);
  EXPECT_EQ(swapped.online, 4u);
  EXPECT_THAT(DecodeTotalMemory(EncodeTotalMemory(24683656), false), IsOkAndHolds(24683656u));
}

TEST(Features, CommandLine) {
  EXPECT_THAT(DecodeCommandLine(EncodeCommandLine({"ksamp", "record", ""}), false),
              IsOkAndHolds(ElementsAre("ksamp", "record", "")));
}

TEST(Features, AHugeCountOfWordsEndsWithThePayload) {
  const Payload payload(8, std::byte{0xff});
  EXPECT_THAT(DecodeCommandLine(payload, false), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("CMDLINE")));
}

TEST(Features, EventDesc) {
  const std::vector<EventDesc> in = {{Payload(64, std::byte{1}), "cycles", {5, 6}},
                                     {Payload(64, std::byte{2}), "sched:sched_switch", {}}};
  ASSERT_OK_AND_ASSIGN(std::vector<EventDesc> out, DecodeEventDesc(EncodeEventDesc(in), false));
  ASSERT_EQ(out.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(out[i].attr, in[i].attr);
    EXPECT_EQ(out[i].name, in[i].name);
    EXPECT_EQ(out[i].ids, in[i].ids);
  }
}

TEST(Features, BuildIds) {
  const std::vector<BuildIdEntry> in = {
      {CpuMode::kKernel, -1, std::vector<uint8_t>(20, 0xab), "[kernel.kallsyms]"},
      {CpuMode::kUser, 7, std::vector<uint8_t>(16, 0xcd), "/usr/bin/" + std::string(100, 'x')}};
  const Payload payload = EncodeBuildIds(in);
  const std::vector<BuildIdEntry> out = DecodeBuildIds(payload, false);
  ASSERT_EQ(out.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(out[i].mode, in[i].mode);
    EXPECT_EQ(out[i].pid, in[i].pid);
    EXPECT_EQ(out[i].build_id, in[i].build_id);
    EXPECT_EQ(out[i].path, in[i].path);
  }
  for (size_t size = 0; size < payload.size(); ++size)
    EXPECT_LE(DecodeBuildIds(PayloadView(payload).first(size), false).size(), 1u);
}

TEST(Features, TimesAndClocks) {
  ASSERT_OK_AND_ASSIGN(SampleTimes times, DecodeSampleTimes(EncodeSampleTimes({1, 2}), false));
  EXPECT_EQ(times.first, 1u);
  EXPECT_EQ(times.last, 2u);
  ASSERT_OK_AND_ASSIGN(ClockData clock, DecodeClockData(EncodeClockData({1, 2, 3}), false));
  EXPECT_EQ(clock.clockid, 1u);
  EXPECT_EQ(clock.wall_ns, 2u);
  EXPECT_EQ(clock.clock_ns, 3u);
  EXPECT_EQ(EncodeClockId(1).size(), 8u);
}

TEST(Features, Compression) {
  ASSERT_OK_AND_ASSIGN(CompressionFacts facts, DecodeCompression(EncodeCompression({3, 9, 4096}), false));
  EXPECT_EQ(facts.level, 3u);
  EXPECT_EQ(facts.ratio, 9u);
  EXPECT_EQ(facts.largest_piece, 4096u);
}

TEST(Features, MetaKeepsAnyText) {
  const std::map<std::string, std::string> meta = {{"event.note", "two\nlines and a \\n"}, {"empty", ""}};
  EXPECT_EQ(DecodeMeta(EncodeMeta(meta)), meta);
}

TEST(Features, CodeFiles) {
  const std::vector<PackedCodeFile> in = {
      {CodeFileKind::kPerfMap, 7, "/tmp/perf-7.map", Payload(13, std::byte{1})},
      {CodeFileKind::kJitDump, 8, "/root/jit-8.dump", Payload(16, std::byte{2})}};
  Payload payload = EncodeCodeFiles(in);
  std::vector<PackedCodeFile> out = DecodeCodeFiles(payload, false);
  ASSERT_EQ(out.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(out[i].kind, in[i].kind);
    EXPECT_EQ(out[i].pid, in[i].pid);
    EXPECT_EQ(out[i].path, in[i].path);
    EXPECT_EQ(out[i].frame, in[i].frame);
  }
  for (size_t size = 0; size < payload.size(); ++size)
    EXPECT_LE(DecodeCodeFiles(PayloadView(payload).first(size), false).size(), 1u);
  payload[0] = std::byte{9};  // a kind of later versions
  out = DecodeCodeFiles(payload, false);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].pid, 8u);
}

TEST(Features, CountersLeaveOutWhatIsNoNumber) {
  EXPECT_THAT(DecodeCounters(EncodeCounters({{"lost.kernel", 3}})), ElementsAre(Pair("lost.kernel", 3u)));
  const Payload text = EncodeMeta({{"a", "12x"}, {"b", ""}, {"c", "7"}});
  EXPECT_THAT(DecodeCounters(text), ElementsAre(Pair("c", 7u)));
  EXPECT_THAT(DecodeCounters({}), IsEmpty());
}

}  // namespace
}  // namespace ksamp::perfdata
