// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/event_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cstring>
#include <vector>

#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp::perfdata {
namespace {

using ::ksamp::testing::SampleAttr;

std::span<const std::byte> BytesOf(const perf_event_attr& attr) {
  return std::as_bytes(std::span(&attr, 1));
}

// A record of `words` u64 behind its header.
std::vector<std::byte> RecordOf(uint32_t type, const std::vector<uint64_t>& words) {
  perf_event_header header{type, 0, static_cast<uint16_t>(8 + words.size() * 8)};
  std::vector<std::byte> bytes(header.size);
  std::memcpy(bytes.data(), &header, 8);
  if (!words.empty()) std::memcpy(bytes.data() + 8, words.data(), words.size() * 8);
  return bytes;
}

TEST(EventTable, OneEventNeedsNoId) {
  EventTable table;
  ASSERT_OK(table.Add(BytesOf(SampleAttr()), {}));
  EXPECT_EQ(table.EventOf(PERF_RECORD_SAMPLE, RecordOf(PERF_RECORD_SAMPLE, {99, 1, 2, 3, 4, 5})), 0u);
}

TEST(EventTable, SeveralEventsAreToldApartByIdentifier) {
  EventTable table;
  ASSERT_OK(table.Add(BytesOf(SampleAttr()), {7, 8}));
  ASSERT_OK(table.Add(BytesOf(SampleAttr()), {9}));
  struct Case {
    uint32_t type;
    std::vector<uint64_t> words;
    std::optional<size_t> event;
  };
  const std::vector<Case> cases = {
      {PERF_RECORD_SAMPLE, {8, 1, 2, 3, 4, 5}, 0},
      {PERF_RECORD_SAMPLE, {9, 1, 2, 3, 4, 5}, 1},
      {PERF_RECORD_SAMPLE, {10, 1, 2, 3, 4, 5}, std::nullopt},
      {PERF_RECORD_SAMPLE, {0, 1, 2, 3, 4, 5}, 0},  // synthesised
      {PERF_RECORD_SAMPLE, {}, std::nullopt},       // too short to hold an id
      {PERF_RECORD_COMM, {1, 2, 3, 4, 5, 9}, 1},    // the trailer's last word
      {68, {}, 0},                                  // FINISHED_ROUND has no trailer
  };
  for (const Case& c : cases) {
    EXPECT_EQ(table.EventOf(c.type, RecordOf(c.type, c.words)), c.event) << c.type << " " << c.words.size();
  }
}

TEST(EventTable, ForeignIdsAreTurnedRound) {
  EventTable table;
  ASSERT_OK(table.Add(BytesOf(SampleAttr()), {7}));
  ASSERT_OK(table.Add(BytesOf(SampleAttr()), {9}));
  EXPECT_EQ(
      table.EventOf(PERF_RECORD_SAMPLE, RecordOf(PERF_RECORD_SAMPLE, {__builtin_bswap64(9), 1, 2, 3}), true),
      1u);
}

TEST(EventTable, UnknownIdsStillDecodeWhereAllLayoutsAreTheSame) {
  const std::vector<std::byte> stranger = RecordOf(PERF_RECORD_SAMPLE, {10, 1, 2, 3, 4, 5});
  EventTable same;
  ASSERT_OK(same.Add(BytesOf(SampleAttr()), {7}));
  ASSERT_OK(same.Add(BytesOf(SampleAttr()), {9}));
  EXPECT_EQ(same.LayoutOf(PERF_RECORD_SAMPLE, stranger), &same.layout(0));
  EventTable mixed;
  ASSERT_OK(mixed.Add(BytesOf(SampleAttr()), {7}));
  ASSERT_OK(mixed.Add(BytesOf(SampleAttr(PERF_SAMPLE_CALLCHAIN)), {9}));
  EXPECT_EQ(mixed.LayoutOf(PERF_RECORD_SAMPLE, stranger), nullptr);
}

TEST(EventTable, EventsWithoutADescriptionAreNamedByNumber) {
  struct Case {
    uint32_t type;
    uint64_t config;
    const char* name;
  };
  for (const Case& c : std::vector<Case>{{PERF_TYPE_HARDWARE, 0, "cycles"},
                                         {PERF_TYPE_SOFTWARE, 0, "cpu-clock"},
                                         {PERF_TYPE_RAW, 0x3c, "r3c"},
                                         {PERF_TYPE_TRACEPOINT, 314, "tracepoint 314"},
                                         {77, 0x10, "event type 77 config 0x10"}}) {
    perf_event_attr attr = SampleAttr();
    attr.type = c.type;
    attr.config = c.config;
    EventTable table;
    ASSERT_OK(table.Add(BytesOf(attr), {}));
    EXPECT_EQ(table.events()[0].name, c.name);
  }
}

TEST(EventTable, ShortAttrsAreRefused) {
  EventTable table;
  EXPECT_FALSE(table.Add(std::vector<std::byte>(32), {}).ok());
}

}  // namespace
}  // namespace ksamp::perfdata
