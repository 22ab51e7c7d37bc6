// SPDX-License-Identifier: Apache-2.0
#include "lib/event/sample_layout.h"

#include <linux/perf_event.h>

#include <vector>

#include "lib/base/byte_writer.h"
#include "lib/event/perf_constants.h"
#include "test/support/status_matchers.h"

namespace ksamp::testing {
namespace {

using ::testing::HasSubstr;

std::span<const std::byte> BytesOf(const perf_event_attr& attr) {
  return std::as_bytes(std::span(&attr, 1));
}

perf_event_attr FullAttr() {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR;
  attr.read_format = PERF_FORMAT_ID;
  attr.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX;
  attr.sample_regs_user = 0xff0fff;
  attr.sample_regs_intr = 0xf0;
  attr.sample_id_all = 1;
  return attr;
}

struct SizeCase {
  uint32_t size;
  uint64_t branches, user, intr;  // what that much of the attr knows
};

class AttrSizeTest : public ::testing::TestWithParam<SizeCase> {};

// VER0 … VER8: fields behind the attr's own size are not meant, whatever bytes lie there.
TEST_P(AttrSizeTest, BehindTheAttrsOwnSizeEverythingIsZero) {
  perf_event_attr attr = FullAttr();
  attr.size = GetParam().size;
  std::vector<std::byte> stored(BytesOf(attr).begin(), BytesOf(attr).end());
  stored.resize(160, std::byte{0xee});
  ASSERT_OK_AND_ASSIGN(SampleLayout layout, SampleLayout::FromAttr(stored));
  EXPECT_EQ(layout.sample_type(), attr.sample_type);
  EXPECT_EQ(layout.read_format(), attr.read_format);
  EXPECT_TRUE(layout.sample_id_all());
  EXPECT_EQ(layout.branch_sample_type(), GetParam().branches);
  EXPECT_EQ(layout.sample_regs_user(), GetParam().user);
  EXPECT_EQ(layout.sample_regs_intr(), GetParam().intr);
}

constexpr uint64_t kBranches = PERF_SAMPLE_BRANCH_HW_INDEX;
INSTANTIATE_TEST_SUITE_P(Sizes, AttrSizeTest,
                         ::testing::Values(SizeCase{0, 0, 0, 0}, SizeCase{PERF_ATTR_SIZE_VER0, 0, 0, 0},
                                           SizeCase{PERF_ATTR_SIZE_VER1, 0, 0, 0},
                                           SizeCase{PERF_ATTR_SIZE_VER2, kBranches, 0, 0},
                                           SizeCase{PERF_ATTR_SIZE_VER3, kBranches, 0xff0fff, 0},
                                           SizeCase{PERF_ATTR_SIZE_VER4, kBranches, 0xff0fff, 0xf0},
                                           SizeCase{PERF_ATTR_SIZE_VER5, kBranches, 0xff0fff, 0xf0},
                                           SizeCase{PERF_ATTR_SIZE_VER6, kBranches, 0xff0fff, 0xf0},
                                           SizeCase{PERF_ATTR_SIZE_VER7, kBranches, 0xff0fff, 0xf0},
                                           SizeCase{kAttrSizeVer8, kBranches, 0xff0fff, 0xf0},
                                           SizeCase{152, kBranches, 0xff0fff, 0xf0}),
                         [](const auto& test) { return "Size" + std::to_string(test.param.size); });

TEST(SampleLayoutTest, AnAttrCutShortKeepsWhatIsThere) {
  const perf_event_attr attr = FullAttr();
  ASSERT_OK_AND_ASSIGN(SampleLayout layout, SampleLayout::FromAttr(BytesOf(attr).first(PERF_ATTR_SIZE_VER2)));
  EXPECT_EQ(layout.branch_sample_type(), kBranches);
  EXPECT_EQ(layout.sample_regs_user(), 0u);
}

TEST(SampleLayoutTest, ShorterThanTheOldestKindIsRefused) {
  perf_event_attr attr = FullAttr();
  EXPECT_THAT(SampleLayout::FromAttr(BytesOf(attr).first(63)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("63 bytes")));
  attr.size = 63;
  EXPECT_THAT(SampleLayout::FromAttr(BytesOf(attr)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("63 bytes")));
}

SampleLayout LayoutOf(uint64_t sample_type, bool sample_id_all) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.sample_type = sample_type;
  attr.sample_id_all = sample_id_all;
  return *SampleLayout::FromAttr(BytesOf(attr));
}

struct IdCase {
  std::string name;
  uint64_t sample_type;
  bool sample_id_all;
  uint16_t id_at, id_from_end;
  size_t fixed_size, trailer_size;
};

class IdPlaceTest : public ::testing::TestWithParam<IdCase> {};

TEST_P(IdPlaceTest, IsFoundFromBothEnds) {
  const IdCase& expected = GetParam();
  const SampleLayout layout = LayoutOf(expected.sample_type, expected.sample_id_all);
  EXPECT_EQ(layout.id_at(), expected.id_at);
  EXPECT_EQ(layout.id_from_end(), expected.id_from_end);
  EXPECT_EQ(layout.fixed_size(), expected.fixed_size);
  EXPECT_EQ(layout.trailer_size(), expected.trailer_size);
}

constexpr uint64_t kTidTime = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
INSTANTIATE_TEST_SUITE_P(
    Layouts, IdPlaceTest,
    ::testing::Values(IdCase{"nothing", 0, true, SampleLayout::kAbsent, 0, 8, 0},
                      IdCase{"identifier", PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | kTidTime, true, 8, 8, 40,
                             24},
                      IdCase{"identifier_wins", PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID, true, 8, 8, 24, 16},
                      IdCase{"id_alone", PERF_SAMPLE_IP | kTidTime | PERF_SAMPLE_ID, true, 32, 8, 40, 24},
                      IdCase{"id_before_stream_and_cpu",
                             PERF_SAMPLE_IP | kTidTime | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
                                 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
                             true, 40, 24, 72, 40},
                      IdCase{"no_trailer", PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, false, 8, 0, 24, 0}),
    [](const auto& test) { return test.param.name; });

TEST(SampleLayoutTest, FixedFieldsAreReadFromTheirPlaces) {
  const SampleLayout layout =
      LayoutOf(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | kTidTime | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
                   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
               false);
  ByteWriter out;
  out.Put(perf_event_header{});
  for (const uint64_t word : {1, 2}) out.Put(word);
  for (const uint32_t half : {3, 4}) out.Put(half);
  for (const uint64_t word : {5, 6, 7, 8}) out.Put(word);
  for (const uint32_t half : {9, 0}) out.Put(half);
  out.Put(uint64_t{10});
  ASSERT_EQ(out.size(), layout.fixed_size());
  const FixedSampleFields f = layout.ReadFixed(out.bytes().data());
  EXPECT_EQ(std::vector<uint64_t>(
                {f.identifier, f.ip, f.pid, f.tid, f.time, f.addr, f.id, f.stream_id, f.cpu, f.period}),
            std::vector<uint64_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_TRUE(layout.has_time());
  EXPECT_FALSE(LayoutOf(PERF_SAMPLE_IP, true).has_time());
}

}  // namespace
}  // namespace ksamp::testing
