// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "test/report/write.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using testing::Calls;
using ::testing::HasSubstr;
using testing::StatusIs;
using testing::Written;

TEST(TreeReport, CallersFirst) {
  EXPECT_EQ(Written(Calls().profile(), {.form = ReportForm::kCallerTree, .header = false}),
            "88       88.0000  0                                 app\n"
            "80       80.0000  10       app                        main\n"
            "70       70.0000  5        app                          walk(int)\n"
            "45       45.0000  0        app                            walk(int)\n"
            "30       30.0000  0        libc.so.6                        memcpy\n"
            "30       30.0000  30       vmlinux                            page_fault\n"
            "15       15.0000  15       app                              walk(int)\n"
            "20       20.0000  20       libc.so.6                      memcpy\n"
            "8         8.0000  0        [unknown]                  [truncated: deeper than recorded]\n"
            "8         8.0000  0        app                          walk(int)\n"
            "8         8.0000  8        libc.so.6                      memcpy\n"
            "12       12.0000  0                                 io;loop\n"
            "12       12.0000  0        bare.so                    /lib/bare.so\n"
            "12       12.0000  12       libc.so.6                    memcpy\n");
}

TEST(TreeReport, WhatTheThresholdHidesIsALineSoTheSumsHold) {
  EXPECT_EQ(Written(Calls().profile(), {.form = ReportForm::kCallerTree, .header = false, .threshold = 25}),
            "88       88.0000  0                                 app\n"
            "80       80.0000  10       app                        main\n"
            "70       70.0000  5        app                          walk(int)\n"
            "45       45.0000  0        app                            walk(int)\n"
            "30       30.0000  0        libc.so.6                        memcpy\n"
            "30       30.0000  30       vmlinux                            page_fault\n"
            "15       15.0000  15                                        [1 below the threshold]\n"
            "20       20.0000  20                                      [1 below the threshold]\n"
            "8         8.0000  8                                   [1 below the threshold]\n"
            "12       12.0000  12                                [1 below the threshold]\n");
}

TEST(TreeReport, SampledFunctionsFirst) {
  EXPECT_EQ(Written(Calls().profile(), {.form = ReportForm::kCalleeTree, .header = false}),
            "40       40.0000  0        libc.so.6                memcpy\n"
            "28       28.0000  0        app                        walk(int)\n"
            "20       20.0000  0        app                          main\n"
            "20       20.0000  20                                      app\n"
            "8         8.0000  0        [unknown]                    [truncated: deeper than recorded]\n"
            "8         8.0000  8                                       app\n"
            "12       12.0000  0        bare.so                    /lib/bare.so\n"
            "12       12.0000  12                                    io;loop\n"
            "30       30.0000  0        vmlinux                  page_fault\n"
            "30       30.0000  0        libc.so.6                  memcpy\n"
            "30       30.0000  0        app                          walk(int)\n"
            "30       30.0000  0        app                            walk(int)\n"
            "30       30.0000  0        app                              main\n"
            "30       30.0000  30                                          app\n"
            "20       20.0000  0        app                      walk(int)\n"
            "15       15.0000  0        app                        walk(int)\n"
            "15       15.0000  0        app                          walk(int)\n"
            "15       15.0000  0        app                            main\n"
            "15       15.0000  15                                        app\n"
            "5         5.0000  0        app                        main\n"
            "5         5.0000  5                                     app\n"
            "10       10.0000  0        app                      main\n"
            "10       10.0000  10                                  app\n");
}

TEST(TreeReport, AroundOneFunction) {
  EXPECT_EQ(
      Written(Calls().profile(), {.form = ReportForm::kCallGraphOf, .header = false, .symbol = "memcpy"}),
      "Called by, from memcpy outwards:\n"
      "70       100.000  0        libc.so.6                memcpy\n"
      "58       82.8571  0        app                        walk(int)\n"
      "30       42.8571  0        app                          walk(int)\n"
      "30       42.8571  0        app                            main\n"
      "30       42.8571  30                                        app\n"
      "20       28.5714  0        app                          main\n"
      "20       28.5714  20                                      app\n"
      "8        11.4286  0        [unknown]                    [truncated: deeper than recorded]\n"
      "8        11.4286  8                                       app\n"
      "12       17.1429  0        bare.so                    /lib/bare.so\n"
      "12       17.1429  12                                    io;loop\n"
      "\n"
      "Calls, from memcpy inwards:\n"
      "70       100.000  40       libc.so.6                memcpy\n"
      "30       42.8571  30       vmlinux                    page_fault\n");
}

TEST(TreeReport, AFunctionThatIsNotThereIsSaid) {
  std::ostringstream out;
  EXPECT_THAT(WriteReport(Calls().profile(), {.form = ReportForm::kCallGraphOf, .symbol = "mem"}, out),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("call graph of mem: no stack holds")));
}

}  // namespace
}  // namespace ksamp
