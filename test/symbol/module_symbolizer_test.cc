// SPDX-License-Identifier: Apache-2.0
#include "lib/symbol/module_symbolizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/base/file_io.h"
#include "test/support/built_tree.h"
#include "test/support/capability.h"
#include "test/support/elf_builder.h"
#include "test/support/run_command.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::ElfBuilder;
using ::ksamp::testing::HasTool;
using ::ksamp::testing::RunCommand;
using ::ksamp::testing::SourceDir;
using ::ksamp::testing::TempTree;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kBase = 0xffffffffc067b000;

// As a real module lies: the unlikely part before .text.
constexpr std::string_view kSections =
    "nf_tables .text.unlikely 0xffffffffc067b000\n"
    "nf_tables .text 0xffffffffc067b100\n"
    "nf_tables .init.text 0x0000000000000000\n"
    "other .text 0xffffffffc0900000\n";

std::string ModuleFile(std::string_view build_id) {
  ElfBuilder elf({.type = ET_REL});
  const uint16_t text = elf.AddCode(".text", 0, 0x80), unlikely = elf.AddCode(".text.unlikely", 0, 0x40);
  elf.AddBuildId(build_id);
  elf.AddSymbol("nft_do_chain", 0x10, 0x20, text);
  elf.AddSymbol("nft_trace", 0, 0x10, unlikely);
  return elf.Build();
}

class ModuleSymbolizerTest : public ::testing::Test {
 protected:
  ModuleSymbolizerTest() {
    options_.live_machine = false;
    options_.kernel.modules = "nf_tables 32768 0 - Live 0xffffffffc067b000\n";
    options_.kernel.module_sections = kSections;
    image_.kind = ImageKind::kModule;
    image_.path = "[nf_tables]";
    image_.module_base = ProcessAddress(kBase);
  }
  ImageSymbols Resolve(std::vector<uint64_t> addresses) {
    ImageIndex index(options_.image_paths);
    KernelSymbolizer kernel(options_);
    return ModuleSymbolizer(options_, &index, &kernel).Resolve(image_, addresses);
  }
  static std::vector<std::string> Names(const ImageSymbols& found) {
    std::vector<std::string> names;
    for (const ResolvedAddress& address : found.addresses) {
      names.push_back(address.symbol ? found.symbols[*address.symbol].name
                                     : "[" + std::string(Text(address.reason)) + "]");
    }
    return names;
  }

  TempTree tree_;
  SymbolizerOptions options_;
  Image image_;
};

TEST_F(ModuleSymbolizerTest, SymbolsFromTheTableAddressesOfTheFile) {
  options_.kernel.kallsyms =
      "ffffffffc067b110 t nft_do_chain\t[nf_tables]\n"
      "ffffffffc067b000 t nft_trace\t[nf_tables]\n";
  const ImageSymbols found = Resolve({kBase + 4, kBase + 0x118, kBase + 0x9000});
  EXPECT_THAT(Names(found), ElementsAre("nft_trace", "nft_do_chain", "[no symbol covers the address]"));
  EXPECT_EQ(found.addresses[0].elf, ElfAddress(0x4)) << "in .text.unlikely";
  EXPECT_EQ(found.addresses[1].elf, ElfAddress(0x18)) << "in .text, not 0x118";
  EXPECT_THAT(found.notes, IsEmpty());
}

TEST_F(ModuleSymbolizerTest, WithoutAnchorsTheDistanceToTheBeginAndANote) {
  options_.kernel.module_sections.clear();
  options_.kernel.kallsyms = "ffffffffc067b110 t nft_do_chain\t[nf_tables]\n";
  const ImageSymbols found = Resolve({kBase + 0x118});
  EXPECT_THAT(Names(found), ElementsAre("nft_do_chain"));
  EXPECT_EQ(found.addresses[0].elf, ElfAddress(0x118));
  EXPECT_THAT(found.notes, Contains(HasSubstr("was not recorded")));
}

TEST_F(ModuleSymbolizerTest, SymbolsFromTheFileWhereTheTableHasNone) {
  options_.kernel.kallsyms = "ffffffff81000000 T _text\n";
  EXPECT_THAT(Names(Resolve({kBase + 0x118})), ElementsAre("[no symbols in image]"));
  const std::string path = tree_.Write("kernel/net/nf-tables.ko", ModuleFile("aaaa"));
  options_.image_paths = {tree_.root()};
  const ImageSymbols found = Resolve({kBase + 4, kBase + 0x118, kBase + 0x150, kBase + 0x7000});
  EXPECT_THAT(Names(found), ElementsAre("nft_trace", "nft_do_chain", "[no symbol covers the address]",
                                        "[no symbol covers the address]"));
  EXPECT_EQ(found.symbols[1].start, kBase + 0x110);
  EXPECT_EQ(found.file, path);
  image_.build_id = {'b', 'b', 'b', 'b'};
  const ImageSymbols refused = Resolve({kBase + 0x118});
  EXPECT_THAT(Names(refused), ElementsAre("[no symbols in image]"));
  EXPECT_THAT(refused.notes, Contains(HasSubstr("another build")));
}

