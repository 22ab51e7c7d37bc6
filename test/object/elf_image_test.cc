// SPDX-License-Identifier: Apache-2.0
#include "lib/object/elf_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <string>

#include "lib/base/byte_reader.h"
#include "lib/base/compression.h"
#include "test/support/elf_builder.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::ElfBuilder;
using ::ksamp::testing::IsOk;
using ::ksamp::testing::StatusIs;
using ::ksamp::testing::TempTree;
using ::testing::HasSubstr;
using ::testing::Optional;

std::vector<std::byte> Bytes(const std::string& text) {
  const auto bytes = AsBytes(text);
  return {bytes.begin(), bytes.end()};
}

absl::StatusOr<ElfImage> Parse(const std::string& bytes) {
  return ElfImage::FromBytes(Bytes(bytes), "test.elf");
}

std::string WithSegments(std::vector<ElfBuilder::Segment> segments, uint16_t machine = EM_X86_64) {
  ElfBuilder elf({.machine = machine});
  for (const auto& segment : segments) elf.AddSegment(segment);
  return elf.Build();
}

struct Layout {
  const char* name;
  bool is_64, big_endian;
};

class EveryLayout : public ::testing::TestWithParam<Layout> {};

INSTANTIATE_TEST_SUITE_P(, EveryLayout,
                         ::testing::Values(Layout{"Little64", true, false}, Layout{"Big64", true, true},
                                           Layout{"Little32", false, false}, Layout{"Big32", false, true}),
                         [](const auto& layout) { return layout.param.name; });

TEST_P(EveryLayout, ReadsHeadersSectionsSymbolsAndBuildId) {
  ElfBuilder builder({.type = ET_EXEC, .is_64 = GetParam().is_64, .big_endian = GetParam().big_endian});
  const uint16_t text = builder.AddCode(".text", 0x401000, 64);
  builder.AddBuildId("\x01\x02\x03\x04");
  builder.AddSymbol("main", 0x401010, 16, text);
  builder.AddSegment({.flags = PF_R | PF_X, .offset = 0x1000, .vaddr = 0x401000, .filesz = 0x40});
  ASSERT_OK_AND_ASSIGN(const ElfImage elf, Parse(builder.Build()));

  EXPECT_EQ(elf.is_64(), GetParam().is_64);
  EXPECT_EQ(elf.type(), ET_EXEC);
  EXPECT_EQ(elf.machine(), EM_X86_64);
  EXPECT_EQ(AsText(elf.build_id()), "\x01\x02\x03\x04");
  ASSERT_NE(elf.FindSection(".text"), nullptr);
  EXPECT_TRUE(elf.FindSection(".text")->executable());
  EXPECT_EQ(elf.FindSection(".text")->addr, 0x401000u);
  EXPECT_EQ(elf.RawBytes(*elf.FindSection(".text")).size(), 64u);
  const Elf64_Sym symbol = elf.SymbolAt(elf.RawBytes(*elf.FindSection(".symtab")), 1);
  EXPECT_EQ(symbol.st_value, 0x401010u);
  EXPECT_EQ(symbol.st_size, 16u);
  EXPECT_EQ(symbol.st_shndx, text);
  EXPECT_EQ(ELF64_ST_TYPE(symbol.st_info), STT_FUNC);
  EXPECT_THAT(elf.ToElfAddress(FileOffset(0x1010)), Optional(ElfAddress(0x401010)));
}

TEST(ElfImageTest, TranslatesOffsetsByTheSegmentThatHoldsThem) {
  // lld's layout: every segment has its own difference between offset and address.
  ASSERT_OK_AND_ASSIGN(
      const ElfImage elf,
      Parse(WithSegments(
          {{.flags = PF_R, .offset = 0, .vaddr = 0, .filesz = 0x7c4},
           {.flags = PF_R | PF_X, .offset = 0x7d0, .vaddr = 0x17d0, .filesz = 0x250},
           {.flags = PF_R | PF_W, .offset = 0xa20, .vaddr = 0x2a20, .filesz = 0x30, .memsz = 0x5000}})));
  const struct {
    const char* what;
    uint64_t offset;
    std::optional<ElfAddress> address;
  } cases[] = {
      {"first byte of the code", 0x7d0, ElfAddress(0x17d0)},
      {"inside of the code", 0x900, ElfAddress(0x1900)},
      {"last byte of the code", 0xa1f, ElfAddress(0x1a1f)},
      {"in the page below the code: its mapping begins there", 0x7c0, ElfAddress(0x17c0)},
      {"start of the file, in the code's first page", 0, ElfAddress(0x1000)},
      {"behind the code, in its last page", 0xa30, ElfAddress(0x1a30)},
      {"behind all", 0x5000, std::nullopt},
  };
  for (const auto& c : cases) EXPECT_EQ(elf.ToElfAddress(FileOffset(c.offset)), c.address) << c.what;
}

TEST(ElfImageTest, DataSegmentsCountByFileSizeNotMemorySize) {
  ASSERT_OK_AND_ASSIGN(
      const ElfImage elf,
      Parse(WithSegments(
          {{.flags = PF_R | PF_W, .offset = 0x1000, .vaddr = 0x9000, .filesz = 0x10, .memsz = 0x9000},
           {.flags = PF_R | PF_X, .offset = 0x3000, .vaddr = 0x20000, .filesz = 0x1000}})));
  EXPECT_THAT(elf.ToElfAddress(FileOffset(0x100f)), Optional(ElfAddress(0x900f)));
  EXPECT_EQ(elf.ToElfAddress(FileOffset(0x1010)), std::nullopt);
  EXPECT_THAT(elf.ToElfAddress(FileOffset(0x3004)), Optional(ElfAddress(0x20004)));
}

