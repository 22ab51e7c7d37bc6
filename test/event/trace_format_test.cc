// SPDX-License-Identifier: Apache-2.0
#include "lib/event/trace_format.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

constexpr char kFields[] =
    "name: made_up\nID: 314\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
    "\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:int err;\toffset:16;\tsize:4;\tsigned:1;\n"
    "\tfield:__u8 addr[4];\toffset:20;\tsize:4;\tsigned:0;\n"
    "\tfield:void * skb;\toffset:24;\tsize:8;\tsigned:0;\n\n";

std::vector<std::byte> Raw() {
  std::vector<std::byte> raw(32);
  const int32_t err = -110;
  const uint64_t skb = 0xffff888000000010;
  const unsigned char addr[] = {10, 0, 0, 7};
  std::memcpy(raw.data() + 8, "gzip", 5);
  std::memcpy(raw.data() + 16, &err, 4);
  std::memcpy(raw.data() + 20, addr, 4);
  std::memcpy(raw.data() + 24, &skb, 8);
  return raw;
}

std::string Shown(const std::string& print_format) {
  const std::optional<TraceFormat> format =
      TraceFormat::Parse(StrCat(kFields, "print fmt: ", print_format, "\n"));
  if (!format) return "no format";
  std::string text;
  format->AppendText(Raw(), text);
  return text;
}

TEST(TraceFormatTest, FollowsThePrintFormat) {
  const std::pair<const char*, const char*> cases[] = {
      {"\"comm=%s err=%d\", REC->comm, REC->err", "comm=gzip err=-110"},
      {"\"%8s|%-6s|\", REC->comm, \"ab\"", "    gzip|ab    |"},
      {"\"%08lx %hu %u%%\", (unsigned long)5, 65537, 7", "00000005 1 7%"},
      {"\"to %pI4 %p\", REC->addr, REC->skb", "to 10.0.0.7 0xffff888000000010"},
      {"\"%pS\", (void *)REC->skb", "0xffff888000000010"},
      {"\"%c%s\", 65, REC->err ? \"+\" : \"\"", "A+"},
      {"\"nothing\"", "nothing"},
  };
  for (const auto& [print_format, text] : cases) EXPECT_EQ(Shown(print_format), text) << print_format;
}

TEST(TraceFormatTest, ShowsEveryFieldWhereItIsNotUnderstood) {
  const std::string fields = " comm=gzip err=-110 addr=0a000007 skb=0xffff888000000010";
  for (const char* print_format : {"\"%s\", __print_hex(REC->comm, 4)", "\"%*d\", 3, REC->err", "\"%d\"",
                                   "\"%d\", REC->err, REC->err", "REC->comm", "\"%99999d\", REC->err", ""})
    EXPECT_EQ(Shown(print_format), fields) << print_format;
}

TEST(TraceFormatTest, NeedsANumberAndAName) {
  const std::optional<TraceFormat> format = TraceFormat::Parse(kFields);
  ASSERT_TRUE(format.has_value());
  EXPECT_EQ(format->id(), 314u);
  EXPECT_EQ(format->name(), "made_up");
  EXPECT_FALSE(format->follows_print_format());
  EXPECT_FALSE(TraceFormat::Parse("name: x\n").has_value());
  EXPECT_FALSE(TraceFormat::Parse("ID: 1\n").has_value());
}

TEST(TraceFormatTest, ShortSamplesShowZeros) {
  const std::optional<TraceFormat> format =
      TraceFormat::Parse(StrCat(kFields, "print fmt: \"%s %d %pI4\", REC->comm, REC->err, REC->addr\n"));
  ASSERT_TRUE(format.has_value());
  std::string text;
  format->AppendText({}, text);
  EXPECT_EQ(text, " 0 (nil)");
}

}  // namespace
}  // namespace ksamp
