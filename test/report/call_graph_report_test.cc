// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/report/write.h"

namespace ksamp {
namespace {

using testing::Calls;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::Written;

const std::string kRule(79, '-');

TEST(CallGraphReport, IsOpreportsFromRealStacks) {
  const std::string blocks = Written(Calls().profile(), {.form = ReportForm::kCallGraph, .header = false});
  EXPECT_EQ(blocks,
            "  12       17.1429  bare.so                  /lib/bare.so\n"
            "  58       82.8571  app                      walk(int)\n"
            "40       40.0000  libc.so.6                memcpy\n"
            "  40       57.1429  libc.so.6                memcpy [self]\n"
            "  30       42.8571  vmlinux                  page_fault\n" +
                kRule +
                "\n"
                "  30       100.000  libc.so.6                memcpy\n"
                "30       30.0000  vmlinux                  page_fault\n"
                "  30       100.000  vmlinux                  page_fault [self]\n" +
                kRule +
                "\n"
                "  8         6.5041  [unknown]                [truncated: deeper than recorded]\n"
                "  45       36.5854  app                      walk(int)\n"
                "  70       56.9106  app                      main\n"
                "20       20.0000  app                      walk(int)\n"
                "  58       47.1545  libc.so.6                memcpy\n"
                "  45       36.5854  app                      walk(int)\n"
                "  20       16.2602  app                      walk(int) [self]\n" +
                kRule +
                "\n"
                "10       10.0000  app                      main\n"
                "  70       87.5000  app                      walk(int)\n"
                "  10       12.5000  app                      main [self]\n" +
                kRule +
                "\n"
                "0              0  [unknown]                [truncated: deeper than recorded]\n"
                "  8        100.000  app                      walk(int)\n"
                "  0              0  [unknown]                [truncated: deeper than recorded] [self]\n" +
                kRule +
                "\n"
                "0              0  bare.so                  /lib/bare.so\n"
                "  12       100.000  libc.so.6                memcpy\n"
                "  0              0  bare.so                  /lib/bare.so [self]\n" +
                kRule + "\n");
}

TEST(CallGraphReport, GlobalPercentIsOfEverything) {
  EXPECT_THAT(
      Written(Calls().profile(), {.form = ReportForm::kCallGraph, .global_percent = true, .header = false}),
      StartsWith("  12       12.0000  bare.so                  /lib/bare.so\n"
                 "  58       58.0000  app                      walk(int)\n"
                 "40       40.0000  libc.so.6                memcpy\n"
                 "  40       40.0000  libc.so.6                memcpy [self]\n"
                 "  30       30.0000  vmlinux                  page_fault\n"));
}

TEST(CallGraphReport, HeaderTellsWhatTheThresholdHides) {
  const std::string text = Written(Calls().profile(), {.form = ReportForm::kCallGraph, .threshold = 25});
  EXPECT_THAT(text, HasSubstr("; 30 samples below the threshold; "));
  EXPECT_THAT(text, HasSubstr("\nsamples  %        image name               symbol name\n" + kRule + "\n"));
}

TEST(ChildrenReport, ListsFunctionsWithAllTheyCall) {
  EXPECT_EQ(
      Written(Calls().profile(), {.form = ReportForm::kChildren, .header = false}),
      "80       80.0000  10       10.0000  app                      main\n"
      "78       78.0000  20       20.0000  app                      walk(int)\n"
      "70       70.0000  40       40.0000  libc.so.6                memcpy\n"
      "30       30.0000  30       30.0000  vmlinux                  page_fault\n"
      "12       12.0000  0              0  bare.so                  /lib/bare.so\n"
      "8         8.0000  0              0  [unknown]                [truncated: deeper than recorded]\n");
  EXPECT_THAT(Written(Calls().profile(), {.form = ReportForm::kChildren}),
              HasSubstr("\nsamples  %        self     self %   image name               symbol name\n"));
}

}  // namespace
}  // namespace ksamp
