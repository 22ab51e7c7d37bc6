// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/scratch_file.h"

#include <gtest/gtest.h>

#include <vector>

#include "test/support/status_matchers.h"

namespace ksamp::perfdata {
namespace {

std::vector<std::byte> Pattern(size_t size, unsigned seed) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 + seed);
  return bytes;
}

TEST(ScratchFile, EmptyIsEmpty) {
  ASSERT_OK_AND_ASSIGN(MappedRegion region, ScratchFile().Finish());
  EXPECT_EQ(region.size(), 0u);
}

TEST(ScratchFile, HoldsWhatWasAppendedInMemoryAndOnDisk) {
  for (uint64_t limit : {uint64_t{1} << 30, uint64_t{1} << 20}) {
    ScratchFile scratch(limit);
    std::vector<std::byte> expected;
    for (unsigned i = 0; i < 40; ++i) {
      const std::vector<std::byte> piece = Pattern(i == 20 ? 3'000'000 : i * 4096 + 7, i);
      ASSERT_OK(scratch.Append(piece));
      expected.insert(expected.end(), piece.begin(), piece.end());
      EXPECT_EQ(scratch.size(), expected.size());
    }
    EXPECT_EQ(scratch.on_disk(), limit < expected.size());
    ASSERT_OK_AND_ASSIGN(MappedRegion region, std::move(scratch).Finish());
    EXPECT_TRUE(std::equal(region.bytes().begin(), region.bytes().end(), expected.begin(), expected.end()));
  }
}

}  // namespace
}  // namespace ksamp::perfdata
