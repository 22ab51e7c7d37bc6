// SPDX-License-Identifier: Apache-2.0
#include "lib/base/byte_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

namespace ksamp {
namespace {

TEST(ByteReader, ReadsInOrderAndKeepsCount) {
  const std::string bytes("\1\2\0\0\0abc\0\xff", 10);
  ByteReader reader(AsBytes(bytes));
  EXPECT_EQ(reader.Read<uint8_t>(), 1);
  EXPECT_EQ(reader.Read<uint32_t>(), 2u);  // Unaligned.
  EXPECT_EQ(reader.ReadCString(), "abc");
  EXPECT_EQ(reader.remaining(), 1u);
  EXPECT_EQ(AsText(reader.rest()), "\xff");
  EXPECT_EQ(AsText(reader.ReadBytes(1)), "\xff");
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.position(), 10u);
}

TEST(ByteReader, AReadPastTheEndFailsItAndAllLaterOnes) {
  const std::array<std::byte, 6> bytes{};
  ByteReader reader(bytes);
  EXPECT_EQ(reader.Read<uint64_t>(), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.Read<uint8_t>(), 0);
  EXPECT_TRUE(reader.ReadBytes(0).empty());
  EXPECT_EQ(reader.ReadCString(), "");
  EXPECT_EQ(reader.position(), 0u);
}

TEST(ByteReader, HostileSizesDoNotWrapRound) {
  const std::array<std::byte, 8> bytes{};
  for (uint64_t size : {uint64_t{9}, uint64_t{1} << 32, UINT64_MAX, UINT64_MAX - 7}) {
    ByteReader reader(bytes);
    reader.Skip(4);
    EXPECT_TRUE(reader.ReadBytes(size).empty()) << size;
    EXPECT_FALSE(reader.ok()) << size;
    EXPECT_EQ(reader.position(), 4u) << size;
  }
}

TEST(ByteReader, TextWithoutANulIsAllThatIsLeft) {
  ByteReader reader(AsBytes("abc"));
  EXPECT_EQ(reader.ReadCString(), "abc");
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.remaining(), 0u);
  EXPECT_EQ(reader.ReadCString(), "");
  EXPECT_TRUE(reader.ok());
}

TEST(ByteReader, NothingAtAll) {
  ByteReader reader({});
  EXPECT_EQ(reader.ReadCString(), "");
  EXPECT_TRUE(reader.ReadBytes(0).empty());
  EXPECT_TRUE(reader.ok());
  reader.Skip(1);
  EXPECT_FALSE(reader.ok());
}

}  // namespace
}  // namespace ksamp
