// SPDX-License-Identifier: Apache-2.0
// Lines and inlined calls by ksamp are those by llvm-symbolizer, for random addresses of programs built in
// every way that debug info comes: versions, compilers, compressed, in separate files, split, moved apart by
// dwz, of Rust.
//
// The name of the function that holds the code is left to the symbol table by both (symbols_oracle_test.cc).
// Of inlined ones without a linkage name llvm gives the plain name, ours has its namespaces before it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "lib/object/debug_lines.h"
#include "lib/object/elf_symbols.h"
#include "test/support/built_tree.h"
#include "test/support/capability.h"
#include "test/support/run_command.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::CommandResult;
using ::ksamp::testing::HasTool;
using ::ksamp::testing::Lines;
using ::ksamp::testing::RunCommand;
using ::ksamp::testing::ShellQuoted;
using ::ksamp::testing::SourceDir;
using ::ksamp::testing::TempTree;

struct Frame {
  std::string function, place;
};
std::ostream& operator<<(std::ostream& out, const Frame& frame) {
  return out << frame.function << " at " << frame.place;
}
using Frames = std::vector<Frame>;

std::vector<uint64_t> RandomAddresses(const ElfImage& elf, size_t count) {
  const ElfSection* text = elf.FindSection(".text");
  EXPECT_NE(text, nullptr);
  std::mt19937_64 random(7);
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < count; ++i) addresses.push_back(text->addr + random() % text->size);
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return addresses;
}

std::vector<Frames> Ours(const SourceFrames& found, size_t count) {
  std::vector<Frames> all(count);
  for (size_t i = 0; i < count; ++i) {
    for (const SourceFrame& frame : found.Of(i)) {
      all[i].push_back({frame.function == SourceFrame::kNone ? "??" : found.functions[frame.function].name,
                        frame.file == SourceFrame::kNone
                            ? "??:0"
                            : found.files[frame.file] + ":" + std::to_string(frame.line)});
    }
  }
  return all;
}

// Blocks of (function, file:line:column), an empty line behind each.
std::vector<Frames> Theirs(const std::string& output) {
  std::vector<Frames> all(1);
  std::string function;
  for (const std::string& line : Lines(output)) {
    if (line.empty()) {
      all.emplace_back();
    } else if (function.empty()) {
      function = line;
    } else {
      all.back().push_back({function, line.substr(0, line.rfind(':'))});
      function.clear();
    }
  }
  all.pop_back();
  return all;
}

bool SameName(const std::string& ours, const std::string& theirs) {
  return ours == theirs || ours.ends_with("::" + theirs);
}

bool Same(const Frames& ours, const Frames& theirs) {
  // Without debug info llvm names the symbol, and the file that the symbol table tells.
  if (ours.empty()) return theirs.size() == 1 && theirs[0].place.ends_with(":0");
  if (ours.size() != theirs.size()) return false;
  for (size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].place != theirs[i].place) return false;
    if (i + 1 < ours.size() && !SameName(ours[i].function, theirs[i].function)) return false;
  }
  return true;
}

struct Build {
  const char* name;
  const char* tools;            // those needed, by blanks
  const char* command;          // $S: the sources; makes prog
  const char* asked = "prog";   // the file ksamp reads, where it is not prog …
  const char* oracle = "prog";  // … and llvm-symbolizer
};

