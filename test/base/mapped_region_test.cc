// SPDX-License-Identifier: Apache-2.0
#include "lib/base/mapped_region.h"

#include <utility>

#include "lib/base/byte_reader.h"
#include "lib/base/file_io.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::StatusIs;
using ::ksamp::testing::TempTree;
using ::testing::HasSubstr;

TEST(MappedRegion, ShowsAFile) {
  const TempTree tree;
  ASSERT_OK_AND_ASSIGN(MappedRegion region, MappedRegion::MapFile(tree.Write("f", "content")));
  EXPECT_EQ(AsText(region.bytes()), "content");
}

TEST(MappedRegion, AnEmptyFileIsEmptyBytes) {
  const TempTree tree;
  ASSERT_OK_AND_ASSIGN(MappedRegion region, MappedRegion::MapFile(tree.Write("f", "")));
  EXPECT_EQ(region.size(), 0u);
}

TEST(MappedRegion, WhatIsNoRegularFileIsRefused) {
  const TempTree tree;
  EXPECT_FALSE(MappedRegion::MapFile(tree.root()).ok());
  EXPECT_FALSE(MappedRegion::MapFile("/dev/zero").ok());
  EXPECT_THAT(MappedRegion::MapFile(tree.Path("none")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(tree.Path("none"))));
}

TEST(MappedRegion, MovingKeepsTheBytesWhereTheyAre) {
  ASSERT_OK_AND_ASSIGN(MappedRegion first, MappedRegion::MapAnonymous(8192));
  first.mutable_bytes()[8191] = std::byte{7};
  const std::byte* where = first.bytes().data();
  MappedRegion second = std::move(first);
  EXPECT_EQ(second.bytes().data(), where);
  EXPECT_EQ(second.bytes()[8191], std::byte{7});
  EXPECT_EQ(first.size(), 0u);  // NOLINT(bugprone-use-after-move): what a moved-from region is, is promised
  ASSERT_OK_AND_ASSIGN(MappedRegion third, MappedRegion::MapAnonymous(4096));
  third = std::move(second);
  EXPECT_EQ(third.bytes().data(), where);
}

TEST(MappedRegion, SharedMemoryReachesTheFile) {
  ASSERT_OK_AND_ASSIGN(UniqueFd fd, CreateScratchFile("ring"));
  ASSERT_EQ(ftruncate(fd.get(), 4096), 0);
  ASSERT_OK_AND_ASSIGN(MappedRegion region, MappedRegion::MapShared(fd.get(), 4096, 0, "ring"));
  region.mutable_bytes()[0] = std::byte{'x'};
  char first = 0;
  ASSERT_EQ(pread(fd.get(), &first, 1, 0), 1);
  EXPECT_EQ(first, 'x');
}

}  // namespace
}  // namespace ksamp
