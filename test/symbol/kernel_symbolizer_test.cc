// SPDX-License-Identifier: Apache-2.0
#include "lib/symbol/kernel_symbolizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/support/built_tree.h"
#include "test/support/dwarf_builder.h"
#include "test/support/elf_builder.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::DwarfBuilder;
using ::ksamp::testing::ElfBuilder;
using ::ksamp::testing::SourceDir;
using ::ksamp::testing::TempTree;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kText = 0xffffffff81000000;
constexpr std::string_view kTable =
    "ffffffff81000000 T _text\n"
    "ffffffff81000100 T do_idle\n"
    "ffffffff81000200 T schedule\n"
    "ffffffff81001000 T _etext\n";

// What each address became: a name or a reason in brackets.
std::vector<std::string> Names(const ImageSymbols& found) {
  std::vector<std::string> names;
  for (const ResolvedAddress& address : found.addresses) {
    names.push_back(address.symbol ? found.symbols[*address.symbol].name
                                   : "[" + std::string(Text(address.reason)) + "]");
  }
  return names;
}

std::string Notes(char id) {
  return std::string("\x04\0\0\0\x04\0\0\0\x03\0\0\0GNU\0", 16) + std::string(4, id);
}

// A machine that runs the kernel with build-id "aaaa".
class KernelSymbolizerTest : public ::testing::Test {
 protected:
  KernelSymbolizerTest() {
    options_.proc_root = tree_.Path("proc");
    options_.sys_root = tree_.Path("sys");
    tree_.Write("proc/kallsyms", kTable);
    tree_.Write("proc/sys/kernel/osrelease", "6.1.0\n");
    tree_.Write("proc/sys/kernel/hostname", "box\n");
    tree_.Write("sys/kernel/notes", Notes('a'));
  }
  ImageSymbols Resolve(std::vector<uint64_t> addresses, ImageKind kind = ImageKind::kKernel) {
    KernelSymbolizer kernel(options_);
    Image image;
    image.kind = kind;
    image.path = "vmlinux";
    return kernel.Resolve(image, addresses);
  }

  TempTree tree_;
  SymbolizerOptions options_;
};

TEST_F(KernelSymbolizerTest, UsesTheRecordingsTable) {
  options_.kernel.kallsyms = kTable;
  const ImageSymbols found = Resolve({kText + 0x110, kText + 0x1ff, kText + 0x200, kText + 0x1000});
  EXPECT_THAT(Names(found), ElementsAre("do_idle", "do_idle", "schedule", "[no symbol covers the address]"));
  EXPECT_EQ(found.symbols.size(), 2u);
  EXPECT_EQ(found.symbols[0].start, kText + 0x100);
  EXPECT_EQ(found.symbols[0].size, 0x100u);
  EXPECT_EQ(found.addresses[1].elf, ElfAddress(kText + 0x1ff));
  EXPECT_EQ(found.file, "recording's kallsyms");
  EXPECT_THAT(found.notes, IsEmpty());
}

TEST_F(KernelSymbolizerTest, UsesTheLiveTableOfTheSameKernelOnly) {
  options_.kernel.reference_symbol = "_text";
  options_.kernel.reference_address = kText;
  options_.kernel.build_id = {'a', 'a', 'a', 'a'};
  EXPECT_THAT(Names(Resolve({kText + 0x110})), ElementsAre("do_idle"));
  options_.kernel.build_id = {'b', 'b', 'b', 'b'};
  EXPECT_THAT(Names(Resolve({kText + 0x110})), ElementsAre("[no symbols of the recorded kernel]"));
  options_.kernel.build_id = {'a', 'a', 'a', 'a'};
  options_.live_machine = false;
  EXPECT_THAT(Names(Resolve({kText + 0x110})), ElementsAre("[no symbols of the recorded kernel]"));
}

TEST_F(KernelSymbolizerTest, WithoutABuildIdReleaseAndHostDecideAndAreTold) {
  EXPECT_THAT(Names(Resolve({kText + 0x110})), ElementsAre("[no symbols of the recorded kernel]"));
  options_.kernel.os_release = "6.1.0";
  options_.kernel.hostname = "box";
  const ImageSymbols found = Resolve({kText + 0x110});
  EXPECT_THAT(Names(found), ElementsAre("do_idle"));
  EXPECT_THAT(found.notes, Contains(HasSubstr("same release and host name")));
  options_.kernel.hostname = "other";
  EXPECT_THAT(Names(Resolve({kText + 0x110})), ElementsAre("[no symbols of the recorded kernel]"));
}

