// SPDX-License-Identifier: Apache-2.0
#include "lib/base/mapped_region.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/byte_reader.h"
#include "lib/base/file_io.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ksamp::testing::IsOkAndHolds;
using ksamp::testing::StatusIs;
using ksamp::testing::TempTree;
using ::testing::_;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(MappedRegion, MapsAWholeFile) {
  TempTree tree;
  const std::string text(10000, 'm');
  ASSERT_OK_AND_ASSIGN(MappedRegion region, MappedRegion::MapFile(tree.Write("file", text)));
  EXPECT_EQ(AsText(region.bytes()), text);
}

TEST(MappedRegion, AnEmptyFileIsEmptyBytes) {
  TempTree tree;
  ASSERT_OK_AND_ASSIGN(MappedRegion region, MappedRegion::MapFile(tree.Write("file", "")));
  EXPECT_EQ(region.size(), 0u);
}

TEST(MappedRegion, RefusesWhatIsNoFile) {
  TempTree tree;
  EXPECT_THAT(MappedRegion::MapFile(tree.Path("none")).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none")));
  EXPECT_THAT(MappedRegion::MapFile(tree.root()).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not a regular file")));
  // Opening a FIFO without a writer would wait for one.
  ASSERT_EQ(mkfifo(tree.Path("fifo").c_str(), 0600), 0);
  EXPECT_THAT(MappedRegion::MapFile(tree.Path("fifo")).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, _));
}

TEST(MappedRegion, MovesWithoutMovingTheBytes) {
  TempTree tree;
  ASSERT_OK_AND_ASSIGN(MappedRegion first, MappedRegion::MapFile(tree.Write("a", "first")));
  ASSERT_OK_AND_ASSIGN(MappedRegion second, MappedRegion::MapFile(tree.Write("b", "second")));
  const std::byte* address = first.bytes().data();
  MappedRegion third = std::move(first);
  EXPECT_EQ(third.bytes().data(), address);
  EXPECT_EQ(first.size(), 0u);  // NOLINT(bugprone-use-after-move): moved-from is empty by contract.
  third = std::move(second);
  EXPECT_EQ(AsText(third.bytes()), "second");
}

// Whether each page of `bytes` is in this process's page table.
std::vector<bool> PagesPresent(std::span<const std::byte> bytes) {
  const size_t page = 4096, count = bytes.size() / page;
  std::vector<uint64_t> entries(count);
  const UniqueFd pagemap(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  const auto first = reinterpret_cast<uintptr_t>(bytes.data()) / page;
  const auto size = static_cast<ssize_t>(count * sizeof(uint64_t));
  if (pread(pagemap.get(), entries.data(), count * sizeof(uint64_t), static_cast<off_t>(first * 8)) != size)
    return {};
  std::vector<bool> present;
  for (const uint64_t entry : entries) present.push_back((entry >> 63) != 0);
  return present;
}

TEST(MappedRegion, ReleasedPagesAreGoneAndComeAgain) {
  if (sysconf(_SC_PAGESIZE) != 4096) GTEST_SKIP() << "written for pages of 4096 bytes";
  TempTree tree;
  const std::string text = std::string(1 << 20, 'a') + std::string(1 << 20, 'b');
  ASSERT_OK_AND_ASSIGN(MappedRegion region, MappedRegion::MapFile(tree.Write("file", text)));
  ASSERT_EQ(AsText(region.bytes()), text);
  const std::span<const std::byte> part = region.bytes().first(1 << 20);
  ASSERT_THAT(PagesPresent(part), AllOf(SizeIs(256), Each(true)));

  region.ReleasePages(part.subspan(100));  // The page that it begins in goes too.
  EXPECT_THAT(PagesPresent(part), AllOf(SizeIs(256), Each(false)));
  EXPECT_EQ(AsText(region.bytes()), text);
}

TEST(MappedRegion, SharedWritesReachTheFile) {
  TempTree tree;
  const std::string path = tree.Path("file");
  ASSERT_OK_AND_ASSIGN(UniqueFd fd, CreateOutputFile(path));
  ASSERT_OK(WriteAll(fd.get(), AsBytes("abc"), path));
  {
    ASSERT_OK_AND_ASSIGN(MappedRegion region, MappedRegion::MapShared(fd.get(), 3, 0, path));
    region.mutable_bytes()[1] = std::byte{'X'};
  }
  EXPECT_THAT(ReadFile(path), IsOkAndHolds("aXc"));
}

TEST(MappedRegion, MapErrorsNameTheObject) {
  EXPECT_THAT(MappedRegion::MapDescriptor(-1, 10, "that").status(),
              StatusIs(_, HasSubstr("mmap that (10 bytes)")));
  EXPECT_EQ(StatusErrno(MappedRegion::MapShared(-1, 10, 0, "that").status()), EBADF);
}

TEST(MappedRegion, AnonymousMemoryIsZeroAndWritable) {
  ASSERT_OK_AND_ASSIGN(MappedRegion region, MappedRegion::MapAnonymous(1 << 20));
  EXPECT_TRUE(std::all_of(region.bytes().begin(), region.bytes().end(),
                          [](std::byte b) { return b == std::byte{0}; }));
  region.mutable_bytes()[region.size() - 1] = std::byte{1};
  ASSERT_OK_AND_ASSIGN(MappedRegion none, MappedRegion::MapAnonymous(0));
  EXPECT_EQ(none.size(), 0u);
}

}  // namespace
}  // namespace ksamp
