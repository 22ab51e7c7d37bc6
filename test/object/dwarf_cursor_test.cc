// SPDX-License-Identifier: Apache-2.0
#include "lib/object/dwarf_cursor.h"

#include <gtest/gtest.h>

#include <limits>

#include "lib/base/byte_reader.h"
#include "test/support/dwarf_builder.h"

namespace ksamp {
namespace {

using ::ksamp::testing::DwarfBytes;

TEST(DwarfCursorTest, ReadsWhatIsThere) {
  const DwarfBytes bytes =
      DwarfBytes().U8(0x7f).U16(0x1234).U32(0xdeadbeef).U64(0x0123456789abcdef).Text("main").U8(9);
  DwarfCursor at(AsBytes(bytes.bytes()), 0, false);
  EXPECT_EQ(at.U8(), 0x7f);
  EXPECT_EQ(at.U16(), 0x1234);
  EXPECT_EQ(at.U32(), 0xdeadbeef);
  EXPECT_EQ(at.U64(), 0x0123456789abcdef);
  EXPECT_EQ(at.Text(), "main");
  EXPECT_EQ(at.Number(1), 9u);
  EXPECT_TRUE(at.ok());
  EXPECT_TRUE(at.at_end());
}

TEST(DwarfCursorTest, SwapsForeignBytes) {
  const DwarfBytes bytes = DwarfBytes().U16(0x1234).U32(0x12345678).U8(1).U8(2).U8(3);
  DwarfCursor at(AsBytes(bytes.bytes()), 0, true);
  EXPECT_EQ(at.U16(), 0x3412);
  EXPECT_EQ(at.U32(), 0x78563412u);
  EXPECT_EQ(at.Number(3), 0x010203u);
  DwarfCursor native(AsBytes(bytes.bytes()), 6, false);
  EXPECT_EQ(native.Number(3), 0x030201u);
}

TEST(DwarfCursorTest, Leb128) {
  for (const uint64_t value :
       {uint64_t{0}, uint64_t{127}, uint64_t{128}, uint64_t{624485}, std::numeric_limits<uint64_t>::max()}) {
    const DwarfBytes bytes = DwarfBytes().Uleb(value).Uleb(value);
    DwarfCursor at(AsBytes(bytes.bytes()), 0, false);
    EXPECT_EQ(at.Uleb(), value);
    at.SkipLeb();
    EXPECT_TRUE(at.ok() && at.at_end());
  }
  for (const int64_t value : {int64_t{0}, int64_t{-1}, int64_t{63}, int64_t{64}, int64_t{-64}, int64_t{-65},
                              std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    const DwarfBytes bytes = DwarfBytes().Sleb(value);
    DwarfCursor at(AsBytes(bytes.bytes()), 0, false);
    EXPECT_EQ(at.Sleb(), value);
    EXPECT_TRUE(at.ok() && at.at_end());
  }
}

TEST(DwarfCursorTest, OverlongLebLosesTheBitsBeyondThe64th) {
  std::string bytes(40, '\xff');
  bytes += '\x01';
  DwarfCursor at(AsBytes(bytes), 0, false);
  EXPECT_EQ(at.Uleb(), ~uint64_t{0});
  EXPECT_TRUE(at.ok());
}

TEST(DwarfCursorTest, FailsForGood) {
  const std::string bytes = "\x01\x02\x03";
  for (const auto& read : {+[](DwarfCursor* at) { at->U32(); }, +[](DwarfCursor* at) { at->U64(); },
                           +[](DwarfCursor* at) { at->Text(); }, +[](DwarfCursor* at) { at->Skip(4); },
                           +[](DwarfCursor* at) { at->Seek(4); }, +[](DwarfCursor* at) { at->Number(5); },
                           +[](DwarfCursor* at) { at->Skip(~uint64_t{0}); }}) {
    DwarfCursor at(AsBytes(bytes), 0, false);
    read(&at);
    EXPECT_FALSE(at.ok());
    EXPECT_EQ(at.U8(), 0);
    EXPECT_EQ(at.remaining(), 0u);
  }
  EXPECT_FALSE(DwarfCursor(AsBytes(bytes), 4, false).ok());
  const std::string unfinished = "\x80\x80";
  DwarfCursor at(AsBytes(unfinished), 0, false);
  EXPECT_EQ(at.Uleb(), 0u);
  EXPECT_FALSE(at.ok());
}

}  // namespace
}  // namespace ksamp
