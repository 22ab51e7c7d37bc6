// SPDX-License-Identifier: Apache-2.0
// Symbols by ksamp are those by tools that owe us nothing: by the running program itself (which knows where
// its functions are) for every linker and layout; by nm and llvm-symbolizer for the system's own files; by
// llvm-cxxfilt for what rustc makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "ksamp/symbolizer.h"
#include "lib/object/elf_image.h"
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

const std::string& FixtureSource() {
  static const std::string source = SourceDir() + "/test/fixtures/print_addresses.c";
  return source;
}

// What the program said: a function's file and offset, by the mapping that holds its address.
struct Truth {
  std::string function, path;
  uint64_t offset = 0, address = 0;
};

std::vector<Truth> TruthOf(const std::string& output) {
  std::vector<Truth> truths;
  for (const std::string& line : Lines(output)) {
    char name[64], path[512], permissions[8];
    unsigned long start = 0, end = 0, offset = 0;
    if (std::sscanf(line.c_str(), "%63[a-z_] %lx", name, &start) == 2 &&
        line.find('-') == std::string::npos) {
      truths.push_back({.function = name, .path = {}, .address = start});
    } else if (std::sscanf(line.c_str(), "%lx-%lx %7s %lx %*s %*s %511s", &start, &end, permissions, &offset,
                           path) == 5) {
      for (Truth& truth : truths) {
        if (truth.address < start || truth.address >= end) continue;
        truth.path = path;
        truth.offset = truth.address - start + offset;
      }
    }
  }
  return truths;
}

std::string SymbolAt(Symbolizer* symbolizer, const std::string& path, uint64_t offset,
                     std::string* file = nullptr) {
  Image image;
  image.path = path;
  const std::vector<uint64_t> offsets = {offset};
  const ImageSymbols found = symbolizer->Resolve(image, offsets);
  if (file != nullptr) *file = found.file;
  if (!found.addresses[0].symbol) return "[" + std::string(Text(found.addresses[0].reason)) + "]";
  return found.symbols[*found.addresses[0].symbol].name;
}

void ExpectAllNamed(const std::string& output, size_t functions, const SymbolizerOptions& options = {}) {
  const std::vector<Truth> truths = TruthOf(output);
  ASSERT_EQ(truths.size(), functions) << output;
  const auto symbolizer = Symbolizer::Create(options);
  for (const Truth& truth : truths) {
    EXPECT_EQ(SymbolAt(symbolizer.get(), truth.path, truth.offset), truth.function) << truth.path;
  }
}

struct LinkCase {
  const char *name, *flags, *needs;
};

class EveryLink : public ::testing::TestWithParam<LinkCase> {};

INSTANTIATE_TEST_SUITE_P(
    , EveryLink,
    ::testing::Values(LinkCase{"BfdPie", "-fuse-ld=bfd -pie", "ld.bfd"},
                      LinkCase{"BfdNoPie", "-fuse-ld=bfd -no-pie", "ld.bfd"},
                      LinkCase{"BfdStatic", "-fuse-ld=bfd -static", "ld.bfd"},
                      LinkCase{"BfdStaticPie", "-fuse-ld=bfd -static-pie", "ld.bfd"},
                      LinkCase{"BfdNoSeparateCode", "-fuse-ld=bfd -Wl,-z,noseparate-code", "ld.bfd"},
                      LinkCase{"BfdTextSegment", "-fuse-ld=bfd -no-pie -Wl,-Ttext-segment=0x10000000",
                               "ld.bfd"},
                      LinkCase{"GoldPie", "-fuse-ld=gold -pie", "ld.gold"},
                      LinkCase{"GoldNoPie", "-fuse-ld=gold -no-pie", "ld.gold"},
                      LinkCase{"LldPie", "-fuse-ld=lld -pie", "ld.lld"},
                      LinkCase{"LldNoPie", "-fuse-ld=lld -no-pie", "ld.lld"},
                      LinkCase{"LldSeparateCode", "-fuse-ld=lld -pie -Wl,-z,separate-code", "ld.lld"},
                      LinkCase{"LldImageBase", "-fuse-ld=lld -no-pie -Wl,--image-base=0x40000000", "ld.lld"}),
    [](const auto& link) { return link.param.name; });

