// SPDX-License-Identifier: Apache-2.0
// A program whose three functions cost 1 : 2 : 3 must be found with that ratio, in the image that holds them:
// an executable or a shared library, position-independent or not, by each linker, stripped with its symbols
// elsewhere, loaded at run time, after fork and after exec. What fails here is an address translated wrongly
// or a mapping missed.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "lib/base/file_io.h"
#include "test/support/built_tree.h"
#include "test/support/capability.h"
#include "test/support/run_command.h"
#include "test/support/temp_tree.h"

namespace ksamp::testing {
namespace {

constexpr uint64_t kFewestSamples = 500;  // fewer would not tell 1 : 2 : 3 from chance

struct Case {
  std::string name;
  std::string needs;  // a tool, besides the compiler
  std::string build;  // commands, in an empty folder; $CC, $FLAGS, $SRC, $MAIN are set
  std::string run;
  std::string image;           // basename of the image that holds the functions
  std::string report_options;  // where symbols are, if the report has to be told
};

std::ostream& operator<<(std::ostream& stream, const Case& c) {
  return stream << c.name;
}

// Symbols away from the image, as distributions ship them: in DIR/.build-id/, and in .debug/ beside it.
constexpr char kStripToBuildIdFolder[] =
    " && id=$(readelf -n $IMAGE | sed -n 's/.*Build ID: //p') && d=symbols/.build-id/$(echo $id | cut -c1-2)"
    " && mkdir -p $d && objcopy --only-keep-debug $IMAGE $d/$(echo $id | cut -c3-).debug && strip $IMAGE";
constexpr char kStripToDotDebug[] =
    " && mkdir .debug && objcopy --only-keep-debug $IMAGE .debug/$IMAGE.debug && strip $IMAGE"
    " && objcopy --add-gnu-debuglink=.debug/$IMAGE.debug $IMAGE";

std::string Library(const std::string& linker) {
  return "$CC $FLAGS -fuse-ld=" + linker +
         " -fPIC -shared -o libthree.so $SRC && $CC $FLAGS -o prog $MAIN ./libthree.so";
}

std::string Executable(const std::string& options) {
  return "$CC $FLAGS " + options + " -o prog $SRC $MAIN -ldl";
}

const Case kCases[] = {
    {"PieByBfd", "ld.bfd", Executable("-fuse-ld=bfd -pie -fPIE"), "./prog", "prog", ""},
    {"PieByGold", "ld.gold", Executable("-fuse-ld=gold -pie -fPIE"), "./prog", "prog", ""},
    {"PieByLld", "ld.lld", Executable("-fuse-ld=lld -pie -fPIE"), "./prog", "prog", ""},
    {"FixedAddressByBfd", "ld.bfd", Executable("-fuse-ld=bfd -no-pie -fno-pie"), "./prog", "prog", ""},
    {"FixedAddressByGold", "ld.gold", Executable("-fuse-ld=gold -no-pie -fno-pie"), "./prog", "prog", ""},
    {"FixedAddressByLld", "ld.lld", Executable("-fuse-ld=lld -no-pie -fno-pie"), "./prog", "prog", ""},
    {"LibraryByBfd", "ld.bfd", Library("bfd"), "./prog", "libthree.so", ""},
    {"LibraryByGold", "ld.gold", Library("gold"), "./prog", "libthree.so", ""},
    {"LibraryByLld", "ld.lld", Library("lld"), "./prog", "libthree.so", ""},
    {"StrippedExecutable", "objcopy", Executable("") + " && IMAGE=prog" + kStripToDotDebug, "./prog", "prog",
     ""},
    {"StrippedLibrary", "objcopy", Library("bfd") + " && IMAGE=libthree.so" + kStripToBuildIdFolder, "./prog",
     "libthree.so", "--debug-dir symbols"},
    {"Dlopen", "",
     "$CC $FLAGS -fPIC -shared -o libthree.so $SRC && $CC $FLAGS -DDLOPEN_ONLY -o prog $MAIN -ldl",
     "./prog dlopen ./libthree.so", "libthree.so", ""},
    {"AfterFork", "", Executable(""), "./prog fork", "prog", ""},
    {"AfterExec", "", Executable("") + " && cp prog other", "./prog exec ./other", "other", ""},
};

// Samples of each symbol of `image`, from `ksamp report --csv`.
std::map<std::string, uint64_t> SymbolsOf(const std::string& image, const std::string& csv) {
  std::map<std::string, uint64_t> samples;
  std::map<std::string, size_t> column;
  for (const std::string& line : Lines(csv)) {
    const std::vector<std::string> fields = CsvFields(line);
    if (column.empty()) {
      for (size_t i = 0; i < fields.size(); ++i) column[fields[i]] = i;
      continue;
    }
    if (Basename(fields.at(column.at("image"))) != image) continue;
    samples[fields.at(column.at("symbol"))] += std::stoull(fields.at(column.at("samples")));
  }
  return samples;
}

class KnownRatio : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Images, KnownRatio, ::testing::ValuesIn(kCases),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(KnownRatio, IsFoundWithinSamplingError) {
  KSAMP_REQUIRE(CanSample());
  if (!GetParam().needs.empty()) KSAMP_REQUIRE(HasTool(GetParam().needs));
  const TempTree tree;
  const std::string fixtures = SourceDir() + "/test/fixtures/three_functions";
  const CommandResult built =
      RunCommand(tree.root(), "set -e; CC=" + ShellQuoted(CCompiler()) +
                                  " FLAGS='-O1 -falign-functions=64 -falign-loops=64 -Wl,--build-id' SRC=" +
                                  ShellQuoted(fixtures + ".c") +
                                  " MAIN=" + ShellQuoted(fixtures + "_main.c") + "; " + GetParam().build);
  ASSERT_EQ(built.exit_code, 0) << built;
  const CommandResult recorded =
      RunCommand(tree.root(), ToolPath() + " record -e cpu-clock -c 250689 -o r.data " + GetParam().run);
  ASSERT_EQ(recorded.exit_code, 0) << recorded;
  const CommandResult report =
      RunCommand(tree.root(), ToolPath() + " report --csv -l -i r.data " + GetParam().report_options);
  ASSERT_EQ(report.exit_code, 0) << report;

  std::map<std::string, uint64_t> samples = SymbolsOf(GetParam().image, report.out);
  const uint64_t all = samples["cost_one"] + samples["cost_two"] + samples["cost_three"];
  ASSERT_GE(all, kFewestSamples) << recorded << report;
  const struct {
    std::string symbol;
    double share;
  } expected[] = {{"cost_one", 1.0 / 6}, {"cost_two", 2.0 / 6}, {"cost_three", 3.0 / 6}};
  for (const auto& e : expected) {
    const double n = static_cast<double>(all);
    EXPECT_NEAR(static_cast<double>(samples[e.symbol]), n * e.share,
                4 * std::sqrt(n * e.share * (1 - e.share)))
        << e.symbol << " of " << all << " samples\n"
        << report;
  }
}

}  // namespace
}  // namespace ksamp::testing
