// SPDX-License-Identifier: Apache-2.0
#include "lib/symbol/user_symbolizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "test/support/elf_builder.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::ElfBuilder;
using ::ksamp::testing::TempTree;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Code at offset 0x1000 of the file and address 0x401000, a function of 16 bytes at its begin.
std::string Program(std::string_view function, std::string_view build_id) {
  ElfBuilder elf;
  const uint16_t text = elf.AddCode(".text", 0x401000, 0x100);
  if (!build_id.empty()) elf.AddBuildId(build_id);
  if (!function.empty()) elf.AddSymbol(function, 0x401000, 0x10, text);
  elf.AddSegment({.offset = 0x1000, .vaddr = 0x401000, .filesz = 0x100});
  return elf.Build();
}

class UserSymbolizerTest : public ::testing::Test {
 protected:
  UserSymbolizerTest() { options_.proc_root = tree_.Path("proc"); }

  ImageSymbols Resolve(const Image& image, std::vector<uint64_t> offsets = {0x1004}) {
    ImageIndex index(options_.image_paths);
    return UserSymbolizer(options_, &index).Resolve(image, offsets);
  }
  static std::vector<std::string> Names(const ImageSymbols& found) {
    std::vector<std::string> names;
    for (const ResolvedAddress& address : found.addresses) {
      names.push_back(address.symbol ? found.symbols[*address.symbol].name
                                     : "[" + std::string(Text(address.reason)) + "]");
    }
    return names;
  }
  static Image File(const std::string& path, std::string_view build_id = "") {
    Image image;
    image.path = path;
    image.build_id.assign(build_id.begin(), build_id.end());
    return image;
  }

  TempTree tree_;
  SymbolizerOptions options_;
};

TEST_F(UserSymbolizerTest, NamesFileOffsets) {
  const std::string path = tree_.Write("prog", Program("work", "aaaa"));
  const ImageSymbols found = Resolve(File(path, "aaaa"), {0x1000, 0x100f, 0x1010, 0x9000});
  EXPECT_THAT(Names(found), ElementsAre("work", "work", "[no symbol covers the address]",
                                        "[no symbol covers the address]"));
  EXPECT_EQ(found.addresses[1].elf, ElfAddress(0x40100f));
  EXPECT_EQ(found.addresses[2].elf, ElfAddress(0x401010));
  ASSERT_EQ(found.symbols.size(), 1u);
  EXPECT_EQ(found.symbols[0].start, 0x401000u);
  EXPECT_EQ(found.symbols[0].size, 0x10u);
  EXPECT_EQ(found.file, path);
  EXPECT_THAT(found.notes, IsEmpty());
}

TEST_F(UserSymbolizerTest, EveryFailureHasItsReason) {
  const struct {
    const char* what;
    std::string path;
    std::string_view build_id;
    const char* reason;
  } cases[] = {
      {"missing", tree_.Path("none"), "", "[file not found]"},
      {"a folder", tree_.MakeDirectory("folder"), "", "[file not readable]"},
      {"text", tree_.Write("script", "#!/bin/sh\n"), "", "[not an ELF file]"},
      {"replaced", tree_.Write("replaced", Program("other", "bbbb")), "aaaa",
       "[another build of the file is there]"},
      {"without build-id", tree_.Write("noid", Program("other", "")), "aaaa",
       "[another build of the file is there]"},
      {"no symbols", tree_.Write("stripped", Program("", "aaaa")), "aaaa", "[no symbols in image]"},
  };
  for (const auto& c : cases)
    EXPECT_THAT(Names(Resolve(File(c.path, c.build_id))), ElementsAre(c.reason)) << c.what;
  EXPECT_THAT(Resolve(File(tree_.Path("replaced"), "aaaa")).notes, Contains(HasSubstr("was replaced since")));
}

TEST_F(UserSymbolizerTest, RootComesFirstAndTheHostsFileOnlyWhenProved) {
  tree_.Write("image/bin/prog", Program("in_root", "aaaa"));
  options_.root = tree_.Path("image");
  EXPECT_THAT(Names(Resolve(File("/bin/prog", "aaaa"))), ElementsAre("in_root"));
  const std::string host = tree_.Write("host/prog", Program("on_host", "cccc"));
  EXPECT_THAT(Names(Resolve(File(host, "cccc"))), ElementsAre("on_host"));
  EXPECT_THAT(Names(Resolve(File(host))), ElementsAre("[file not found]"));
}

TEST_F(UserSymbolizerTest, AReplacedFileIsFoundInTheProcess) {
  const std::string path = tree_.Write("prog", Program("new_one", "bbbb"));
  tree_.Write("proc/77/root" + path, Program("old_one", "aaaa"));
  Image image = File(path, "aaaa");
  image.pid = 77;
  const ImageSymbols found = Resolve(image);
  EXPECT_THAT(Names(found), ElementsAre("old_one"));
  EXPECT_THAT(found.notes, IsEmpty()) << "what did not work first is of no interest";
  options_.live_machine = false;
  EXPECT_THAT(Names(Resolve(image)), ElementsAre("[another build of the file is there]"));
}

TEST_F(UserSymbolizerTest, ADeletedFileIsReadThroughItsMapping) {
  const std::string backing = tree_.Write("backing", Program("deleted_one", ""));
  tree_.MakeDirectory("proc/77/map_files");
  tree_.Symlink("proc/77/map_files/401000-402000", backing);
  Image image = File(backing);
  image.deleted = true;
  image.pid = 77;
  image.start = ProcessAddress(0x401000);
  image.end = ProcessAddress(0x402000);
  EXPECT_THAT(Names(Resolve(image)), ElementsAre("deleted_one"));
  image.path = "/another/file";  // the pid is somebody else's by now
  EXPECT_THAT(Names(Resolve(image)), ElementsAre("[file not found]"));
}

TEST_F(UserSymbolizerTest, ImagePathsAreSearchedByBasename) {
  tree_.Write("pool/a/libx.so", Program("first", "aaaa"));
  tree_.Write("pool/b/libx.so", Program("second", "bbbb"));
  tree_.Write("pool/b/liby.so", Program("only", ""));
  options_.image_paths = {tree_.Path("pool")};
  EXPECT_THAT(Names(Resolve(File("/gone/liby.so"))), ElementsAre("only"));
  EXPECT_THAT(Names(Resolve(File("/gone/libx.so", "bbbb"))), ElementsAre("second"));
  const ImageSymbols undecided = Resolve(File("/gone/libx.so"));
  EXPECT_THAT(Names(undecided), ElementsAre("[file not found]"));
  EXPECT_THAT(undecided.notes, Contains(HasSubstr("matches more than one file")));
}

TEST_F(UserSymbolizerTest, OurOwnVdsoNamesTheRecordedOneWhereItIsTheSame) {
  if (getauxval(AT_SYSINFO_EHDR) == 0) GTEST_SKIP() << "this process has no vdso";
  Image image;
  image.kind = ImageKind::kVdso;
  image.path = "[vdso]";
  const ImageSymbols found = Resolve(image, {0x10});
  EXPECT_EQ(found.file, "[vdso]");
  EXPECT_EQ(found.addresses[0].reason,
            UnresolvedReason::kNotExported);  // Only .dynsym, and its header there.
  image.build_id = {1, 2, 3};
  EXPECT_THAT(Names(Resolve(image, {0x10})), ElementsAre("[another build of the file is there]"));
}

}  // namespace
}  // namespace ksamp
