// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/tracing_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "lib/base/byte_writer.h"
#include "lib/perfdata/field_reader.h"

namespace ksamp::perfdata {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// trace-cmd's container with one format of ftrace itself and three of two systems.
std::vector<std::byte> Container(bool foreign) {
  ByteWriter out;
  const auto text = [&out](std::string_view name) {
    out.PutBytes(AsBytes(name));
    out.Put<uint8_t>(0);
  };
  const auto number = [&out, foreign](auto value) { out.Put(foreign ? SwapBytes(value) : value); };
  const auto file = [&](std::string_view content) {
    number(uint64_t{content.size()});
    out.PutBytes(AsBytes(content));
  };
  out.PutBytes(AsBytes("\x17\x08\x44tracing"));
  text("0.6");
  out.Put<uint8_t>((std::endian::native == std::endian::big) != foreign);
  out.Put<uint8_t>(8);
  number(uint32_t{4096});
  text("header_page");
  file("p");
  text("header_event");
  file("e");
  number(uint32_t{1});
  file("F0");
  number(uint32_t{2});
  text("sched");
  number(uint32_t{2});
  file("F1");
  file("F2");
  text("net");
  number(uint32_t{1});
  file("F3");
  return std::move(out).Take();
}

TEST(TracingFormatsTest, TextsOfEitherByteOrder) {
  EXPECT_THAT(SplitTracingData(Container(false)), ElementsAre("F0", "F1", "F2", "F3"));
  EXPECT_THAT(SplitTracingData(Container(true)), ElementsAre("F0", "F1", "F2", "F3"));
}

TEST(TracingFormatsTest, WhatIsCutEndsTheList) {
  const std::vector<std::byte> whole = Container(false);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_LT(SplitTracingData(std::span(whole).first(size)).size(), 4u) << size;
  EXPECT_THAT(SplitTracingData(AsBytes("something else")), IsEmpty());
}

}  // namespace
}  // namespace ksamp::perfdata
