// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/build_id_cache.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "lib/base/byte_reader.h"
#include "lib/base/byte_writer.h"
#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ksamp::testing::TempTree;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

void PutNote(ByteWriter& out, std::string_view name, uint32_t type, const std::vector<uint8_t>& description) {
  out.Put<uint32_t>(static_cast<uint32_t>(name.size()));
  out.Put<uint32_t>(static_cast<uint32_t>(description.size()));
  out.Put<uint32_t>(type);
  out.PutBytes(AsBytes(name));
  out.AlignTo(4);
  for (uint8_t byte : description) out.Put(byte);
  out.AlignTo(4);
}

const std::string_view kGnu("GNU\0", 4);

// An ELF file of one PT_NOTE at `note_offset`.
template <typename Header, typename ProgramHeader>
std::string MakeElf(unsigned char elf_class, const std::vector<uint8_t>& build_id) {
  ByteWriter notes;
  PutNote(notes, std::string_view("Linux\0", 6), 0, {1, 2, 3});
  if (!build_id.empty()) PutNote(notes, kGnu, NT_GNU_BUILD_ID, build_id);
  Header header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = elf_class;
  header.e_ident[EI_DATA] = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  header.e_phoff = sizeof(Header);
  header.e_phentsize = sizeof(ProgramHeader);
  header.e_phnum = 2;
  ProgramHeader load{}, note{};
  load.p_type = PT_LOAD;
  note.p_type = PT_NOTE;
  note.p_offset = sizeof(Header) + 2 * sizeof(ProgramHeader);
  note.p_filesz = static_cast<decltype(note.p_filesz)>(notes.size());
  ByteWriter out;
  out.Put(header);
  out.Put(load);
  out.Put(note);
  out.PutBytes(notes.bytes());
  return std::string(AsText(out.bytes()));
}

std::vector<uint8_t> Read(const TempTree& tree, std::string_view content) {
  const std::string path = tree.Write("elf", content);
  absl::StatusOr<UniqueFd> fd = OpenForReading(path);
  const StoredBuildId id = ReadElfBuildId(fd->get());
  return {id.view().begin(), id.view().end()};
}

TEST(ReadElfBuildId, ReadsBothClasses) {
  TempTree tree;
  EXPECT_THAT(Read(tree, MakeElf<Elf64_Ehdr, Elf64_Phdr>(ELFCLASS64, {0xab, 0xcd, 1})),
              ElementsAre(0xab, 0xcd, 1));
  EXPECT_THAT(Read(tree, MakeElf<Elf32_Ehdr, Elf32_Phdr>(ELFCLASS32, {9, 8, 7, 6})), ElementsAre(9, 8, 7, 6));
  EXPECT_THAT(Read(tree, MakeElf<Elf64_Ehdr, Elf64_Phdr>(ELFCLASS64, {})), IsEmpty());
}

TEST(ReadElfBuildId, CutsAfterTwentyBytesAsTheKernelDoes) {
  TempTree tree;
  EXPECT_EQ(Read(tree, MakeElf<Elf64_Ehdr, Elf64_Phdr>(ELFCLASS64, std::vector<uint8_t>(32, 5))),
            std::vector<uint8_t>(20, 5));
}

TEST(ReadElfBuildId, TruncatedAtEveryByteGivesTheIdOrNone) {
  TempTree tree;
  const std::string whole = MakeElf<Elf64_Ehdr, Elf64_Phdr>(ELFCLASS64, {1, 2, 3, 4});
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_THAT(Read(tree, whole.substr(0, size)), IsEmpty()) << size;
  EXPECT_THAT(Read(tree, whole), ElementsAre(1, 2, 3, 4));
}

TEST(ReadElfBuildId, HostileHeadersGiveNone) {
  TempTree tree;
  const std::string good = MakeElf<Elf64_Ehdr, Elf64_Phdr>(ELFCLASS64, {1, 2, 3, 4});
  // Every byte of the headers as 0xff, one at a time: nothing but an answer is asked for, and a right one
  // where the byte does not matter.
  for (size_t at = 0; at < sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr); ++at) {
    std::string bad = good;
    bad[at] = '\xff';
    EXPECT_THAT(Read(tree, bad), ::testing::AnyOf(IsEmpty(), ElementsAre(1, 2, 3, 4))) << at;
  }
  EXPECT_THAT(Read(tree, "#!/bin/sh\n"), IsEmpty());
  EXPECT_THAT(Read(tree, ""), IsEmpty());
}