TEST_F(ModuleSymbolizerTest, WithoutAnyTableTheReasonIsTheKernels) {
  EXPECT_THAT(Names(Resolve({kBase + 4})), ElementsAre("[no symbols of the recorded kernel]"));
}

TEST_F(ModuleSymbolizerTest, AnchorLines) {
  const auto anchors = ParseSectionAnchors(kSections, "nf-tables");
  ASSERT_EQ(anchors.size(), 2u);
  EXPECT_EQ(anchors[1].section, ".text");
  EXPECT_EQ(anchors[1].address, kBase + 0x100);
  EXPECT_THAT(ParseSectionAnchors("nf_tables .text\nnf_tables  0x1 x\nnf_tables .text zz\n", "nf_tables"),
              IsEmpty());
}

std::string StrippedModule() {
  ElfBuilder elf({.type = ET_REL, .symtab = false});
  // Other numbers than in the debug file: sections are told by name.
  elf.AddCode(".init.text", 0, 0x20);
  elf.AddCode(".text.unlikely", 0, 0x40);
  elf.AddCode(".text", 0, 0x80);
  elf.AddBuildId("aaaa");
  return elf.Build();
}

TEST_F(ModuleSymbolizerTest, AStrippedModuleHasItsSymbolsInTheDebugFile) {
  options_.kernel.kallsyms = "ffffffff81000000 T _text\n";
  options_.debug_dirs = {tree_.Path("debug")};
  options_.image_paths = {tree_.Path("kernel")};
  tree_.Write("kernel/net/nf-tables.ko", StrippedModule());
  EXPECT_THAT(Names(Resolve({kBase + 0x118})), ElementsAre("[no symbols in image]"));
  const std::string debug = tree_.Write("debug/.build-id/61/616161.debug", ModuleFile("aaaa"));
  const ImageSymbols found = Resolve({kBase + 4, kBase + 0x118, kBase + 0x150});
  EXPECT_THAT(Names(found), ElementsAre("nft_trace", "nft_do_chain", "[no symbol covers the address]"));
  EXPECT_EQ(found.addresses[1].elf, ElfAddress(0x18));
  EXPECT_EQ(found.symbols[1].start, kBase + 0x110);
  EXPECT_EQ(found.file, debug);
}

// The table and the modules of a real kernel (test/data/README.md).
TEST_F(ModuleSymbolizerTest, ModulesOfARealKernel) {
  const std::string sample = SourceDir() + "/test/data/kernel/x86_64";
  ASSERT_OK_AND_ASSIGN(options_.kernel.kallsyms, ReadFile(sample + ".kallsyms"));
  ASSERT_OK_AND_ASSIGN(options_.kernel.modules, ReadFile(sample + ".modules"));
  options_.kernel.module_sections = "virtio_blk .text 0xffffffffc04a2000\n";
  image_.path = "[virtio_blk]";
  image_.module_base = ProcessAddress(0xffffffffc04a2000);
  const ImageSymbols found = Resolve({0xffffffffc04a2104, 0xffffffffc04a217f, 0xffffffffc04a2d90});
  EXPECT_THAT(Names(found), ElementsAre("virtblk_freeze", "virtblk_freeze", "virtblk_restore"));
  EXPECT_EQ(found.symbols[0].size, 0x80u);
  EXPECT_EQ(found.addresses[0].elf, ElfAddress(0x104));
}

// A module's debug info is not linked: its addresses are what relocations say.
TEST_F(ModuleSymbolizerTest, LinesByTheSectionsAnchors) {
  KSAMP_REQUIRE(HasTool("cc"));
  tree_.Write("nf_tables.c",
              "int nft_trace(int a) __attribute__((section(\".text.unlikely\")));\n"
              "int nft_trace(int a) { return a + 1; }\n"
              "static inline __attribute__((always_inline)) int twice(int a) {\n"
              "  return 2 * a;\n"
              "}\n"
              "int nft_do_chain(int a) {\n"
              "  return twice(a) + 3;\n"
              "}\n");
  const auto made = RunCommand(tree_.root(), "cc -O0 -g -c -o nf_tables.ko nf_tables.c");
  ASSERT_EQ(made.exit_code, 0) << made;
  options_.image_paths = {tree_.root()};
  options_.source = SourceDetail::kInlined;
  const ImageSymbols found = Resolve({kBase, kBase + 0x100});
  EXPECT_THAT(Names(found), ElementsAre("nft_trace", "nft_do_chain"));
  EXPECT_EQ(found.symbols[0].file, tree_.Path("nf_tables.c"));
  EXPECT_EQ(found.symbols[0].line, 2u);
  EXPECT_EQ(found.symbols[1].line, 6u);
  ASSERT_EQ(found.source.Of(0).size(), 1u);
  EXPECT_EQ(found.source.Of(0)[0].line, 2u);
  ASSERT_FALSE(found.source.Of(1).empty());
  EXPECT_EQ(found.source.functions[found.source.Of(1).back().function].name, "nft_do_chain");
}

}  // namespace
}  // namespace ksamp
