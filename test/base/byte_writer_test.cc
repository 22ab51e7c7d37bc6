// SPDX-License-Identifier: Apache-2.0
#include "lib/base/byte_writer.h"

#include <gtest/gtest.h>

#include <string>

#include "lib/base/byte_reader.h"

namespace ksamp {
namespace {

TEST(ByteWriter, WhatItWritesTheReaderReads) {
  ByteWriter out;
  out.Put<uint16_t>(7);
  out.Put<uint64_t>(uint64_t{1} << 40);
  out.PutBytes(AsBytes("xy"));
  out.PutAt<uint16_t>(0, 9);
  ByteReader reader(out.bytes());
  EXPECT_EQ(reader.Read<uint16_t>(), 9);
  EXPECT_EQ(reader.Read<uint64_t>(), uint64_t{1} << 40);
  EXPECT_EQ(AsText(reader.ReadBytes(2)), "xy");
  EXPECT_EQ(reader.remaining(), 0u);
}

TEST(ByteWriter, PaddedTextAlwaysHasItsNul) {
  const struct {
    std::string text;
    size_t size;
  } cases[] = {{"", 8}, {"1234567", 8}, {"12345678", 16}, {"123456789", 16}};
  for (const auto& c : cases) {
    ByteWriter out;
    out.PutPaddedCString(c.text, 8);
    EXPECT_EQ(AsText(out.bytes()), c.text + std::string(c.size - c.text.size(), '\0'));
  }
}

TEST(ByteWriter, AlignsAndClears) {
  ByteWriter out;
  out.AlignTo(8);
  EXPECT_EQ(out.size(), 0u);
  out.Put<uint8_t>(1);
  out.AlignTo(8);
  EXPECT_EQ(out.size(), 8u);
  out.AlignTo(8);
  EXPECT_EQ(out.size(), 8u);
  out.Clear();
  EXPECT_EQ(out.size(), 0u);
}

}  // namespace
}  // namespace ksamp
