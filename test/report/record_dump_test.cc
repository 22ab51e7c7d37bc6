// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>

#include "ksamp/dump.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::PerfDataBuilder;
using ::ksamp::testing::SampleAttr;
using ::testing::HasSubstr;

// The dump without the offsets, which depend on the file's head.
std::string Dumped(const PerfDataBuilder& builder) {
  const absl::StatusOr<Recording> recording = builder.Open();
  EXPECT_OK(recording);
  std::ostringstream out;
  EXPECT_OK(WriteRecords(*recording, out));
  static const std::regex kOffset("(^|\n)0x[0-9a-f]+ ");
  return std::regex_replace(out.str(), kOffset, "$1");
}

TEST(RecordDumpTest, EveryFieldOfEveryRecord) {
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}, SampleAttr(PERF_SAMPLE_CALLCHAIN));
  b.Comm(10, 11, "gz\"ip", 5, true);
  b.Mmap({.pid = 10,
          .addr = 0x1000,
          .length = 0x2000,
          .file_offset = 0x3000,
          .path = "/bin/a",
          .time = 6,
          .build_id = {0xab, 0x01}});
  b.Fork(12, 10, 12, 10, 7).Exit(12, 10, 12, 10, 8);
  b.Lost(7, 3, 9).Throttle(10, 7);
  b.Sample({.pid = 10, .tid = 11, .time = 11, .ip = 0x1010, .cpu = 2, .callchain = {~uint64_t{511}, 0x1010}});
  b.FinishedRound();
  EXPECT_EQ(
      Dumped(b),
      "COMM misc=0x2000 size=56 pid=10 tid=11 exec=1 comm=\"gz\\\"ip\" id.pid=10 id.tid=11 id.time=5 id.id=7 "
      "id.cpu=0\n"
      "MMAP2 misc=0x4002 size=112 mode=user pid=10 tid=10 addr=0x1000 len=0x2000 pgoff=0x3000 build_id=ab01 "
      "prot=0x5 flags=0x0 filename=\"/bin/a\" id.pid=10 id.tid=10 id.time=6 id.id=7 id.cpu=0\n"
      "FORK misc=0x0 size=64 pid=12 ppid=10 tid=12 ptid=10 time=7 id.pid=10 id.tid=10 id.time=7 id.id=7 "
      "id.cpu=0\n"
      "EXIT misc=0x0 size=64 pid=12 ppid=10 tid=12 ptid=10 time=8 id.pid=12 id.tid=12 id.time=8 id.id=7 "
      "id.cpu=0\n"
      "LOST misc=0x0 size=56 id=7 lost=3 id.pid=0 id.tid=0 id.time=9 id.id=7 id.cpu=0\n"
      "THROTTLE misc=0x0 size=64 time=10 id=7 stream_id=7 id.pid=0 id.tid=0 id.time=10 id.id=7 id.cpu=0\n"
      "SAMPLE misc=0x2 size=80 event=\"cpu-clock\" mode=user identifier=7 ip=0x1010 pid=10 tid=11 time=11 "
      "cpu=2 "
      "period=1000000 callchain=[0xfffffffffffffe00,0x1010]\n"
      "FINISHED_ROUND misc=0x0 size=8\n");
}

TEST(RecordDumpTest, UnknownTypesShowTheirBytes) {
  PerfDataBuilder b;
  const std::byte payload[] = {std::byte{0xde}, std::byte{0xad}, std::byte{0}, std::byte{1},
                               std::byte{2},    std::byte{3},    std::byte{4}, std::byte{5}};
  b.AddRecord(93, payload);
  EXPECT_EQ(Dumped(b), "type 93 misc=0x0 size=16 payload=dead000102030405\n");
}

TEST(RecordDumpTest, ARecordThatCannotBeDecodedSaysWhy) {
  PerfDataBuilder b;
  b.AddRecord(PERF_RECORD_COMM, {});
  EXPECT_THAT(Dumped(b), HasSubstr("COMM misc=0x0 size=8 error=\""));
}

}  // namespace
}  // namespace ksamp
