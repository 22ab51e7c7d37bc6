// SPDX-License-Identifier: Apache-2.0
#include "lib/base/byte_reader.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace ksamp {
namespace {

TEST(ByteReader, ReadsFieldsInOrder) {
  const std::string bytes("\x01\x02\x00\x00\x00hi\0rest", 12);
  ByteReader reader(AsBytes(bytes));
  EXPECT_EQ(reader.Read<uint8_t>(), 1);
  EXPECT_EQ(reader.Read<uint32_t>(), 2u);
  EXPECT_EQ(reader.ReadCString(), "hi");
  EXPECT_EQ(reader.position(), 8u);
  EXPECT_EQ(AsText(reader.ReadBytes(2)), "re");
  EXPECT_EQ(AsText(reader.rest()), "st");
  reader.Skip(2);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.remaining(), 0u);
}

TEST(ByteReader, OneFailureFailsEverythingAfterIt) {
  const std::string bytes(6, '\x7f');
  ByteReader reader(AsBytes(bytes));
  EXPECT_EQ(reader.Read<uint64_t>(), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.Read<uint8_t>(), 0) << "there are bytes, but the decoder is lost already";
  EXPECT_TRUE(reader.ReadBytes(1).empty());
  EXPECT_EQ(reader.ReadCString(), "");
}

TEST(ByteReader, SizesThatOverflowAreRefused) {
  ByteReader reader(AsBytes("abc"));
  reader.Skip(1);
  EXPECT_TRUE(reader.ReadBytes(~uint64_t{0}).empty());
  EXPECT_FALSE(reader.ok());
}

// The kernel fills a name field to its end where the name is long; nothing behind it may be read.
TEST(ByteReader, TextWithoutNulEndsWithTheInput) {
  const auto exact = std::make_unique<std::byte[]>(3);
  std::memcpy(exact.get(), "abc", 3);
  ByteReader reader({exact.get(), 3});
  EXPECT_EQ(reader.ReadCString(), "abc");
  EXPECT_EQ(reader.remaining(), 0u);
  EXPECT_TRUE(reader.ok());
}

}  // namespace
}  // namespace ksamp