TEST_P(EveryLink, NamesItsFunctionsWhereTheProgramHasThem) {
  KSAMP_REQUIRE(HasTool("cc"));
  KSAMP_REQUIRE(HasTool(GetParam().needs));
  const TempTree tree;
  const CommandResult made = RunCommand(tree.root(), std::string("cc -O1 ") + GetParam().flags + " -o prog " +
                                                         ShellQuoted(FixtureSource()) + " && ./prog");
  ASSERT_EQ(made.exit_code, 0) << made;
  ExpectAllNamed(made.out, 3);
}

TEST(SymbolsOracleTest, DlopenedLibraryOfEveryLinker) {
  KSAMP_REQUIRE(HasTool("cc"));
  for (const char* linker : {"bfd", "gold", "lld"}) {
    KSAMP_REQUIRE(HasTool(std::string("ld.") + linker));
    const TempTree tree;
    const std::string source = ShellQuoted(FixtureSource());
    const CommandResult made = RunCommand(
        tree.root(), std::string("cc -O1 -DLIBRARY -shared -fPIC -fuse-ld=") + linker + " -o libx.so " +
                         source + " && cc -O1 -DWITH_DLOPEN -o prog " + source + " -ldl && ./prog ./libx.so");
    ASSERT_EQ(made.exit_code, 0) << made;
    ExpectAllNamed(made.out, 4);
  }
}

TEST(SymbolsOracleTest, StrippedWithADebugFileElsewhere) {
  KSAMP_REQUIRE(HasTool("cc"));
  KSAMP_REQUIRE(HasTool("objcopy"));
  const TempTree tree;
  const CommandResult made = RunCommand(
      tree.root(), "cc -O1 -g -o prog " + ShellQuoted(FixtureSource()) +
                       " && objcopy --only-keep-debug prog prog.debug && strip prog"
                       " && objcopy --add-gnu-debuglink=prog.debug prog && mkdir -p dbg$PWD && ./prog");
  ASSERT_EQ(made.exit_code, 0) << made;
  const std::vector<Truth> truths = TruthOf(made.out);
  ASSERT_EQ(truths.size(), 3u);
  SymbolizerOptions options;
  options.debug_dirs = {tree.Path("dbg")};
  const auto symbolizer = Symbolizer::Create(options);
  std::string file;
  EXPECT_EQ(SymbolAt(symbolizer.get(), truths[0].path, truths[0].offset, &file), "local_function");
  EXPECT_EQ(file, tree.Path("prog.debug"));
  std::filesystem::rename(tree.Path("prog.debug"), tree.Path("dbg") + tree.Path("prog.debug"));
  EXPECT_EQ(SymbolAt(symbolizer.get(), truths[0].path, truths[0].offset, &file), "local_function");
  EXPECT_EQ(file, tree.Path("dbg") + tree.Path("prog.debug"));
  std::filesystem::remove(file);
  EXPECT_NE(SymbolAt(symbolizer.get(), truths[0].path, truths[0].offset, &file), "local_function");
}

TEST(SymbolsOracleTest, MiniDebugInfo) {
  for (const char* tool : {"cc", "objcopy", "xz"}) KSAMP_REQUIRE(HasTool(tool));
  const TempTree tree;
  const CommandResult made = RunCommand(
      tree.root(),
      "cc -O1 -o prog " + ShellQuoted(FixtureSource()) +
          " && cp prog mini && objcopy -S --keep-symbol=local_function mini && xz mini && strip prog"
          " && objcopy --add-section .gnu_debugdata=mini.xz prog && ./prog");
  ASSERT_EQ(made.exit_code, 0) << made;
  const std::vector<Truth> truths = TruthOf(made.out);
  ASSERT_EQ(truths.size(), 3u);
  EXPECT_EQ(SymbolAt(Symbolizer::Create({}).get(), truths[0].path, truths[0].offset), "local_function");
}

