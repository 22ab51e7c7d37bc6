// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/report/write.h"

namespace ksamp {
namespace {

using testing::SampleProfile;
using testing::Written;

Profile Small() {
  SampleProfile p;
  p.Event({.name = "cycles<&>", .period_or_frequency = 100});
  p.profile().facts = {.cpu_desc = "Example \"CPU\"", .arch = "x86_64", .cpu_mhz = 2096};
  const uint32_t a = p.File("/bin/a"), libc = p.File("/lib/libc.so.6");
  p.Count({.app = "a", .cpu = 0}, a, p.Symbol("operator<", 0x10, 0x20), 0x14, 3);
  p.Count({.app = "a", .cpu = 1}, libc, p.Symbol("memcpy\x1b", 0x90, 0x8), 0x94, 2);
  return p.profile();
}

TEST(Xml, IsOpreportsTree) {
  EXPECT_EQ(
      Written(Small(), {.form = ReportForm::kDetails, .format = OutputFormat::kXml, .tool_version = "1"}),
      "<?xml version=\"1.0\" encoding=\"utf-8\" ?>\n"
      "<profile title=\"ksamp report\" schemaversion=\"3.0\" cputype=\"Example &quot;CPU&quot;\" "
      "processor=\"x86_64\" "
      "mhz=\"2096\">\n"
      "<options debuginfo=\"false\" details=\"true\" tool=\"ksamp 1\"/>\n"
      "<setup>\n<eventsetup id=\"0\" eventname=\"cycles&lt;&amp;&gt;\" setupcount=\"100\"/>\n</setup>\n"
      "<binary name=\"/bin/a\"><count>5</count>\n"
      "<symbol idref=\"0\" detaillo=\"0\" detailhi=\"0\"><count>3</count></symbol>\n"
      "<module name=\"/lib/libc.so.6\"><count>2</count>\n"
      "<symbol idref=\"1\" detaillo=\"1\" detailhi=\"1\"><count>2</count></symbol>\n"
      "</module>\n</binary>\n"
      "<symboltable>\n"
      "<symboldata id=\"0\" name=\"operator&lt;\" startingaddr=\"0x10\" codelength=\"32\"/>\n"
      "<symboldata id=\"1\" name=\"memcpy\\x1b\" startingaddr=\"0x90\" codelength=\"8\"/>\n"
      "</symboltable>\n"
      "<detailtable>\n"
      "<symboldetails id=\"0\">\n<detaildata id=\"0\" "
      "vmaoffset=\"0x14\"><count>3</count></detaildata>\n</symboldetails>\n"
      "<symboldetails id=\"1\">\n<detaildata id=\"1\" "
      "vmaoffset=\"0x94\"><count>2</count></detaildata>\n</symboldetails>\n"
      "</detailtable>\n"
      "</profile>\n");
}

TEST(Xml, CountsNameTheirClass) {
  const std::string text = Written(Small(), {.format = OutputFormat::kXml, .classes = ClassAxis::kCpu});
  EXPECT_THAT(text, ::testing::HasSubstr("<classes>\n<class name=\"cpu:0\" event=\"0\" cpu=\"0\"/>\n"
                                         "<class name=\"cpu:1\" event=\"0\" cpu=\"1\"/>\n</classes>\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("<binary name=\"/bin/a\"><count class=\"cpu:0\">3</count>"
                                         "<count class=\"cpu:1\">2</count>\n<module name=\"/lib/libc.so.6\">"
                                         "<count class=\"cpu:1\">2</count>\n</module>\n</binary>\n"));
}

}  // namespace
}  // namespace ksamp
