// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/stream_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "lib/base/byte_reader.h"
#include "lib/base/byte_writer.h"
#include "lib/perfdata/features.h"
#include "lib/perfdata/format.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp::perfdata {
namespace {

using ::ksamp::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class StreamDescriptionTest : public ::testing::Test {
 protected:
  // A record of `type` with what was put into `payload_`.
  absl::Status Take(StreamDescription& description, uint32_t type) {
    ByteWriter out;
    out.Put(perf_event_header{type, 0, static_cast<uint16_t>(8 + payload_.size())});
    out.PutBytes(payload_.bytes());
    bytes_ = std::move(out).Take();
    payload_.Clear();
    return description.Take({type, 0, bytes_, 16}, {});
  }
  ByteWriter payload_;
  std::vector<std::byte> bytes_;
};

TEST_F(StreamDescriptionTest, AttrsCarryTheirIds) {
  StreamDescription description(true, false);
  payload_.Put(testing::SampleAttr());
  payload_.Put<uint64_t>(5);
  payload_.Put<uint64_t>(6);
  ASSERT_OK(Take(description, kHeaderAttr));
  ASSERT_EQ(description.events.events().size(), 1u);
  EXPECT_THAT(description.events.events()[0].ids, ElementsAre(5, 6));
}

TEST_F(StreamDescriptionTest, FeaturesBuildIdsAndNames) {
  StreamDescription description(true, false);
  payload_.Put<uint64_t>(kHostname);
  payload_.PutBytes(EncodeString("box7"));
  ASSERT_OK(Take(description, kHeaderFeature));
  EXPECT_EQ(description.features[kHostname], EncodeString("box7"));

  payload_.Put<uint64_t>(2);
  payload_.Put<uint64_t>(5);
  payload_.PutPaddedCString("my-event", 8);
  ASSERT_OK(Take(description, kEventUpdate));
  EXPECT_THAT(description.names, ElementsAre(Pair(5, "my-event")));

  const std::vector<BuildIdEntry> entries = {{CpuMode::kUser, 7, std::vector<uint8_t>(20, 1), "/bin/x"}};
  const Payload build_ids = EncodeBuildIds(entries);
  payload_.PutBytes(std::span(build_ids).subspan(8));
  ASSERT_OK(Take(description, kHeaderBuildId));
  ASSERT_EQ(description.build_ids.size(), 1u);
  EXPECT_EQ(description.build_ids[0].path, "/bin/x");
}

TEST_F(StreamDescriptionTest, AFileKeepsTheAttrsOfItsHead) {
  StreamDescription description(false, false);
  payload_.Put(testing::SampleAttr());
  ASSERT_OK(Take(description, kHeaderAttr));
  EXPECT_THAT(description.events.events(), IsEmpty());
}

TEST_F(StreamDescriptionTest, AttrsLongerThanTheirRecordAreDamage) {
  StreamDescription description(true, false);
  perf_event_attr attr = testing::SampleAttr();
  attr.size = 4000;
  payload_.Put(attr);
  EXPECT_THAT(Take(description, kHeaderAttr),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("HEADER_ATTR at 16")));
  EXPECT_THAT(Take(description, kHeaderFeature), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("at 16")));
}

}  // namespace
}  // namespace ksamp::perfdata