const Build kBuilds[] = {
    {"Gcc5", "g++", "g++ -O2 -g -gdwarf-5 $S -o prog"},
    {"Gcc4", "g++", "g++ -O2 -gdwarf-4 $S -o prog"},
    {"Gcc3", "g++", "g++ -O1 -gdwarf-3 -gstrict-dwarf $S -o prog"},
    {"GccO0", "g++", "g++ -O0 -g $S -o prog"},
    {"Clang5", "clang++", "clang++ -O3 -gdwarf-5 $S -o prog"},
    {"Clang4", "clang++", "clang++ -O3 -gdwarf-4 $S -o prog"},
    {"ClangLinesOnly", "clang++", "clang++ -O2 -gline-tables-only $S -o prog"},
    {"Compressed", "g++", "g++ -O2 -g -gz $S -o prog"},
    {"CompressedOldWay", "g++ objcopy",
     "g++ -O2 -g $S -o prog && objcopy --compress-debug-sections=zlib-gnu prog"},
    {"DebugFile", "g++ objcopy", "g++ -O2 -g $S -o prog && objcopy --only-keep-debug prog prog.debug",
     "prog.debug"},
    {"Split5", "g++", "g++ -O2 -gdwarf-5 -gsplit-dwarf $S -o prog"},
    {"Split4", "g++", "g++ -O2 -gdwarf-4 -gsplit-dwarf $S -o prog"},
    {"ClangSplit5", "clang++", "clang++ -O2 -gdwarf-5 -gsplit-dwarf $S -o prog"},
    {"ClangSplit4", "clang++", "clang++ -O2 -gdwarf-4 -gsplit-dwarf $S -o prog"},
    {"Package5", "clang++ llvm-dwp-14",
     "clang++ -O2 -gdwarf-5 -gsplit-dwarf $S -o prog && llvm-dwp-14 -e prog -o prog.dwp && rm *.dwo"},
    {"Package4", "g++ dwp",
     "g++ -O2 -gdwarf-4 -gsplit-dwarf $S -o prog && dwp -e prog -o prog.dwp && rm *.dwo"},
    {"Dwz", "g++ dwz", "g++ -O2 -g $S -o prog && cp prog whole && dwz prog", "prog", "whole"},
    {"DwzShared", "g++ dwz",
     "g++ -O2 -g $S -o prog && cp prog whole && cp prog twin && dwz -m common prog twin", "prog", "whole"},
    {"LinkTimeOptimised", "g++", "g++ -O2 -g -flto $S -o prog"},
    {"LldSections", "clang++ ld.lld",
     "clang++ -O2 -g -fuse-ld=lld -ffunction-sections -Wl,--gc-sections $S -o prog"},
    {"GoldSections", "g++ ld.gold",
     "g++ -O2 -g -fuse-ld=gold -ffunction-sections -Wl,--gc-sections $S -o prog"},
    {"Rust", "rustc", "rustc -O -g prog.rs -o prog"},
};

constexpr std::string_view kRust = R"(
use std::collections::HashMap;
fn main() {
    let mut m: HashMap<String, Vec<usize>> = HashMap::new();
    for (i, a) in std::env::args().enumerate() { m.entry(a).or_default().push(i); }
    let mut v: Vec<_> = m.iter().map(|(k, v)| (k.len() + v.iter().sum::<usize>(), k.clone())).collect();
    v.sort_by(|a, b| b.cmp(a));
    println!("{:?} {}", v, v.iter().map(|x| x.1.to_uppercase()).collect::<Vec<_>>().join(","));
}
)";

class LinesOracle : public ::testing::TestWithParam<Build> {};
INSTANTIATE_TEST_SUITE_P(, LinesOracle, ::testing::ValuesIn(kBuilds),
                         [](const auto& build) { return build.param.name; });