TEST(FindBuildIdNote, FindsItBehindOthersAndUnpadded) {
  ByteWriter notes;
  PutNote(notes, "x", 3, {1});
  PutNote(notes, kGnu, 1, {2});
  PutNote(notes, kGnu, NT_GNU_BUILD_ID, {3, 4, 5});
  EXPECT_THAT(FindBuildIdNote(notes.bytes()).view(), ElementsAre(3, 4, 5));
  // The last byte is padding; without it the note is still whole.
  EXPECT_THAT(FindBuildIdNote(notes.bytes().first(notes.size() - 1)).view(), ElementsAre(3, 4, 5));
  EXPECT_THAT(FindBuildIdNote(notes.bytes().first(notes.size() - 2)).view(), IsEmpty());
  EXPECT_THAT(FindBuildIdNote({}).view(), IsEmpty());
}

TEST(FindBuildIdNote, SizesThatOverflowAreRefused) {
  ByteWriter notes;
  notes.Put<uint32_t>(0xffffffff);
  notes.Put<uint32_t>(0xffffffff);
  notes.Put<uint32_t>(3);
  notes.PutZeros(64);
  EXPECT_THAT(FindBuildIdNote(notes.bytes()).view(), IsEmpty());
}

class BuildIds : public ::testing::Test {
 protected:
  BuildIds() {
    tree_.MakeDirectory("proc");
    absl::StatusOr<ProcFs> proc = ProcFs::Open(tree_.Path("proc"));
    proc_.emplace(*std::move(proc));
    elf_ = MakeElf<Elf64_Ehdr, Elf64_Phdr>(ELFCLASS64, {1, 2, 3});
  }
  static uint64_t InodeOf(const std::string& path) {
    struct stat file {};
    EXPECT_EQ(stat(path.c_str(), &file), 0);
    return file.st_ino;
  }
  TempTree tree_;
  std::optional<ProcFs> proc_;
  std::string elf_;
};

TEST_F(BuildIds, OpensWhatIsMappedAlsoWhenItIsGone) {
  tree_.Write("proc/7/map_files/1000-2000", elf_);
  BuildIdCache cache(&*proc_);
  EXPECT_THAT(cache.Find(7, {0x1000, 0x2000, 0, 0, 0, 8, 1, 42, "/gone (deleted)"}), ElementsAre(1, 2, 3));
}

TEST_F(BuildIds, ReadsEachImageOnce) {
  const std::string path = tree_.Write("lib.so", elf_);
  BuildIdCache cache(&*proc_);
  const uint64_t inode = InodeOf(path);
  EXPECT_THAT(cache.Find(7, {0x1000, 0x2000, 0, 0, 0, 8, 1, inode, path}), ElementsAre(1, 2, 3));
  ASSERT_EQ(unlink(path.c_str()), 0);
  EXPECT_THAT(cache.Find(9, {0x5000, 0x6000, 0, 0, 0, 8, 1, inode, path}), ElementsAre(1, 2, 3));
  EXPECT_THAT(cache.Find(9, {0x5000, 0x6000, 0, 0, 0, 8, 2, inode, path}), IsEmpty());  // Another device.
  EXPECT_EQ(cache.size(), 2u);
}

TEST_F(BuildIds, BelievesAPathOnlyWithTheSameInode) {
  const std::string path = tree_.Write("lib.so", elf_);
  BuildIdCache cache(&*proc_);
  EXPECT_THAT(cache.Find(7, {0x1000, 0x2000, 0, 0, 0, 8, 1, InodeOf(path) + 1, path}), IsEmpty());
}

TEST_F(BuildIds, AnonymousMemoryAndDevicesHaveNone) {
  tree_.Write("proc/7/map_files/1000-2000", elf_);
  BuildIdCache cache(&*proc_);
  EXPECT_THAT(cache.Find(7, {0x1000, 0x2000, 0, 0, 0, 0, 0, 0, ""}), IsEmpty());
  EXPECT_THAT(cache.Find(7, {0x1000, 0x2000, 0, 0, 0, 0, 5, 9, "/dev/zero"}), IsEmpty());
}

TEST_F(BuildIds, AFifoInTheWayDoesNotBlock) {
  const std::string path = tree_.Path("fifo");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  BuildIdCache cache(&*proc_);
  EXPECT_THAT(cache.Find(7, {0x1000, 0x2000, 0, 0, 0, 8, 1, InodeOf(path), path}), IsEmpty());
}

}  // namespace
}  // namespace ksamp