TEST(ElfImageTest, PagesAreLargerOnOtherMachines) {
  const std::vector<ElfBuilder::Segment> segments = {
      {.offset = 0x18000, .vaddr = 0x28000, .filesz = 0x100, .align = 0x10000}};
  ASSERT_OK_AND_ASSIGN(const ElfImage x86, Parse(WithSegments(segments, EM_X86_64)));
  ASSERT_OK_AND_ASSIGN(const ElfImage arm, Parse(WithSegments(segments, EM_AARCH64)));
  EXPECT_EQ(x86.ToElfAddress(FileOffset(0x11000)), std::nullopt);
  EXPECT_THAT(arm.ToElfAddress(FileOffset(0x11000)), Optional(ElfAddress(0x21000)));
}

TEST(ElfImageTest, TranslatesBack) {
  ASSERT_OK_AND_ASSIGN(
      const ElfImage elf,
      Parse(WithSegments({{.offset = 0x7d0, .vaddr = 0x17d0, .filesz = 0x10, .memsz = 0x100}})));
  EXPECT_THAT(elf.ToFileOffset(ElfAddress(0x17d4)), Optional(FileOffset(0x7d4)));
  EXPECT_EQ(elf.ToFileOffset(ElfAddress(0x17e0)), std::nullopt);
}

TEST(ElfImageTest, FindsTheBuildIdBySegmentWhereSectionsAreGone) {
  ElfBuilder builder;
  builder.AddBuildId("abcdefghijklmnopqrst");
  // Sections' bytes follow the program header, aligned to 16.
  builder.AddSegment({.type = PT_NOTE, .offset = sizeof(Elf64_Ehdr) + 64, .filesz = 36, .align = 4});
  std::string bytes = builder.Build();
  const uint64_t none = 0;
  std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_shoff), &none, sizeof(none));
  ASSERT_OK_AND_ASSIGN(const ElfImage elf, Parse(bytes));
  EXPECT_TRUE(elf.sections().empty());
  EXPECT_EQ(AsText(elf.build_id()), "abcdefghijklmnopqrst");
}

TEST(ElfImageTest, OpensCompressedModules) {
  ElfBuilder builder({.type = ET_REL});
  builder.AddCode(".text", 0, 32);
  const std::string plain = builder.Build();
  ASSERT_OK_AND_ASSIGN(const std::vector<std::byte> zstd, CompressZstd(AsBytes(plain), 3));
  const TempTree tree;
  ASSERT_OK_AND_ASSIGN(const ElfImage elf, ElfImage::Open(tree.Write("m.ko.zst", AsText(zstd))));
  EXPECT_EQ(AsText(elf.bytes()), plain);
  EXPECT_NE(elf.FindSection(".text"), nullptr);
}

TEST(ElfImageTest, RefusesWhatIsNoElfFile) {
  const TempTree tree;
  const std::string fifo = tree.Path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(ElfImage::Open(fifo),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not a regular file")));
  EXPECT_THAT(ElfImage::Open(tree.Path("none")), StatusIs(absl::StatusCode::kNotFound, HasSubstr("none")));
  EXPECT_THAT(ElfImage::Open(tree.Write("text", "#!/bin/sh\n exit 0\n")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not an ELF file")));
  EXPECT_THAT(ElfImage::Open(tree.Write("empty", "")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not an ELF file")));
}

TEST(ElfImageTest, RefusesHeadersThatLieOutside) {
  ElfBuilder builder;
  builder.AddCode(".text", 0x1000, 16);
  builder.AddSegment({.offset = 0, .vaddr = 0, .filesz = 16});
  const std::string good = builder.Build();
  const auto with = [&](size_t at, auto value) {
    std::string bytes = good;
    std::memcpy(bytes.data() + at, &value, sizeof(value));
    return Parse(bytes).status();
  };
  EXPECT_THAT(with(offsetof(Elf64_Ehdr, e_shoff), ~uint64_t{0}),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("section headers")));
  EXPECT_THAT(with(offsetof(Elf64_Ehdr, e_shnum), uint16_t{0xfeff}),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("65279 section headers")));
  EXPECT_THAT(with(offsetof(Elf64_Ehdr, e_phoff), ~uint64_t{0} - 8),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("program headers")));
  EXPECT_THAT(with(offsetof(Elf64_Ehdr, e_phentsize), uint16_t{8}),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("too small")));
  EXPECT_THAT(with(EI_CLASS, uint8_t{7}), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("unknown class")));
}

TEST(ElfImageTest, EveryTruncationIsAnErrorOrReadable) {
  ElfBuilder builder;
  const uint16_t text = builder.AddCode(".text", 0x1000, 16);
  builder.AddBuildId("abcdefghijklmnopqrst");
  builder.AddSymbol("f", 0x1000, 8, text);
  const std::string good = builder.Build();
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(Parse(good.substr(0, size)).ok()) << size;  // section headers come last
  }
}

TEST(ElfImageTest, BuildIdOfKernelNotes) {
  std::string notes("\x06\0\0\0\x01\0\0\0\0\x01\0\0Linux\0\0\0\x07\0\0\0", 24);
  notes.append("\x04\0\0\0\x03\0\0\0\x03\0\0\0GNU\0abc\0", 20);
  EXPECT_THAT(BuildIdOfNotes(AsBytes(notes)), ::testing::ElementsAre('a', 'b', 'c'));
  EXPECT_TRUE(BuildIdOfNotes(AsBytes(notes.substr(0, notes.size() - 2))).empty());
}

}  // namespace
}  // namespace ksamp