// One line of nm -S: code with a size.
struct NmSymbol {
  uint64_t start = 0, size = 0;
  std::string name;
};

std::vector<NmSymbol> Nm(const std::string& path, const char* options) {
  std::vector<NmSymbol> symbols;
  for (const std::string& line :
       Lines(RunCommand("/", std::string("nm -S --defined-only ") + options + " " + ShellQuoted(path)).out)) {
    std::istringstream in(line);
    NmSymbol symbol;
    std::string type;
    if (!(in >> std::hex >> symbol.start >> symbol.size >> type >> symbol.name)) continue;
    if (std::string("tTwWiI").find(type) == std::string::npos) continue;
    symbol.name = symbol.name.substr(0, symbol.name.find('@'));
    symbols.push_back(symbol);
  }
  return symbols;
}

class SystemFile : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(, SystemFile,
                         ::testing::Values("/bin/bash", "/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6",
                                           "/lib/x86_64-linux-gnu/libstdc++.so.6",
                                           "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"),
                         [](const auto& file) { return "File" + std::to_string(file.index); });

// For first, middle, last and following byte of each symbol: the innermost of nm's that hold the byte.
TEST_P(SystemFile, EveryByteBelongsToWhomNmSays) {
  KSAMP_REQUIRE(HasTool("nm"));
  std::error_code error;
  const std::string path = std::filesystem::canonical(GetParam(), error).string();
  if (error) GTEST_SKIP() << GetParam() << " is not on this machine";
  ASSERT_OK_AND_ASSIGN(const ElfImage elf, ElfImage::Open(path));
  std::vector<NmSymbol> symbols = Nm(path, elf.FindSection(".symtab") != nullptr ? "" : "-D");
  ASSERT_GT(symbols.size(), 100u);
  std::sort(symbols.begin(), symbols.end(), [](const auto& a, const auto& b) { return a.start < b.start; });

  std::map<uint64_t, uint64_t> addresses;  // offset -> address
  for (const NmSymbol& symbol : symbols) {
    for (uint64_t at : {uint64_t{0}, symbol.size / 2, symbol.size - 1, symbol.size}) {
      const auto offset = elf.ToFileOffset(ElfAddress(symbol.start + at));
      if (offset) addresses[offset->value] = symbol.start + at;
    }
  }
  std::vector<uint64_t> offsets;
  for (const auto& [offset, address] : addresses) offsets.push_back(offset);
  Image image;
  image.path = path;
  SymbolizerOptions options;
  options.debug_dirs.clear();
  const ImageSymbols found = Symbolizer::Create(options)->Resolve(image, offsets);
  size_t checked = 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    const uint64_t address = addresses[offsets[i]];
    EXPECT_EQ(found.addresses[i].elf.value, address);
    uint64_t innermost = 0;
    std::vector<std::string> names;
    auto it = std::upper_bound(symbols.begin(), symbols.end(), address,
                               [](uint64_t a, const NmSymbol& s) { return a < s.start; });
    for (int steps = 0; it != symbols.begin() && steps < 1000; ++steps) {
      --it;
      if (address >= it->start + it->size || (innermost != 0 && it->start != innermost)) continue;
      innermost = it->start;
      names.push_back(it->name);
    }
    if (names.empty()) continue;  // a gap, or a label without a size, which nm -S leaves out
    ASSERT_TRUE(found.addresses[i].symbol) << std::hex << address << " is in " << names[0];
    const std::string& ours = found.symbols[*found.addresses[i].symbol].name;
    EXPECT_THAT(names, ::testing::Contains(ours.substr(0, ours.find('@')))) << std::hex << address;
    ++checked;
  }
  EXPECT_GT(checked, symbols.size());
}

