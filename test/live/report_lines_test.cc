// SPDX-License-Identifier: Apache-2.0
// The lines people type, by a real shell with pipefail, on a recording of this machine: what they print is
// right, they end well, and they say nothing beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "test/support/built_tree.h"
#include "test/support/capability.h"
#include "test/support/run_command.h"
#include "test/support/temp_tree.h"

namespace ksamp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kBusyProgram[] =
    "__attribute__((noinline)) void ksamp_busy_function(long n) { for (; n > 0; --n) __asm__ volatile(\"\"); "
    "}\n"
    "int main(void) { ksamp_busy_function(1500000000L); return 0; }\n";

// One recording for all lines.
class ReportLines : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (CanSampleSystemWide() || HasTool("bash")) return;  // each test says so
    tree_ = std::make_unique<TempTree>();
    tree_->Write("busy.c", kBusyProgram);
    const CommandResult made =
        RunCommand(tree_->root(), std::string("'") + CCompiler() + "' -O1 -o busy busy.c && '" + ToolPath() +
                                      "' record -q -a ./busy");
    ASSERT_EQ(made.exit_code, 0) << made;
  }
  static void TearDownTestSuite() { tree_.reset(); }
  void SetUp() override {
    KSAMP_REQUIRE(CanSampleSystemWide());
    KSAMP_REQUIRE(HasTool("bash"));
    ASSERT_NE(tree_, nullptr);
  }

  // The line, as typed; `ksamp` is the built tool.
  static CommandResult Typed(const std::string& line) {
    const std::string script =
        std::string("set -o pipefail; ksamp() { '") + ToolPath() + "' \"$@\"; }; " + line;
    return RunCommand(tree_->root(), "bash -c " + ShellQuoted(script));
  }

  static std::unique_ptr<TempTree> tree_;
};
std::unique_ptr<TempTree> ReportLines::tree_;

// The line ended well and wrote nothing to standard error.
void ExpectQuiet(const CommandResult& result) {
  EXPECT_EQ(result.exit_code, 0) << result;
  EXPECT_EQ(result.err, "") << result;
}

TEST_F(ReportLines, ImagesThroughHead) {
  const CommandResult result = Typed("ksamp report | head");
  ExpectQuiet(result);
  EXPECT_THAT(Lines(result.out), SizeIs(10)) << result;
  EXPECT_THAT(result.out, AllOf(StartsWith("CPU: "), HasSubstr("\nCounted "))) << result;
  EXPECT_THAT(result.out, AllOf(Not(HasSubstr("dummy")), Not(HasSubstr("\\x0a")))) << result;
}

TEST_F(ReportLines, SymbolsThroughHeadShowRows) {
  const CommandResult result = Typed("ksamp report -l | head");
  ExpectQuiet(result);
  // As opreport: the columns of image and application are there where they tell something.
  const std::vector<std::string> lines = Lines(result.out);
  const auto header = std::find_if(lines.begin(), lines.end(),
                                   [](const std::string& line) { return line.starts_with("samples  %  "); });
  ASSERT_NE(header, lines.end()) << result;
  ASSERT_GT(lines.end() - header, 1) << result;
  std::string row = "[0-9]+ +[0-9.e-]+";
  for (const char* column : {" image name ", " app name "})
    if (header->find(column) != std::string::npos) row += " +[^ ]+";
  EXPECT_THAT(*header, ::testing::EndsWith(" symbol name")) << result;
  for (auto line = header + 1; line != lines.end(); ++line)
    EXPECT_THAT(*line, MatchesRegex(row + " +[^ ].*")) << result;
}

TEST_F(ReportLines, GrepForANameInTheFirstHundred) {
  const CommandResult result = Typed("ksamp report -l 2>&1 | head -n 100 | grep ksamp_busy_function");
  ExpectQuiet(result);
  ASSERT_THAT(Lines(result.out), SizeIs(1)) << result;
  EXPECT_THAT(Lines(result.out)[0],
              MatchesRegex("[0-9]+ +[ 0-9]?[0-9]\\.[0-9]+ +busy +busy +ksamp_busy_function"));
}

TEST_F(ReportLines, DetailsStandBelowTheirSymbol) {
  const CommandResult result =
      Typed("ksamp report -d -l | grep -A 3 ksamp_busy_function | head -n 2 | tail -n 1 | cut -c 1-2");
  EXPECT_EQ(result.out, "  \n") << result;
  const CommandResult first = Typed("ksamp report -d -l | head -n 1");
  ExpectQuiet(first);
  EXPECT_THAT(first.out, StartsWith("CPU: "));
}

TEST_F(ReportLines, AddressesAreThoseNmPrints) {
  const CommandResult result = Typed(
      "ksamp report -l -w -p ./ | awk '/ksamp_busy_function/ {print $1}' && "
      "nm busy | awk '/ksamp_busy_function/ {print $1}'");
  ExpectQuiet(result);
  const std::vector<std::string> addresses = Lines(result.out);
  ASSERT_THAT(addresses, SizeIs(2)) << result;
  EXPECT_EQ(addresses[0], addresses[1]);
}

TEST_F(ReportLines, ModulesBelowAFolder) {
  const CommandResult result = Typed("ksamp report -n -p ./");
  ExpectQuiet(result);
  EXPECT_THAT(result.out,
              MatchesRegex("[0-9]+ +[0-9.]+ +busy\n  [0-9]+ +[0-9.]+ +ksamp_busy_function\n(.|\n)*"));
}

TEST_F(ReportLines, SortedAgainByTheShell) {
  const CommandResult result =
      Typed("ksamp report -l | sort -k2,2nr | awk '{print $5}' | grep -x ksamp_busy_function");
  ExpectQuiet(result);
  EXPECT_EQ(result.out, "ksamp_busy_function\n") << result;
}

TEST_F(ReportLines, AReaderThatLeavesIsNobodysMistake) {
  for (const char* line :
       {"ksamp report -d -l | true", "ksamp report --csv -d | head -n 1 > first",
        "ksamp report --json -d | head -c 1 > first", "ksamp report -X -d | head -n 1 > first"})
    ExpectQuiet(Typed(line));
}

TEST_F(ReportLines, JsonAndXmlAreReadByOtherPrograms) {
  KSAMP_REQUIRE(HasTool("python3"));
  const CommandResult json = Typed(
      "ksamp report --json -d | python3 -c 'import json,sys; r=json.load(sys.stdin); "
      "print(sum(x[\"samples\"] for x in r[\"rows\"]) == sum(e[\"counted\"] for e in r[\"events\"]))'");
  ExpectQuiet(json);
  EXPECT_EQ(json.out, "True\n");
  const CommandResult xml = Typed(
      "ksamp report -X -d | python3 -c 'import sys, xml.etree.ElementTree as t; "
      "r=t.parse(sys.stdin).getroot(); "
      "print(r.tag, len(r.findall(\"./binary\")) > 0, len(r.findall(\"./symboltable/symboldata\")) > 0)'");
  ExpectQuiet(xml);
  EXPECT_EQ(xml.out, "profile True True\n");
}

}  // namespace
}  // namespace ksamp::testing
