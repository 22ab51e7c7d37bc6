// SPDX-License-Identifier: Apache-2.0
#include "lib/object/jit_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lib/base/byte_reader.h"
#include "lib/base/byte_writer.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Writes a dump in either byte order.
class DumpWriter {
 public:
  explicit DumpWriter(bool foreign = false, uint64_t flags = 0) : foreign_(foreign) {
    for (const uint32_t field : {0x4a695444u, 1u, 40u, 62u, 0u, 77u}) Put(field);
    Put(uint64_t{900});
    Put(flags);
  }
  DumpWriter& Load(uint64_t time, uint64_t start, uint64_t size, uint64_t index, std::string_view name) {
    Head(0, 40 + name.size() + 1 + size, time);
    for (const uint64_t field : {start, start, size, index}) Put(field);
    out_.PutBytes(AsBytes(name));
    out_.PutZeros(1 + size);
    return *this;
  }
  DumpWriter& Move(uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index) {
    Head(1, 48, time);
    for (const uint64_t field : {to, from, to, size, index}) Put(field);
    return *this;
  }
  DumpWriter& Other(uint32_t id, size_t size) {
    Head(id, 8 + size, 0);
    out_.PutZeros(size);
    return *this;
  }
  std::string Take() const { return std::string(AsText(out_.bytes())); }
  size_t size() const { return out_.size(); }

 private:
  void Head(uint32_t id, size_t body, uint64_t time) {
    Put(id);
    Put(static_cast<uint32_t>(16 + body));
    Put(time);
    Put(uint32_t{77});
    Put(uint32_t{77});
  }
  void Put(uint32_t value) { out_.Put(foreign_ ? __builtin_bswap32(value) : value); }
  void Put(uint64_t value) { out_.Put(foreign_ ? __builtin_bswap64(value) : value); }

  bool foreign_;
  ByteWriter out_;
};

const std::vector<JitFunction> kExpected = {{1000, 0x1000, 0x20, 40 + 16 + 40 + 4, "old"},
                                            {2000, 0x1000, 0x10, 40 + 92 + 16 + 40 + 4, "new"},
                                            {3000, 0x5000, 0x10, 40 + 92 + 16 + 40 + 4, "new"}};
DumpWriter Story(bool foreign = false) {
  DumpWriter writer(foreign);
  writer.Load(1000, 0x1000, 0x20, 1, "old").Load(2000, 0x1000, 0x10, 2, "new").Other(2, 40);
  writer.Move(3000, 0x1000, 0x5000, 0x10, 2).Other(3, 0);
  return writer;
}

TEST(JitDumpTest, LoadsAndMovesWithTheirTimes) {
  for (const bool foreign : {false, true}) {
    ASSERT_OK_AND_ASSIGN(const JitDump dump, JitDump::Read(AsBytes(Story(foreign).Take())));
    EXPECT_EQ(dump.functions(), kExpected);
    EXPECT_EQ(dump.opened(), 900u);
    EXPECT_TRUE(dump.has_time());
    EXPECT_EQ(dump.damaged(), 0u);
  }
}

TEST(JitDumpTest, TheTextHoldsTheSame) {
  ASSERT_OK_AND_ASSIGN(const JitDump dump, JitDump::Read(AsBytes(Story().Take())));
  ASSERT_OK_AND_ASSIGN(const JitDump again, JitDump::FromText(dump.ToText()));
  EXPECT_EQ(again.functions(), kExpected);
  EXPECT_EQ(again.opened(), 900u);
  EXPECT_TRUE(again.has_time());
  EXPECT_EQ(again.damaged(), 0u);
  ASSERT_OK_AND_ASSIGN(const JitDump counter, JitDump::Read(AsBytes(DumpWriter(false, 1).Take())));
  EXPECT_FALSE(counter.has_time());
  ASSERT_OK_AND_ASSIGN(const JitDump counter_again, JitDump::FromText(counter.ToText()));
  EXPECT_FALSE(counter_again.has_time());
}

TEST(JitDumpTest, ALineBreakInANameDoesNotBreakTheText) {
  ASSERT_OK_AND_ASSIGN(const JitDump dump,
                       JitDump::Read(AsBytes(DumpWriter().Load(1, 0x1000, 8, 1, "a\nb c").Take())));
  ASSERT_OK_AND_ASSIGN(const JitDump again, JitDump::FromText(dump.ToText()));
  ASSERT_EQ(again.functions().size(), 1u);
  EXPECT_EQ(again.functions()[0].name, "a b c");
}

TEST(JitDumpTest, EveryTruncationGivesTheFunctionsBeforeIt) {
  const std::string whole = Story().Take();
  for (size_t size = 40; size < whole.size(); ++size) {
    ASSERT_OK_AND_ASSIGN(const JitDump dump, JitDump::Read(AsBytes(std::string_view(whole).substr(0, size))));
    ASSERT_LE(dump.functions().size(), kExpected.size());
    EXPECT_TRUE(std::equal(dump.functions().begin(), dump.functions().end(), kExpected.begin()));
  }
  for (size_t size = 0; size < 40; ++size)
    EXPECT_THAT(JitDump::Read(AsBytes(std::string_view(whole).substr(0, size))).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("read jitdump")));
}

TEST(JitDumpTest, DamagedRecordsAreLeftOutAndCounted) {
  DumpWriter writer;
  writer.Load(1, 0x1000, 0, 1, "of no size");
  writer.Load(2, ~uint64_t{0}, 8, 1, "past the last address");
  writer.Move(3, 0x1000, 0x2000, 8, 99);  // of no function
  writer.Other(0, 32);                    // a load without a name's end
  writer.Load(4, 0x1000, 8, 1, "good");
  ASSERT_OK_AND_ASSIGN(const JitDump dump, JitDump::Read(AsBytes(writer.Take())));
  ASSERT_EQ(dump.functions().size(), 1u);
  EXPECT_EQ(dump.functions()[0].name, "good");
  EXPECT_EQ(dump.damaged(), 4u);
}

TEST(JitDumpTest, WhatIsNoDumpIsRefused) {
  std::string other = Story().Take();
  other[4] = 2;
  EXPECT_THAT(JitDump::Read(AsBytes(other)).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("version 2 is not known")));
  other = Story().Take();
  other[8] = 39;
  EXPECT_THAT(JitDump::Read(AsBytes(other)).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("header of 39 bytes")));
  for (const char* text :
       {"", "jitdump", "jitdump ", "jitdump 1", "jitdump 1 ", "jitdump x 1 \n", "else 1 1 \n"})
    EXPECT_FALSE(JitDump::FromText(text).ok()) << text;
}

TEST(JitDumpTest, DamagedLinesOfATextAreLeftOut) {
  ASSERT_OK_AND_ASSIGN(const JitDump dump,
                       JitDump::FromText("jitdump 0x1 0x1 \n1 2 3\n1 2 0 4 no size\nx\n"
                                         "1 ffffffffffffffff 2 4 past the end\n1 2 2 ffffffffffffffff place\n"
                                         "0x1 0x2 0x3 0x4 good one\n"));
  EXPECT_THAT(dump.functions(), ElementsAre(JitFunction{1, 2, 3, 4, "good one"}));
  EXPECT_EQ(dump.damaged(), 5u);
}

}  // namespace
}  // namespace ksamp
