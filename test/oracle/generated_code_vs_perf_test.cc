// SPDX-License-Identifier: Apache-2.0
// Generated code is named as perf names it: the same recording and the same perf-PID.map, sample by sample.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "lib/base/str_cat.h"
#include "test/support/built_tree.h"
#include "test/support/capability.h"
#include "test/support/run_command.h"
#include "test/support/temp_tree.h"

namespace ksamp::testing {
namespace {

using ::testing::Ge;
using ::testing::SizeIs;

// Samples by symbol, of generated code only, from lines "  SAMPLES SYMBOL".
std::map<std::string, uint64_t> CountsOf(const std::string& out) {
  std::map<std::string, uint64_t> counts;
  for (const std::string& line : Lines(out)) {
    const size_t number = line.find_first_not_of(' '), blank = line.find(' ', number);
    if (blank == std::string::npos) continue;
    counts[line.substr(blank + 1)] += std::stoull(line.substr(number, blank - number));
  }
  return counts;
}

TEST(GeneratedCodeVsPerf, EveryFunctionHasTheSameSamples) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  KSAMP_REQUIRE(IsRoot());
  KSAMP_REQUIRE(HasTool("perf"));
  const TempTree tree;
  const CommandResult built = RunCommand(
      tree.root(), StrCat(CCompiler(), " -O1 -o gen ", SourceDir(), "/test/fixtures/generated_code.c"));
  ASSERT_EQ(built.exit_code, 0) << built;
  // The map stays in /tmp until both have read it.
  const CommandResult both = RunCommand(
      tree.root(),
      StrCat(ToolPath(),
             " record -q -e cpu-clock -o x.data sh -c './gen map 100000000 & "
             "echo $! > pid; wait'; "
             "perf script -i x.data -F ip,sym,dso | grep -F .map | sed 's/ ([^)]*)$//; s/^ *[0-9a-f]* //' "
             "| sort | uniq -c > perf.txt; ",
             ToolPath(),
             " report -l --csv -i x.data | grep -F ',anon (' | "
             "sed -E 's/.*,([^,]+),([0-9]+),[0-9]+,[0-9.]+$/\\2 \\1/' > ksamp.txt; "
             "rm /tmp/perf-$(cat pid).map"));
  ASSERT_EQ(both.exit_code, 0) << both;
  const auto perf = CountsOf(RunCommand(tree.root(), "cat perf.txt").out);
  const auto ksamp = CountsOf(RunCommand(tree.root(), "cat ksamp.txt").out);
  EXPECT_THAT(perf, SizeIs(Ge(2u))) << both;
  EXPECT_EQ(perf, ksamp);
}

// perf makes an ELF file of each function and mappings of their times; we read the dump itself.
TEST(GeneratedCodeVsPerf, AJitdumpGivesWhatPerfInjectGives) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  KSAMP_REQUIRE(HasTool("perf"));
  const TempTree tree;
  const CommandResult both =
      RunCommand(tree.root(),
                 StrCat(CCompiler(), " -O1 -o gen ", SourceDir(), "/test/fixtures/generated_code.c && ",
                        "perf record -q -B -k mono -e cpu-clock -c 250689 -o x.data ./gen dump 100000000 && ",
                        "HOME=$PWD perf inject -j -i x.data -o y.data && "
                        "HOME=$PWD perf script -i y.data -F ip,sym,dso | grep -F jitted- | sed 's/ "
                        "([^)]*)$//; s/^ *[0-9a-f]* //' "
                        "| sort | uniq -c > perf.txt; ",
                        ToolPath(),
                        " report -l --csv -i x.data | grep -F ',jit-' | "
                        "sed -E 's/.*,([^,]+),([0-9]+),[0-9]+,[0-9.]+$/\\2 \\1/' > ksamp.txt"));
  ASSERT_EQ(both.exit_code, 0) << both;
  const auto perf = CountsOf(RunCommand(tree.root(), "cat perf.txt").out);
  const auto ksamp = CountsOf(RunCommand(tree.root(), "cat ksamp.txt").out);
  EXPECT_THAT(perf, SizeIs(2u)) << both;
  EXPECT_EQ(perf, ksamp);
}

}  // namespace
}  // namespace ksamp::testing
