// SPDX-License-Identifier: Apache-2.0
// The same recording reported by ksamp and by perf: samples per (comm, image, symbol) must be equal, to the
// sample, but for the differences that doc/differences.md lists. Recordings made by perf and by ksamp, of a
// workload and of the whole machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "lib/base/file_io.h"
#include "test/support/built_tree.h"
#include "test/support/capability.h"
#include "test/support/run_command.h"
#include "test/support/symbol_aliases.h"
#include "test/support/temp_tree.h"

namespace ksamp::testing {
namespace {

// Shell, libraries, an interpreter, many short processes, the kernel: whatever every machine has.
constexpr char kWorkload[] =
    "sh -c 'gzip -c /usr/bin/perf | sha256sum; ls -lR /usr/share; "
    "for i in 1 2 3 4 5 6 7 8 9; do cat /proc/self/maps; done; "
    "python3 -c \"print(sum(i * i for i in range(1000000)))\"' >/dev/null";

struct Row {
  std::string comm, image, symbol;
  friend bool operator<(const Row& a, const Row& b) {
    return std::tie(a.comm, a.image, a.symbol) < std::tie(b.comm, b.image, b.symbol);
  }
};
using Table = std::map<Row, uint64_t>;
constexpr char kUnnamed[] = "(unnamed)";

// The stubs of .plt are named by both tools, but perf 6.1 knows only .plt, not .plt.sec.
bool IsStub(const std::string& symbol) {
  return symbol.ends_with("@plt");
}

std::string Trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

// perf's name of an image -> ours (decision of the format: the kernel is `vmlinux`, a path its basename).
std::string ImageName(const std::string& image) {
  if (image == "[kernel.kallsyms]" || image.starts_with("[guest.kernel")) return "vmlinux";
  if (image == "[unknown]") return kUnnamed;
  return std::string(Basename(image));
}

// Where the thread's name ends in a line of "%16s %16x SYMBOL (IMAGE)"; the name may be longer, and hold
// blanks.
size_t CommEnd(const std::string& line) {
  constexpr size_t kWidth = 16;
  for (size_t end = kWidth; end + kWidth + 1 < line.size(); ++end) {
    const std::string address = line.substr(end + 1, kWidth);
    const size_t digits = address.find_first_not_of(' ');
    if (line[end] == ' ' && line[end + 1 + kWidth] == ' ' && digits != std::string::npos &&
        address.find_first_not_of("0123456789abcdef", digits) == std::string::npos)
      return end;
  }
  return std::string::npos;
}

// Lines of `perf script -F comm,ip,sym,dso`.
Table PerfTable(const std::string& out, SymbolAliases& aliases) {
  constexpr std::string_view kDeleted = " (deleted)";
  Table table;
  for (const std::string& line : Lines(out)) {
    const size_t comm_end = CommEnd(line);
    if (comm_end == std::string::npos || !line.ends_with(')')) continue;
    const size_t name_end = line.size() - 1 - (line.ends_with(" (deleted))") ? kDeleted.size() : 0);
    const size_t open = line.rfind(" (", name_end - 1);
    const std::string image = line.substr(open + 2, name_end - open - 2);
    const std::string place = Trimmed(line.substr(comm_end, open - comm_end));
    const size_t blank = place.find(' ');
    std::string symbol = blank == std::string::npos ? "[unknown]" : place.substr(blank + 1);
    if (symbol == "[unknown]" || IsStub(symbol)) symbol = kUnnamed;
    table[{Trimmed(line.substr(0, comm_end)), ImageName(image),
           symbol == kUnnamed ? symbol : aliases.Canonical(image, symbol)}] += 1;
  }
  return table;
}

Table KsampTable(const std::string& csv, SymbolAliases& aliases) {
  Table table;
  std::map<std::string, size_t> column;
  for (const std::string& line : Lines(csv)) {
    const std::vector<std::string> fields = CsvFields(line);
    if (column.empty()) {
      for (size_t i = 0; i < fields.size(); ++i) column[fields[i]] = i;
      continue;
    }
    const std::string path = fields.at(column.at("image"));
    std::string symbol = fields.at(column.at("symbol"));
    const bool unnamed = symbol.empty() || symbol.front() == '[' || symbol.front() == '/' ||
                         symbol.front() == '(' || IsStub(symbol);
    symbol = unnamed ? kUnnamed : aliases.Canonical(path == "vmlinux" ? "" : path, symbol);
    std::string image = path.empty() || path.starts_with("[unresolved") || path.starts_with("[unknown")
                            ? kUnnamed
                            : ImageName(path);
    table[{fields.at(column.at("comm")), image, symbol}] += std::stoull(fields.at(column.at("samples")));
  }
  return table;
}

std::string Differences(const Table& perf, const Table& ksamp) {
  std::string text;
  std::set<Row> rows;
  for (const auto& [row, count] : perf) rows.insert(row);
  for (const auto& [row, count] : ksamp) rows.insert(row);
  for (const Row& row : rows) {
    const auto p = perf.find(row), k = ksamp.find(row);
    const uint64_t in_perf = p == perf.end() ? 0 : p->second, in_ksamp = k == ksamp.end() ? 0 : k->second;
    if (in_perf != in_ksamp)
      text += row.comm + " | " + row.image + " | " + row.symbol + ": perf " + std::to_string(in_perf) +
              ", ksamp " + std::to_string(in_ksamp) + "\n";
  }
  return text;
}

struct Case {
  std::string name, record;  // the command, which writes r.data
};

class SameCounts : public ::testing::TestWithParam<Case> {};
// -B: perf 6.1 aborts on the build-ids of some files (util/build-id.c:1010).
INSTANTIATE_TEST_SUITE_P(
    Recordings, SameCounts,
    ::testing::Values(
        Case{"OfAWorkloadByPerf",
             std::string("perf record -q -B -e cpu-clock -c 250689 -o r.data -- ") + kWorkload},
        Case{"OfAWorkloadByKsamp", ToolPath() + " record -e cpu-clock -c 250689 -o r.data -- " + kWorkload},
        Case{"OfTheMachineByPerf",
             std::string("perf record -q -B -a -e cpu-clock -c 250689 -o r.data -- ") + kWorkload},
        Case{"OfTheMachineByKsamp",
             ToolPath() + " record -a -e cpu-clock -c 250689 -o r.data -- " + kWorkload}),
    [](const auto& tested) { return tested.param.name; });

TEST_P(SameCounts, PerCommImageAndSymbol) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  KSAMP_REQUIRE(HasTool("perf"));
  KSAMP_REQUIRE(HasTool("nm"));
  const TempTree tree;
  const CommandResult recorded = RunCommand(tree.root(), GetParam().record);
  ASSERT_EQ(recorded.exit_code, 0) << recorded;
  const CommandResult by_perf =
      RunCommand(tree.root(), "perf script -i r.data --no-demangle -F comm,ip,sym,dso");
  ASSERT_EQ(by_perf.exit_code, 0) << by_perf;
  const CommandResult by_ksamp =
      RunCommand(tree.root(), ToolPath() + " report -l --csv -f --idle -D none --separate=comm -i r.data");
  ASSERT_EQ(by_ksamp.exit_code, 0) << by_ksamp;

  SymbolAliases aliases(tree.root());
  const Table perf = PerfTable(by_perf.out, aliases), ksamp = KsampTable(by_ksamp.out, aliases);
  uint64_t samples = 0;
  for (const auto& [row, count] : perf) samples += count;
  ASSERT_GE(samples, 100u) << by_perf;
  EXPECT_EQ(Differences(perf, ksamp), "") << samples << " samples; " << by_ksamp.err;
}

}  // namespace
}  // namespace ksamp::testing
