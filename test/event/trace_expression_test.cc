// SPDX-License-Identifier: Apache-2.0
#include "lib/event/trace_expression.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace ksamp {
namespace {

struct TraceExpressionTest : ::testing::Test {
  TraceExpressionTest() : raw(24) {
    fields.Add({.name = "vec", .offset = 0, .size = 4});
    fields.Add({.name = "err", .offset = 4, .size = 4, .is_signed = true});
    fields.Add({.name = "comm", .offset = 8, .size = 16, .is_array = true, .is_text = true});
    const uint32_t vec = 6;
    const int32_t err = -2;
    std::memcpy(raw.data(), &vec, 4);
    std::memcpy(raw.data() + 4, &err, 4);
    std::memcpy(raw.data() + 8, "gzip", 5);
  }
  std::string Value(std::string_view text) {
    const std::optional<TraceExpression> parsed = TraceExpression::Parse(text, fields);
    if (!parsed) return "not understood";
    const TraceValue value = parsed->Evaluate(fields, raw);
    const std::string shown =
        value.is_text ? value.text.c_str() : std::to_string(static_cast<int64_t>(value.number));
    return shown + (text.empty() ? "" : " then " + std::string(text));
  }
  TraceFields fields;
  std::vector<std::byte> raw;
};

TEST_F(TraceExpressionTest, IsC) {
  const std::pair<const char*, const char*> cases[] = {
      {"1 + 2 * 3", "7"},
      {"(1 + 2) * 3", "9"},
      {"10 - 4 - 3", "3"},
      {"0x10 >> 2 | 1UL", "5"},
      {"7 & ~2", "5"},
      {"REC->vec", "6"},
      {"REC->err", "-2"},
      {"REC->err < 0 ? \"bad\" : \"good\"", "bad"},
      {"!REC->vec || REC->vec == 6 && 1", "1"},
      {"(unsigned char)REC->err", "254"},
      {"(int)(( unsigned long)REC->err)", "-2"},
      {"(void *)REC->vec", "6"},
      {"REC->comm", "gzip"},
      {"REC->vec, REC->err", "6 then , REC->err"},
      {"5 / 0", "0"},
      {"-9223372036854775807 - 1", "-9223372036854775808"},
      {"1 << 64", "0"},
      {"\"a\" \"b\\\"c\"", "ab\"c"},
  };
  for (const auto& [text, value] : cases) EXPECT_EQ(Value(text), value) << text;
}

TEST_F(TraceExpressionTest, NamesOfNumbersAndBits) {
  EXPECT_EQ(Value("__print_symbolic(REC->vec, { 0, \"HI\" }, { 6, \"TASKLET\" })"), "TASKLET");
  EXPECT_EQ(Value("__print_symbolic(REC->vec, { 0, \"HI\" })"), "0x6");
  EXPECT_EQ(Value("__print_symbolic(REC->vec, { TCP_CLOSE, \"CLOSE\" })"), "0x6") << "a constant nobody told";
  EXPECT_EQ(Value("__print_flags(REC->vec, \"|\", { 1, \"S\" }, { (1 << 1), \"D\" }, { 4UL, \"T\" })"),
            "D|T");
  EXPECT_EQ(Value("__print_flags(REC->vec, \"|\", { 2, \"D\" }, { 0, ((void *)0) })"), "D|0x4");
  EXPECT_EQ(Value("__get_str(comm)"), "gzip");
}

TEST_F(TraceExpressionTest, WhatIsNotUnderstoodIsSaid) {
  for (const char* text : {"", "REC->none", "(1", "1 +", "{1}", "__print_hex(REC->comm, 4)", "\"open",
                           "1 ? 2", "__print_flags(REC->vec, \"|\", { 1 })", "sizeof(int)", "12monkeys"})
    EXPECT_EQ(Value(text), "not understood") << text;
}

TEST_F(TraceExpressionTest, NestingIsBounded) {
  EXPECT_EQ(Value(std::string(100'000, '(') + "1"), "not understood");
  EXPECT_EQ(Value(std::string(100'000, '!') + "1"), "not understood");
  std::string sum = "1";
  for (int i = 0; i < 100'000; ++i) sum += "+1";
  EXPECT_EQ(Value(sum), "not understood");
}

}  // namespace
}  // namespace ksamp