TEST_F(KernelSymbolizerTest, ARebootMovesTheLiveTable) {
  options_.kernel.build_id = {'a', 'a', 'a', 'a'};
  options_.kernel.reference_symbol = "_text";
  options_.kernel.reference_address = kText + 0x2000000;
  const ImageSymbols found = Resolve({kText + 0x2000110});
  EXPECT_THAT(Names(found), ElementsAre("do_idle"));
  EXPECT_EQ(found.symbols[0].start, kText + 0x2000100);
  EXPECT_THAT(found.notes, Contains(HasSubstr("rebooted")));
}

TEST_F(KernelSymbolizerTest, HiddenSymbolsAreTold) {
  options_.kernel.kallsyms = "0000000000000000 T _text\n0000000000000000 T do_idle\n";
  const ImageSymbols found = Resolve({kText + 0x110});
  EXPECT_THAT(Names(found), ElementsAre("[kernel symbols hidden by kptr_restrict]"));
  EXPECT_THAT(found.notes, Contains(HasSubstr("kptr_restrict")));
}

TEST_F(KernelSymbolizerTest, AFileOfSymbolsWinsAndIsMovedByTheReference) {
  options_.kernel.kallsyms = kTable;
  options_.kernel.reference_symbol = "_text";
  options_.kernel.reference_address = kText;
  options_.kallsyms = tree_.Write(
      "saved", "ffffffff80000000 T _text\nffffffff80000100 T renamed\nffffffff80000200 T _etext\n");
  const ImageSymbols found = Resolve({kText + 0x110});
  EXPECT_THAT(Names(found), ElementsAre("renamed"));
  EXPECT_EQ(found.file, options_.kallsyms);
  options_.kallsyms = tree_.Path("missing");
  EXPECT_THAT(Names(Resolve({kText + 0x110})), ElementsAre("do_idle"));
}

TEST_F(KernelSymbolizerTest, VmlinuxIsVerifiedAndMoved) {
  ElfBuilder elf({.type = ET_EXEC});
  const uint16_t text = elf.AddCode(".text", 0xffffffff80000000, 0x1000);
  elf.AddBuildId("aaaa");
  elf.AddSymbol("_text", 0xffffffff80000000, 0, text, STT_NOTYPE);
  elf.AddSymbol("do_idle", 0xffffffff80000100, 0x20, text);
  options_.vmlinux = tree_.Write("vmlinux", elf.Build());
  options_.kernel.reference_symbol = "_text";
  options_.kernel.reference_address = kText;
  options_.kernel.build_id = {'a', 'a', 'a', 'a'};
  options_.live_machine = false;
  const ImageSymbols found = Resolve({kText + 0x110, kText + 0x130});
  EXPECT_THAT(Names(found), ElementsAre("do_idle", "[no symbol covers the address]"));
  EXPECT_EQ(found.symbols[0].start, kText + 0x100);
  EXPECT_EQ(found.file, options_.vmlinux);

  options_.kernel.build_id = {'b', 'b', 'b', 'b'};
  const ImageSymbols refused = Resolve({kText + 0x110});
  EXPECT_THAT(Names(refused), ElementsAre("[no symbols of the recorded kernel]"));
  EXPECT_THAT(refused.notes, Contains(HasSubstr("not the recorded kernel")));
}

TEST_F(KernelSymbolizerTest, BpfProgramsAreNamedByTheTableOrByThemselves) {
  options_.kernel.kallsyms = std::string(kTable) + "ffffffffc0000000 t bpf_prog_1234_in_table\t[bpf]\n";
  KernelSymbolizer kernel(options_);
  Image image;
  image.kind = ImageKind::kBpf;
  image.path = "bpf_prog_5678_named";
  image.start = ProcessAddress(0xffffffffc1000000);
  image.end = ProcessAddress(0xffffffffc1000100);
  const std::vector<uint64_t> addresses = {0xffffffffc0000010, 0xffffffffc1000010};
  const ImageSymbols found = kernel.Resolve(image, addresses);
  EXPECT_THAT(Names(found), ElementsAre("bpf_prog_1234_in_table", "bpf_prog_5678_named"));
  EXPECT_EQ(found.symbols[1].size, 0x100u);
}

std::string RealTable() {
  return SourceDir() + "/test/data/kernel/x86_64.kallsyms";
}

