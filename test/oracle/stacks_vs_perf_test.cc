// SPDX-License-Identifier: Apache-2.0
// Stacks of the same recording by ksamp and by perf: `report --folded` has the stacks that `perf script` has,
// as often; `--children` and the call graph's arcs are what a count by hand over perf's chains gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "lib/base/str_cat.h"
#include "test/support/built_tree.h"
#include "test/support/capability.h"
#include "test/support/run_command.h"
#include "test/support/temp_tree.h"

namespace ksamp::testing {
namespace {

using ::testing::Gt;
using ::testing::SizeIs;

// Calls with and without recursion, by two ways to one function. Frame pointers everywhere.
constexpr char kProgram[] = R"(
#define NOINLINE __attribute__((noinline))
volatile unsigned long sink;
NOINLINE void spin(int n) { for (int i = 0; i < n; ++i) sink += i; __asm__ volatile(""); }
NOINLINE void left(void) { spin(1500); __asm__ volatile(""); }
NOINLINE void right(void) { spin(500); left(); __asm__ volatile(""); }
NOINLINE void descend(int depth) { spin(100); if (depth > 0) descend(depth - 1); __asm__ volatile(""); }
int main(void) {
  for (int i = 0; i < 60000; ++i) { left(); right(); descend(4); }
  return 0;
}
)";

using Stack = std::vector<std::string>;  // the outermost function first
using Stacks = std::map<Stack, uint64_t>;

const std::set<std::string> kFunctions = {"main", "left", "right", "descend", "spin"};

// From main inwards: what runs before main has several names, and perf takes another than we do. Without main
// (a sample in a prologue, where the caller is not on the chain of frames yet) nothing.
Stack FromMain(const Stack& stack) {
  for (size_t i = 0; i < stack.size(); ++i)
    if (stack[i] == "main") return Stack(stack.begin() + static_cast<std::ptrdiff_t>(i), stack.end());
  return {};
}

// Blocks of "ADDRESS SYMBOL" lines, the sampled one first, with an empty line between.
Stacks StacksOfPerfScript(const std::string& text) {
  Stacks stacks;
  Stack stack;
  for (const std::string& line : Lines(text + "\n\n")) {
    std::istringstream words(line);
    std::string address, symbol;
    if (words >> address >> symbol) {
      stack.insert(stack.begin(), symbol);
    } else if (!stack.empty()) {
      ++stacks[stack];
      stack.clear();
    }
  }
  return stacks;
}

Stacks FromMain(const Stacks& stacks) {
  Stacks cut;
  for (const auto& [stack, samples] : stacks) cut[FromMain(stack)] += samples;
  return cut;
}

Stacks StacksOfFolded(const std::string& text) {
  Stacks stacks;
  for (const std::string& line : Lines(text)) {
    const size_t blank = line.rfind(' ');
    std::istringstream frames(line.substr(0, blank));
    Stack stack;
    for (std::string frame; std::getline(frames, frame, ';');) stack.push_back(frame);
    stacks[stack] += std::stoull(line.substr(blank));
  }
  return stacks;
}

struct StacksVsPerf : ::testing::Test {
  void SetUp() override {
    KSAMP_REQUIRE(CanSample());
    KSAMP_REQUIRE(HasTool("perf"));
    const CommandResult made =
        Run("cat > x.c << 'END'" + std::string(kProgram) + "END\n" + ShellQuoted(CCompiler()) +
            " -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o x x.c");
    ASSERT_EQ(made.exit_code, 0) << made;
  }
  CommandResult Run(const std::string& command) { return RunCommand(tree.root(), "set -e; " + command); }

  void Record(const std::string& by) {
    const CommandResult recorded = Run(by);
    ASSERT_EQ(recorded.exit_code, 0) << recorded;
    const CommandResult script = Run("perf script -i r.data -F ip,sym --no-inline 2> script.err");
    ASSERT_EQ(script.exit_code, 0) << script;
    perfs = StacksOfPerfScript(script.out);
    ASSERT_THAT(perfs, SizeIs(Gt(7u))) << script.out.substr(0, 2000);
  }

