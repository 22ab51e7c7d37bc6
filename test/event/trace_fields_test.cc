// SPDX-License-Identifier: Apache-2.0
#include "lib/event/trace_fields.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "lib/base/byte_reader.h"

namespace ksamp {
namespace {

TEST(TraceFieldsTest, LinesOfAFormatFile) {
  TraceFields fields;
  EXPECT_TRUE(ParseTraceField("\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;", fields));
  EXPECT_TRUE(ParseTraceField("\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;", fields));
  EXPECT_TRUE(ParseTraceField("\tfield:const struct sk_buff * skb;\toffset:32;\tsize:8;\tsigned:0;", fields));
  EXPECT_TRUE(ParseTraceField("\tfield:__data_loc char[] name;\toffset:40;\tsize:4;\tsigned:1;", fields));
  EXPECT_FALSE(ParseTraceField("print fmt: \"field:\"", fields));
  EXPECT_FALSE(ParseTraceField("\tfield:;\toffset:1;\tsize:1;", fields));
  ASSERT_EQ(fields.all().size(), 4u);
  EXPECT_EQ(fields.all()[0].name, "prev_comm");
  EXPECT_TRUE(fields.all()[0].is_text);
  EXPECT_TRUE(fields.all()[1].is_signed);
  EXPECT_EQ(fields.all()[2].name, "skb");
  EXPECT_TRUE(fields.all()[2].is_pointer);
  EXPECT_TRUE(fields.all()[3].is_dynamic);
  EXPECT_EQ(fields.Find("prev_pid"), &fields.all()[1]);
  EXPECT_EQ(fields.Find("none"), nullptr);
}

TEST(TraceFieldsTest, ValuesOfEitherByteOrderAndSign) {
  const std::vector<std::byte> raw = {std::byte{0xfe}, std::byte{0xff}, std::byte{0}, std::byte{1}};
  for (const bool foreign : {false, true}) {
    TraceFields fields(foreign);
    fields.Add({.name = "s16", .offset = 0, .size = 2, .is_signed = true});
    fields.Add({.name = "u16", .offset = 2, .size = 2});
    EXPECT_EQ(static_cast<int64_t>(fields.Number(fields.all()[0], raw)), foreign ? -257 : -2);
    EXPECT_EQ(fields.Number(fields.all()[1], raw), foreign ? 1u : 256u);
  }
}

TEST(TraceFieldsTest, DynamicFieldsLieWhereTheySay) {
  std::vector<std::byte> raw(16);
  const uint32_t place = 3u << 16 | 10, relative = 3u << 16 | 2;
  std::memcpy(raw.data(), &place, 4);
  std::memcpy(raw.data() + 4, &relative, 4);
  std::memcpy(raw.data() + 10, "et0", 3);
  TraceFields fields;
  fields.Add({.name = "a", .offset = 0, .size = 4, .is_dynamic = true});
  fields.Add({.name = "r", .offset = 4, .size = 4, .is_dynamic = true, .is_relative = true});
  EXPECT_EQ(AsText(fields.Bytes(fields.all()[0], raw)), "et0");
  EXPECT_EQ(AsText(fields.Bytes(fields.all()[1], raw)), "et0");
}

TEST(TraceFieldsTest, WhatLiesOutsideIsNothing) {
  const std::vector<std::byte> raw(8, std::byte{0xff});
  TraceFields fields;
  fields.Add({.name = "far", .offset = 6, .size = 4});
  fields.Add({.name = "wide", .offset = 0, .size = 9});
  fields.Add({.name = "place", .offset = 0, .size = 4, .is_dynamic = true});
  for (const TraceField& field : fields.all()) EXPECT_TRUE(fields.Bytes(field, raw).empty()) << field.name;
  EXPECT_EQ(fields.Number(fields.all()[0], raw), 0u);
  EXPECT_EQ(fields.Number(fields.all()[1], raw), 0u);
}

}  // namespace
}  // namespace ksamp
