// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "ksamp/perf_data.h"
#include "lib/base/byte_reader.h"
#include "lib/base/compression.h"
#include "lib/perfdata/format.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::IsOkAndHolds;
using ::ksamp::testing::PerfDataBuilder;
using ::ksamp::testing::SampleAttr;
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

}  // namespace
}  // namespace ksamp
