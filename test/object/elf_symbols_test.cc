// SPDX-License-Identifier: Apache-2.0
#include "lib/object/elf_symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "lib/base/byte_reader.h"
#include "test/support/elf_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::ElfBuilder;
using ::ksamp::testing::IsOk;

class Symbols {
 public:
  explicit Symbols(const ElfBuilder& elf) {
    const std::string text = elf.Build();
    const auto bytes = AsBytes(text);
    auto parsed = ElfImage::FromBytes({bytes.begin(), bytes.end()}, "test.elf");
    EXPECT_THAT(parsed, IsOk());
    if (!parsed.ok()) return;
    elf_.emplace(*std::move(parsed));
    SymbolTableBuilder builder;
    count_ = AddElfSymbols(*elf_, &builder);
    plt_count_ = AddPltSymbols(*elf_, &builder);
    table_ = std::move(builder).Build();
  }
  size_t count() const { return count_; }
  size_t plt_count() const { return plt_count_; }
  std::string At(uint64_t address) const {
    const auto match = table_.Find(address);
    return match ? std::string(match->name) : "-";
  }

 private:
  std::optional<ElfImage> elf_;
  SymbolTable table_;
  size_t count_ = 0, plt_count_ = 0;
};

TEST(ElfSymbolsTest, TakesFunctionsAndLabelsOfCodeSections) {
  ElfBuilder elf;
  const uint16_t text = elf.AddCode(".text", 0x1000, 0x100);
  const uint16_t data = elf.AddSection(".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x2000, "data");
  elf.AddSymbol("function", 0x1000, 16, text);
  elf.AddSymbol("ifunc", 0x1010, 16, text, STT_GNU_IFUNC);
  elf.AddSymbol("label", 0x1020, 0, text, STT_NOTYPE);
  elf.AddSymbol("variable", 0x2000, 4, data, STT_OBJECT);
  elf.AddSymbol("undefined", 0, 0, SHN_UNDEF);
  elf.AddSymbol("absolute", 0x1030, 0, SHN_ABS, STT_NOTYPE);
  elf.AddSymbol("", 0x1040, 0, text, STT_SECTION);
  elf.AddSymbol("file.c", 0x1050, 0, text, STT_FILE);
  elf.AddSymbol(".L42", 0x1060, 0, text, STT_NOTYPE, STB_LOCAL);
  elf.AddSymbol("gcc2_compiled.", 0x1070, 0, text, STT_NOTYPE, STB_LOCAL);
  const Symbols symbols(elf);
  EXPECT_EQ(symbols.count(), 3u);
  EXPECT_EQ(symbols.At(0x1000), "function");
  EXPECT_EQ(symbols.At(0x1018), "ifunc");
  EXPECT_EQ(symbols.At(0x10ff), "label");
  EXPECT_EQ(symbols.At(0x1100), "-");
  EXPECT_EQ(symbols.At(0x2000), "-");
}

TEST(ElfSymbolsTest, MappingSymbolsOfArmAreNone) {
  for (const uint16_t machine : std::initializer_list<uint16_t>{EM_ARM, EM_AARCH64, EM_RISCV}) {
    ElfBuilder elf({.machine = machine});
    const uint16_t text = elf.AddCode(".text", 0x1000, 0x100);
    for (const char* name : {"$x", "$a", "$t", "$d", "$d.7", "$xrv64i2p1"}) {
      elf.AddSymbol(name, 0x1000, 0, text, STT_NOTYPE, STB_LOCAL);
    }
    elf.AddSymbol("real", 0x1000, 0, text, STT_NOTYPE, STB_LOCAL);
    const Symbols symbols(elf);
    EXPECT_EQ(symbols.count(), 1u) << machine;
    EXPECT_EQ(symbols.At(0x1004), "real");
  }
  ElfBuilder elf;
  elf.AddSymbol("$x", 0x1000, 0, elf.AddCode(".text", 0x1000, 0x100), STT_NOTYPE, STB_LOCAL);
  EXPECT_EQ(Symbols(elf).At(0x1000), "$x") << "an ordinary name on x86";
}

TEST(ElfSymbolsTest, TakesOffTheThumbBit) {
  ElfBuilder elf({.machine = EM_ARM, .is_64 = false});
  elf.AddSymbol("thumb", 0x1001, 8, elf.AddCode(".text", 0x1000, 0x100));
  const Symbols symbols(elf);
  EXPECT_EQ(symbols.At(0x1000), "thumb");
  EXPECT_EQ(symbols.At(0x1008), "-");
}

TEST(ElfSymbolsTest, RelocatableFilesHaveOneSpaceOfAddressesForAllSections) {
  ElfBuilder elf({.type = ET_REL});
  const uint16_t text = elf.AddCode(".text", 0, 0x40), init = elf.AddCode(".init.text", 0, 0x20);
  elf.AddSymbol("run", 0, 0x10, text);
  elf.AddSymbol("init_module", 0, 0, init, STT_NOTYPE);
  const Symbols symbols(elf);
  EXPECT_EQ(symbols.At(RelocatableAddress(text, 8)), "run");
  EXPECT_EQ(symbols.At(RelocatableAddress(text, 0x10)), "-");
  EXPECT_EQ(symbols.At(RelocatableAddress(init, 8)), "init_module");
  EXPECT_EQ(symbols.At(RelocatableAddress(init, 0x20)), "-");
}

std::string LittleEndian(std::initializer_list<std::pair<uint64_t, size_t>> numbers) {
  std::string out;
  for (const auto& [value, width] : numbers) {
    for (size_t i = 0; i < width; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  }
  return out;
}

// One undefined function of .dynsym.
std::string DynamicSymbol(uint32_t name) {
  return LittleEndian({{name, 4}, {STB_GLOBAL << 4 | STT_FUNC, 1}, {0, 1}, {SHN_UNDEF, 2}, {0, 8}, {0, 8}});
}

std::string Relocation(uint64_t symbol, uint64_t type) {
  return LittleEndian({{0x4000, 8}, {symbol << 32 | type, 8}, {0, 8}});
}

// A library that calls malloc, an IRELATIVE function without a name, and free, in this order.
ElfBuilder CallingLibrary(uint16_t machine, std::string_view stubs, uint64_t size) {
  ElfBuilder elf({.machine = machine, .symtab = false});
  elf.AddCode(stubs, 0x1020, size);
  const uint16_t names =
      elf.AddSection(".dynstr", SHT_STRTAB, SHF_ALLOC, 0, std::string_view("\0malloc\0free\0", 13));
  const uint16_t symbols =
      elf.AddSection(".dynsym", SHT_DYNSYM, SHF_ALLOC, 0,
                     std::string(sizeof(Elf64_Sym), '\0') + DynamicSymbol(1) + DynamicSymbol(8), 0, names);
  elf.AddSection(".rela.plt", SHT_RELA, SHF_ALLOC, 0, Relocation(1, 7) + Relocation(0, 37) + Relocation(2, 7),
                 0, symbols);
  return elf;
}

TEST(ElfSymbolsTest, StubsOfThePltAreNamedAfterWhatTheyCall) {
  const Symbols x86(CallingLibrary(EM_X86_64, ".plt", 0x40));
  EXPECT_EQ(x86.count(), 0u);  // undefined symbols are not here
  EXPECT_EQ(x86.plt_count(), 2u);
  EXPECT_EQ(x86.At(0x1020), "-");  // the first entry belongs to the dynamic linker
  EXPECT_EQ(x86.At(0x1030), "malloc@plt");
  EXPECT_EQ(x86.At(0x103f), "malloc@plt");
  EXPECT_EQ(x86.At(0x1040), "-");
  EXPECT_EQ(x86.At(0x105f), "free@plt");
  EXPECT_EQ(x86.At(0x1060), "-");
}

TEST(ElfSymbolsTest, StubsWithBranchTargetsStandInASectionOfTheirOwn) {
  const Symbols ibt(CallingLibrary(EM_X86_64, ".plt.sec", 0x30));
  EXPECT_EQ(ibt.At(0x1020), "malloc@plt");
  EXPECT_EQ(ibt.At(0x104f), "free@plt");
  const Symbols aarch64(CallingLibrary(EM_AARCH64, ".plt", 0x50));
  EXPECT_EQ(aarch64.At(0x103f), "-");
  EXPECT_EQ(aarch64.At(0x1040), "malloc@plt");
  EXPECT_EQ(aarch64.At(0x1060), "free@plt");
}

TEST(ElfSymbolsTest, MoreRelocationsThanStubsStayInsideThePlt) {
  const Symbols cut(CallingLibrary(EM_X86_64, ".plt", 0x20));
  EXPECT_EQ(cut.plt_count(), 1u);
  EXPECT_EQ(cut.At(0x1030), "malloc@plt");
  EXPECT_EQ(cut.At(0x1040), "-");
}

}  // namespace
}  // namespace ksamp