TEST(SymbolsOracleTest, AgreesWithLlvmSymbolizerOnThisTest) {
  KSAMP_REQUIRE(HasTool("llvm-symbolizer-14"));
  const std::string path = std::filesystem::canonical("/proc/self/exe").string();
  ASSERT_OK_AND_ASSIGN(const ElfImage elf, ElfImage::Open(path));
  const std::vector<NmSymbol> symbols = Nm(path, "");
  std::map<std::string, uint64_t> start_of;
  for (const NmSymbol& symbol : symbols) start_of[symbol.name] = symbol.start;
  const TempTree tree;
  std::string questions;
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < symbols.size(); i += 7) {
    addresses.push_back(symbols[i].start + symbols[i].size / 2);
    char line[32];
    std::snprintf(line, sizeof(line), "0x%lx\n", static_cast<unsigned long>(addresses.back()));
    questions += line;
  }
  tree.Write("addresses", questions);
  const CommandResult theirs =
      RunCommand(tree.root(),
                 "llvm-symbolizer-14 --no-demangle --no-inlines --functions=linkage --no-debuginfod --obj=" +
                     ShellQuoted(path) +
                     " < addresses || "
                     "llvm-symbolizer-14 --no-demangle --no-inlines --functions=linkage --obj=" +
                     ShellQuoted(path) + " < addresses");
  const auto symbolizer = Symbolizer::Create({});
  size_t at = 0, compared = 0;
  bool expects_name = true;  // name, place, empty line
  for (const std::string& line : Lines(theirs.out)) {
    if (line.empty()) {
      ++at;
      expects_name = true;
    } else if (expects_name && at < addresses.size()) {
      expects_name = false;
      if (!start_of.contains(line)) continue;
      const std::string ours =
          SymbolAt(symbolizer.get(), path, elf.ToFileOffset(ElfAddress(addresses[at]))->value);
      EXPECT_EQ(start_of[ours], start_of[line]) << ours << " " << line;
      ++compared;
    }
  }
  EXPECT_GT(compared, addresses.size() / 2) << theirs;
}

constexpr std::string_view kRust = R"(
use std::collections::HashMap;
pub trait Tr { fn go(&self, f: &dyn for<'a> Fn(&'a str) -> usize) -> usize; }
pub struct Foo<T, const N: usize> { pub a: [T; N] }
impl<T> Tr for Foo<T, 3> { #[inline(never)] fn go(&self, f: &dyn for<'a> Fn(&'a str) -> usize) -> usize { f("x") + self.a.len() } }
#[inline(never)] pub fn apply<F: Fn(i32) -> i32>(f: F, m: &mut HashMap<String, Vec<u8>>) -> i32 { m.clear(); f(3) }
fn main() {
  let f = Foo { a: [1u8, 2, 3] };
  println!("{}", f.go(&|s| s.len()));
  let k = std::env::args().count() as i32;
  println!("{}", apply(move |x| x + k, &mut HashMap::new()));
}
)";

TEST(SymbolsOracleTest, RustV0NamesAsLlvmReadsThem) {
  for (const char* tool : {"rustc", "nm", "llvm-cxxfilt-14"}) KSAMP_REQUIRE(HasTool(tool));
  const TempTree tree;
  tree.Write("a.rs", kRust);
  const CommandResult made = RunCommand(
      tree.root(),
      "rustc -C symbol-mangling-version=v0 -O -o a a.rs && nm a | sed -n 's/.* \\(_R[A-Za-z0-9_]*\\)$/\\1/p'"
      " | sort -u > names && llvm-cxxfilt-14 < names > theirs && paste -d '\\n' names theirs");
  ASSERT_EQ(made.exit_code, 0) << made;
  const std::vector<std::string> lines = Lines(made.out);
  ASSERT_GT(lines.size(), 200u);
  for (size_t i = 0; i + 1 < lines.size(); i += 2) EXPECT_EQ(Demangle(lines[i]), lines[i + 1]);
}

}  // namespace
}  // namespace ksamp