// The table of a real kernel (test/data/README.md), recorded at another place than it was read.
TEST_F(KernelSymbolizerTest, ARealTableOfAnotherBootIsMoved) {
  constexpr uint64_t kRecordedText = 0xffffffff9a200000, kDoIdle = 0xfb980;
  options_.live_machine = false;
  options_.kallsyms = RealTable();
  options_.kernel.reference_symbol = "_text";
  options_.kernel.reference_address = kRecordedText;
  const ImageSymbols found = Resolve({kRecordedText + kDoIdle + 4, kRecordedText + kDoIdle + 0x2b0,
                                      kRecordedText + 0xe01d32, 0xffffffffc067e580});
  EXPECT_THAT(Names(found),
              ElementsAre("do_idle", "play_idle_precise", "[no symbol covers the address]",
                          "[no symbol covers the address]"));  // past _etext; modules move on their own
  EXPECT_EQ(found.symbols[0].start, kRecordedText + kDoIdle);
  EXPECT_EQ(found.symbols[0].size, 0x2b0u);
}

TEST_F(KernelSymbolizerTest, ARealTableOfTheSameBootHasItsModules) {
  options_.live_machine = false;
  options_.kallsyms = RealTable();
  options_.kernel.reference_symbol = "_text";
  options_.kernel.reference_address = 0xffffffffba200000;
  EXPECT_THAT(Names(Resolve({0xffffffffba2fb984, 0xffffffffc067e588})), ElementsAre("do_idle", "lo_ioctl"));
}

std::string SymbolsOfKernel(bool stripped) {
  ElfBuilder elf({.type = ET_EXEC, .symtab = !stripped});
  const uint16_t text = elf.AddCode(".text", kText, 0x1000);
  elf.AddBuildId("aaaa");
  if (stripped) return elf.Build();
  elf.AddSymbol("_text", kText, 0, text, STT_NOTYPE);
  elf.AddSymbol("do_idle", kText + 0x100, 0x80, text);
  return elf.Build();
}

TEST_F(KernelSymbolizerTest, AStrippedVmlinuxHasItsSymbolsInTheDebugFile) {
  options_.live_machine = false;
  options_.vmlinux = tree_.Write("vmlinux", SymbolsOfKernel(true));
  options_.debug_dirs = {tree_.Path("debug")};
  EXPECT_THAT(Names(Resolve({kText + 0x110})), ElementsAre("[no symbols in image]"));
  const std::string debug = tree_.Write("debug/.build-id/61/616161.debug", SymbolsOfKernel(false));
  options_.kernel.reference_symbol = "_text";
  options_.kernel.reference_address = kText + 0x200000;
  const ImageSymbols found = Resolve({kText + 0x200110});
  EXPECT_THAT(Names(found), ElementsAre("do_idle"));
  EXPECT_EQ(found.symbols[0].start, kText + 0x200100);
  EXPECT_EQ(found.file, debug);
}

// The kernel ran 0x2000 above where the file has it.
TEST_F(KernelSymbolizerTest, LinesOfTheVmlinuxThatIsFound) {
  constexpr uint64_t kSlide = 0x2000;
  ElfBuilder elf;
  const uint16_t text = elf.AddCode(".text", kText - kSlide, 0x1000);
  elf.AddBuildId("aaaa");
  elf.AddSymbol("_text", kText - kSlide, 0, text, STT_NOTYPE);
  DwarfBuilder::OneLine(kText - kSlide + 0x100, 0x100, "idle.c", 7).AddTo(&elf);
  tree_.Write("debug/boot/vmlinux-6.1.0", elf.Build());
  options_.debug_dirs = {tree_.Path("debug")};
  options_.live_machine = false;
  options_.kernel.kallsyms = kTable;
  options_.kernel.os_release = "6.1.0";
  options_.kernel.build_id = {'a', 'a', 'a', 'a'};
  options_.kernel.reference_symbol = "_text";
  options_.kernel.reference_address = kText;
  options_.source = SourceDetail::kLines;
  ImageSymbols found = Resolve({kText + 0x110, kText + 0x210});
  EXPECT_THAT(Names(found), ElementsAre("do_idle", "schedule"));
  EXPECT_EQ(found.symbols[0].file, "/src/idle.c");
  EXPECT_EQ(found.symbols[0].line, 7u);
  ASSERT_EQ(found.source.Of(0).size(), 1u);
  EXPECT_EQ(found.source.Of(0)[0].line, 7u);
  EXPECT_THAT(found.source.Of(1), IsEmpty());
  options_.kernel.build_id = {'b'};
  found = Resolve({kText + 0x110});
  EXPECT_THAT(Names(found), ElementsAre("do_idle"));
  EXPECT_EQ(found.symbols[0].line, 0u);
  EXPECT_THAT(found.notes, Contains(HasSubstr("another build than the recorded kernel")));
}

}  // namespace
}  // namespace ksamp
