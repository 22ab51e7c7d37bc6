// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/recording_sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lib/base/byte_reader.h"
#include "lib/perfdata/format.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::PerfDataBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<std::byte> BytesOf(std::string_view text) {
  const auto bytes = AsBytes(text);
  return {bytes.begin(), bytes.end()};
}

TEST(RecordingSweepTest, CountsLossesByKindAndCpu) {
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7});
  b.Lost(7, 5).Lost(7, 6).LostSamples(3).Throttle(1, 7).Throttle(2, 7, false);
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  const SideRecordSweep sweep = SweepSideRecords(recording, false, {0});
  EXPECT_EQ(sweep.losses.lost_records, 11u);
  EXPECT_EQ(sweep.losses.lost_samples, 3u);
  EXPECT_EQ(sweep.losses.throttles, 1u);
  EXPECT_THAT(sweep.losses.by_cpu, ElementsAre(Pair("0", 14)));
}

TEST(RecordingSweepTest, OurRecordersCountersIncludeWhatNeverReachedTheFile) {
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}).Lost(7, 5);
  b.Feature(perfdata::kKsampCounters,
            BytesOf("lost.kernel=9\nlost.kernel.cpu3=9\nlost.samples=2\nthrottled=4\n"));
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  const SideRecordSweep sweep = SweepSideRecords(recording, false, {0});
  EXPECT_EQ(sweep.losses.lost_records, 9u);
  EXPECT_EQ(sweep.losses.lost_samples, 2u);
  EXPECT_EQ(sweep.losses.throttles, 4u);
  EXPECT_THAT(sweep.losses.by_cpu, ElementsAre(Pair("0", 5), Pair("3", 9)));
}

TEST(RecordingSweepTest, UndecodableSideRecordsAreTold) {
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}).Comm(1, 1, "fine");
  b.AddRecord(PERF_RECORD_MMAP2, std::vector<std::byte>(8));
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  const SideRecordSweep sweep = SweepSideRecords(recording, false, {0});
  ASSERT_EQ(sweep.notes.size(), 1u);
  EXPECT_THAT(sweep.notes[0], HasSubstr("1 side records could not be decoded; the first: "));
  EXPECT_TRUE(sweep.table.StateAt(1, 0).has_value());
}

TEST(RecordingSweepTest, FactsComeFromTheRecording) {
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}).AddRecord(93, std::vector<std::byte>(8));
  b.Feature(perfdata::kKsampMeta, BytesOf("duration_ns=1500\ncpu_mhz=2096.5\n"));
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  const ProfileFacts facts = FactsOf(recording, 77);
  EXPECT_EQ(facts.duration_ns, 1500u);
  EXPECT_EQ(facts.cpu_mhz, 2096.5);
  EXPECT_EQ(facts.hostname, recording.facts().hostname);
  EXPECT_THAT(facts.notes, ElementsAre("1 records of unknown type 93 skipped"));
}

TEST(RecordingSweepTest, WithoutOurMetaTheObservedDurationCounts) {
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}).Comm(1, 1, "x");
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  EXPECT_EQ(FactsOf(recording, 77).duration_ns, 77u);
  EXPECT_EQ(FactsOf(recording, std::nullopt).duration_ns, std::nullopt);
  EXPECT_THAT(FactsOf(recording, 77).notes, IsEmpty());
}

TEST(RecordingSweepTest, AKilledRecorderIsANote) {
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}).Comm(1, 1, "x").Killed();
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  EXPECT_THAT(FactsOf(recording, 1).notes, ::testing::Contains(HasSubstr("the recorder was killed")));
}

}  // namespace
}  // namespace ksamp
