// SPDX-License-Identifier: Apache-2.0
// Flame graphs in a browser without a window: the page is opened, its script runs, and what it then shows is
// read back. Zoom and search are asked for by the address, as a link passed on asks for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "test/support/built_tree.h"
#include "test/support/capability.h"
#include "test/support/recording_script.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::HasTool;
using ::ksamp::testing::RecordingScript;
using ::ksamp::testing::SourceDir;
using ::ksamp::testing::TempTree;
using ::ksamp::testing::ToolPath;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

struct LiveFlameGraphTest : ::testing::Test {
  void SetUp() override {
    KSAMP_REQUIRE(HasTool("chromium"));
    MakeGraph(ReadFile(StrCat(SourceDir(), "/test/golden/report/stacks.in")).value_or(""));
  }

  void MakeGraph(const std::string& script) {
    ASSERT_OK_AND_ASSIGN(RecordingScript made, RecordingScript::Parse(script, tree.Path("root")));
    made.builder().WriteTo(tree.Path("x.data"));
    ASSERT_EQ(std::system(StrCat(ToolPath(), " report -i ", tree.Path("x.data"), " -R ", tree.Path("root"),
                                 " --flamegraph ", svg)
                              .c_str()),
              0);
  }

  // The page's elements once its script has run; what the browser's console said is in `console`.
  std::string Page(const std::string& fragment) {
    const std::string dom = tree.Path("dom"), errors = tree.Path("errors");
    const std::string line = StrCat(
        "HOME=", tree.root(), " chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr ",
        "--user-data-dir=", tree.Path("browser"), " --virtual-time-budget=5000 --dump-dom 'file://", svg,
        fragment, "' > ", dom, " 2> ", errors);
    EXPECT_EQ(std::system(line.c_str()), 0);
    console = ReadFile(errors).value_or("");
    return ReadFile(dom).value_or("");
  }

  TempTree tree;
  const std::string svg = tree.Path("x.svg");
  std::string console;
};

TEST_F(LiveFlameGraphTest, SearchingTellsTheShare) {
  const std::string page = Page("#search=walk");
  EXPECT_THAT(page, HasSubstr(">found in 16.67 % (3 frames)<"));
  EXPECT_THAT(page, ContainsRegex("class=\"hit\"[^>]*><title>app::walk"));
  EXPECT_THAT(console, Not(HasSubstr("CONSOLE")));
}

TEST_F(LiveFlameGraphTest, ZoomingShowsOneFrameAndWhatItStandsOn) {
  const std::string all = Page("");
  EXPECT_THAT(all, AllOf(Not(HasSubstr("class=\"gone\"")), Not(HasSubstr("class=\"above\""))));
  const std::string page = Page("#zoom=0");  // the first thread's stacks
  EXPECT_THAT(page, HasSubstr("class=\"gone\""));
  EXPECT_THAT(
      page, ContainsRegex("<title>io-thread[^<]*</title><rect x=\"10.00\" y=\"[0-9.]+\" width=\"1180.00\""));
  EXPECT_THAT(console, Not(HasSubstr("CONSOLE")));
}

TEST_F(LiveFlameGraphTest, ARecordingWithHostileNamesRunsNoScript) {
  MakeGraph(
      "event cpu-clock period=250000 type=1 config=0 stacks\n"
      "file /bin/x <script>console.log(1)</script>@0x1000+0x100 "
      "</title><script>console.log(2)</script>@0x1100+0x100\n"
      "comm 10 <script>a</script>\n"
      "mmap 10 0x400000 0x9000 0 /bin/x\n"
      "sample 10 0 1 user 0x401010 x3 chain=0x401110\n");
  EXPECT_THAT(Page(""), HasSubstr("&lt;script&gt;console.log(1)&lt;/script&gt;"));
  EXPECT_THAT(console, Not(HasSubstr("CONSOLE")));
}

}  // namespace
}  // namespace ksamp
