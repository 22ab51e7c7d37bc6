// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "test/report/write.h"

namespace ksamp {
namespace {

using testing::SampleProfile;
using testing::Written;

Profile TwoEvents() {
  SampleProfile p;
  p.Event({.name = "cycles", .period_or_frequency = 10});
  p.Event({.name = "cpu/a,b=1/", .frequency_mode = true, .period_or_frequency = 99});
  const uint32_t image = p.File("/bin/a"), f = p.Symbol("f(int, char)", 0x10);
  p.Count({.app = "a", .comm = "t \"1\"", .pid = 7, .tid = 8, .cpu = 3}, image, f, 0x14, 6);
  p.Count({.app = "a", .comm = "t \"1\"", .pid = 7, .tid = 8, .cpu = 3}, image, f, 0x18, 2);
  p.Count({.event = 1}, p.Kernel(), p.Symbol("k\n", 0x20), 0x20, 1, 500);
  return p.profile();
}

TEST(Csv, HasTheWholeKeyInFixedColumns) {
  EXPECT_EQ(Written(TwoEvents(), {.form = ReportForm::kSymbols, .format = OutputFormat::kCsv}),
            "event,app,comm,pid,tid,cpu,image,symbol,samples,period,percent\n"
            "\"cpu/a,b=1/\",vmlinux,,,,,vmlinux,k\\x0a,1,500,100.000\n"
            "cycles,a,\"t \"\"1\"\"\",7,8,3,a,\"f(int, char)\",8,8000,100.000\n");
}

TEST(Csv, AddressesAreOneMoreColumn) {
  EXPECT_EQ(
      Written(TwoEvents(), {.form = ReportForm::kDetails, .format = OutputFormat::kCsv, .header = false}),
      "\"cpu/a,b=1/\",vmlinux,,,,,vmlinux,k\\x0a,1,500,100.000,0x20\n"
      "cycles,a,\"t \"\"1\"\"\",7,8,3,a,\"f(int, char)\",6,6000,75.0000,0x14\n"
      "cycles,a,\"t \"\"1\"\"\",7,8,3,a,\"f(int, char)\",2,2000,25.0000,0x18\n");
}

TEST(Csv, ImagesHaveNoSymbol) {
  EXPECT_EQ(Written(TwoEvents(), {.format = OutputFormat::kCsv, .header = false}),
            "\"cpu/a,b=1/\",vmlinux,,,,,vmlinux,,1,500,100.000\n"
            "cycles,a,\"t \"\"1\"\"\",7,8,3,a,,8,8000,100.000\n");
}

}  // namespace
}  // namespace ksamp