TEST_P(LinesOracle, LinesAndInlinedCallsAreThoseOfLlvm) {
  const Build& build = GetParam();
  KSAMP_REQUIRE(HasTool("llvm-symbolizer-14"));
  std::string tool;
  for (const char* at = build.tools;; ++at) {
    if (*at != ' ' && *at != '\0') {
      tool += *at;
      continue;
    }
    KSAMP_REQUIRE(HasTool(tool));
    tool.clear();
    if (*at == '\0') break;
  }
  const TempTree tree;
  tree.Write("prog.rs", std::string(kRust));
  const std::string fixtures = SourceDir() + "/test/fixtures/";
  const CommandResult made =
      RunCommand(tree.root(), "S='-std=c++17 " + fixtures + "inlining_main.cc " + fixtures +
                                  "inlining_words.cc'; export CCACHE_DISABLE=1; " + build.command);
  ASSERT_EQ(made.exit_code, 0) << made;
  ASSERT_OK_AND_ASSIGN(const ElfImage elf, ElfImage::Open(tree.Path(build.asked)));
  ASSERT_OK_AND_ASSIGN(const DebugLines lines, DebugLines::Open(elf, tree.Path(build.asked), {}));
  const std::vector<uint64_t> addresses = RandomAddresses(elf, 10'000);
  const SourceFrames found = lines.Find(addresses, {.inlined = true, .threads = 2});
  EXPECT_THAT(found.notes, ::testing::IsEmpty());
  std::string questions;
  for (const uint64_t address : addresses) {
    char line[32];
    std::snprintf(line, sizeof(line), "0x%lx\n", static_cast<unsigned long>(address));
    questions += line;
  }
  tree.Write("addresses", questions);
  const CommandResult asked = RunCommand(
      tree.root(), std::string("llvm-symbolizer-14 --inlines --functions=linkage --no-demangle --obj=") +
                       build.oracle + " < addresses");
  const std::vector<Frames> ours = Ours(found, addresses.size()), theirs = Theirs(asked.out);
  ASSERT_EQ(theirs.size(), addresses.size()) << asked;
  size_t different = 0, inlined = 0;
  for (size_t i = 0; i < addresses.size(); ++i) {
    inlined += ours[i].size() > 1 ? 1 : 0;
    if (Same(ours[i], theirs[i])) continue;
    if (++different > 5) continue;
    std::fprintf(stderr, "%s", ::testing::PrintToString(addresses[i]).c_str());
    std::fprintf(stderr, " ours %s theirs %s\n", ::testing::PrintToString(ours[i]).c_str(),
                 ::testing::PrintToString(theirs[i]).c_str());
  }
  EXPECT_LE(different * 1000, addresses.size()) << "of " << addresses.size();
  EXPECT_GT(inlined * 10, addresses.size() * (std::string_view(build.name) == "GccO0" ? 0 : 1));
}

uint64_t AddressOf(const std::string& folder, const std::string& file, const std::string& symbol) {
  const CommandResult nm =
      RunCommand(folder, "nm " + file + " | sed -n 's/^\\([0-9a-f]*\\) T " + symbol + ".*/\\1/p'");
  EXPECT_FALSE(nm.out.empty()) << nm;
  return std::strtoull(nm.out.c_str(), nullptr, 16);
}

// Relocatable files: the debug info that the linker has not put addresses into says what it says in the
// program. (llvm takes an address for that of any section, all of which begin at 0.)
TEST(LinesOracleTest, ObjectFilesSayWhatTheProgramSays) {
  for (const char* tool : {"g++", "nm", "sed"}) KSAMP_REQUIRE(HasTool(tool));
  const std::string fixtures = SourceDir() + "/test/fixtures/";
  for (const char* version : {"-gdwarf-4", "-gdwarf-5"}) {
    const TempTree tree;
    const CommandResult made = RunCommand(
        tree.root(), std::string("export CCACHE_DISABLE=1; g++ -std=c++17 -O2 -c ") + version +
                         " -o words.o " + ShellQuoted(fixtures + "inlining_words.cc") +
                         " && g++ -std=c++17 -o prog words.o " + ShellQuoted(fixtures + "inlining_main.cc"));
    ASSERT_EQ(made.exit_code, 0) << made;
    ASSERT_OK_AND_ASSIGN(const ElfImage object, ElfImage::Open(tree.Path("words.o")));
    ASSERT_OK_AND_ASSIGN(const ElfImage program, ElfImage::Open(tree.Path("prog")));
    const ElfSection* text = object.FindSection(".text");
    ASSERT_NE(text, nullptr);
    const auto section = static_cast<uint64_t>(text - object.sections().data());
    const std::string count = "_ZN5words5Count";
    const uint64_t moved = AddressOf(tree.root(), "prog", count) - AddressOf(tree.root(), "words.o", count);
    std::vector<uint64_t> in_object, in_program;
    for (uint64_t at = 0; at < text->size; at += 3) {
      in_object.push_back(RelocatableAddress(section, at));
      in_program.push_back(moved + at);
    }
    ASSERT_OK_AND_ASSIGN(const DebugLines lines, DebugLines::Open(object, tree.Path("words.o"), {}));
    ASSERT_OK_AND_ASSIGN(const DebugLines linked, DebugLines::Open(program, tree.Path("prog"), {}));
    const std::vector<Frames> ours = Ours(lines.Find(in_object, {}), in_object.size());
    const std::vector<Frames> theirs = Ours(linked.Find(in_program, {}), in_program.size());
    ASSERT_GT(ours.size(), 100u);
    for (size_t i = 0; i < ours.size(); ++i) {
      ASSERT_FALSE(ours[i].empty()) << i;
      EXPECT_TRUE(Same(ours[i], theirs[i]))
          << ::testing::PrintToString(ours[i]) << ::testing::PrintToString(theirs[i]);
    }
  }
}

}  // namespace
}  // namespace ksamp