  std::string Report(const std::string& options) {
    const CommandResult report = Run(StrCat(ShellQuoted(ToolPath()), " report -i r.data ", options));
    EXPECT_EQ(report.exit_code, 0) << report;
    return report.out;
  }

  void ExpectSameStacks() { EXPECT_EQ(FromMain(StacksOfFolded(Report("--folded"))), FromMain(perfs)); }

  TempTree tree;
  Stacks perfs;
};

TEST_F(StacksVsPerf, FoldedStacksOfPerfsRecording) {
  Record("perf record -q -B -g -e cpu-clock:u -F 4999 -o r.data ./x");
  ExpectSameStacks();
}

TEST_F(StacksVsPerf, FoldedStacksOfOurRecording) {
  Record(StrCat(ShellQuoted(ToolPath()), " record -q -g -e cpu-clock:u -F 4999 -o r.data ./x"));
  ExpectSameStacks();
}

TEST_F(StacksVsPerf, ChildrenAreSamplesOfStacksThatHoldTheFunction) {
  Record("perf record -q -B -g -e cpu-clock:u -F 4999 -o r.data ./x");
  std::map<std::string, std::pair<uint64_t, uint64_t>> expected, found;  // by function: total, self
  for (const auto& [stack, samples] : perfs) {
    for (const std::string& function : kFunctions)
      if (std::find(stack.begin(), stack.end(), function) != stack.end()) expected[function].first += samples;
    if (kFunctions.count(stack.back()) == 1) expected[stack.back()].second += samples;
  }
  for (const std::string& line : Lines(Report("--children -n"))) {
    std::istringstream words(line);
    std::string total, share, self, self_share, image, symbol;
    words >> total >> share >> self >> self_share >> image >> symbol;
    if (kFunctions.count(symbol) == 1) found[symbol] = {std::stoull(total), std::stoull(self)};
  }
  EXPECT_THAT(expected, SizeIs(kFunctions.size()));
  EXPECT_EQ(found, expected);
}

// "function > callee" -> samples, of the call graph's blocks.
std::map<std::string, uint64_t> ArcsOf(const std::string& report) {
  std::map<std::string, uint64_t> arcs;
  std::string function;
  for (const std::string& line : Lines(report)) {
    std::istringstream words(line);
    std::string samples, share, image, symbol, self;
    if (!(words >> samples >> share >> image >> symbol)) {
      function.clear();  // The rule below a block.
    } else if (line[0] != ' ') {
      function = symbol;
    } else if (!function.empty() && !(words >> self)) {
      arcs[StrCat(function, " > ", symbol)] = std::stoull(samples);
    }
  }
  return arcs;
}

TEST_F(StacksVsPerf, TheCallGraphHasTheCallsOfTheStacks) {
  Record("perf record -q -B -g -e cpu-clock:u -F 4999 -o r.data ./x");
  std::map<std::string, uint64_t> expected;
  for (const auto& [stack, samples] : perfs) {
    std::set<std::string> calls;  // A stack counts once, however often it has a call.
    for (size_t i = 1; i < stack.size(); ++i)
      if (kFunctions.count(stack[i - 1]) == 1 && kFunctions.count(stack[i]) == 1)
        calls.insert(StrCat(stack[i - 1], " > ", stack[i]));
    for (const std::string& call : calls) expected[call] += samples;
  }
  const std::map<std::string, uint64_t> arcs = ArcsOf(Report("-c -n"));
  for (const auto& [call, samples] : expected) {
    const auto found = arcs.find(call);
    ASSERT_NE(found, arcs.end()) << call;
    EXPECT_EQ(found->second, samples) << call;
  }
  EXPECT_EQ(expected.count("descend > descend"), 1u);
}

}  // namespace
}  // namespace ksamp::testing
