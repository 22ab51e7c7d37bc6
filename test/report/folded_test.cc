// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "test/report/write.h"

namespace ksamp {
namespace {

using testing::Calls;
using testing::SampleProfile;
using testing::Written;

TEST(Folded, IsALinePerStackByName) {
  EXPECT_EQ(Written(Calls().profile(), {.format = OutputFormat::kFolded}),
            "app;[truncated: deeper than recorded];walk(int);memcpy 8\n"
            "app;main 10\n"
            "app;main;walk(int) 5\n"
            "app;main;walk(int);memcpy 20\n"
            "app;main;walk(int);walk(int);memcpy;page_fault 30\n"
            "app;main;walk(int);walk(int);walk(int) 15\n"
            "io:loop;/lib/bare.so;memcpy 12\n");
}

TEST(Folded, NamesCannotMakeFramesOrLines) {
  SampleProfile p;
  p.Event({.name = "cycles", .period_or_frequency = 1});
  p.Stack({}, {p.Frame(p.File("/a"), "x;y\nz 3\x1b[2J", 1)}, 1);
  EXPECT_EQ(Written(p.profile(), {.format = OutputFormat::kFolded}), "x:y\\x0az 3\\x1b[2J 1\n");
}

}  // namespace
}  // namespace ksamp
