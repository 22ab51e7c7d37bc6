// SPDX-License-Identifier: Apache-2.0
#include "lib/base/byte_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/byte_reader.h"

namespace ksamp {
namespace {

std::string Text(const ByteWriter& out) {
  return std::string(AsText(out.bytes()));
}

TEST(ByteWriter, WhatIsPutCanBeRead) {
  ByteWriter out;
  out.Put<uint8_t>(7);
  out.Put<uint64_t>(0x1122334455667788);
  out.PutBytes(AsBytes("xy"));
  ByteReader reader(out.bytes());
  EXPECT_EQ(reader.Read<uint8_t>(), 7);
  EXPECT_EQ(reader.Read<uint64_t>(), 0x1122334455667788u);
  EXPECT_EQ(AsText(reader.rest()), "xy");
}

TEST(ByteWriter, PadsTextWithAtLeastOneNul) {
  const std::pair<std::string, size_t> cases[] = {
      {"", 8}, {"1234567", 8}, {"12345678", 16}, {"123456789", 16}};
  for (const auto& [text, size] : cases) {
    ByteWriter out;
    out.Put<uint8_t>(1);  // Counted from the text's first byte, not from the buffer's.
    out.PutPaddedCString(text, 8);
    EXPECT_EQ(Text(out), '\1' + text + std::string(size - text.size(), '\0')) << text;
  }
}

TEST(ByteWriter, AlignsTheWhole) {
  ByteWriter out;
  out.AlignTo(8);
  EXPECT_EQ(out.size(), 0u);
  out.Put<uint8_t>(1);
  out.AlignTo(8);
  EXPECT_EQ(Text(out), std::string("\1\0\0\0\0\0\0\0", 8));
  out.AlignTo(8);
  EXPECT_EQ(out.size(), 8u);
}

TEST(ByteWriter, PutAtOverwrites) {
  ByteWriter out;
  out.Put<uint32_t>(0);
  out.Put<uint32_t>(9);
  out.PutAt<uint32_t>(0, 5);
  ByteReader reader(out.bytes());
  EXPECT_EQ(reader.Read<uint32_t>(), 5u);
  EXPECT_EQ(reader.Read<uint32_t>(), 9u);
}

TEST(ByteWriter, TakeAndClear) {
  ByteWriter out;
  out.PutZeros(3);
  out.Clear();
  EXPECT_EQ(out.size(), 0u);
  out.Put<uint8_t>(4);
  EXPECT_EQ(std::move(out).Take(), std::vector<std::byte>{std::byte{4}});
}

}  // namespace
}  // namespace ksamp
