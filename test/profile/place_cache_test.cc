// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/place_cache.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

namespace ksamp {
namespace {

void AddMap(ProcessTable::Builder& builder, uint64_t time, uint64_t addr, std::string_view path) {
  MmapRecord map;
  map.mode = CpuMode::kUser;
  map.pid = map.tid = 1;
  map.addr = addr;
  map.length = 0x1000;
  map.file_offset = 0x3000;
  map.path = path;
  Record record;
  record.body = map;
  builder.Add(time, record);
}

TEST(PlaceCacheTest, AnswersByAddressAndTimeWhateverWasAskedBefore) {
  ProcessTable::Builder builder;
  AddMap(builder, 0, 0x10000, "/bin/old");
  AddMap(builder, 100, 0x10000, "/bin/new");
  AddMap(builder, 0, 0x20000, "//anon");
  const ProcessTable table = std::move(builder).Build();
  const uint32_t epoch = table.StateAt(1, 0)->epoch;
  PlaceCache places(table);
  const Place* last = places.start();
  const auto path_at = [&](uint64_t ip, uint64_t time) {
    return table.images().at(places.At(last, epoch, ip, time).image).path;
  };
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(path_at(0x10010, 50), "/bin/old");
    EXPECT_EQ(path_at(0x10010, 150), "/bin/new");
    EXPECT_EQ(path_at(0x20010, 150), "//anon");
  }
  EXPECT_EQ(0x10010 + places.At(last, epoch, 0x10010, 50).delta, 0x3010u) << "files are addressed by offset";
  EXPECT_EQ(places.At(last, epoch, 0x20010, 50).delta, 0u) << "memory without a file as it ran";
}

// start_kernel, where the idle stack of the first CPU begins.
TEST(PlaceCacheTest, CodeBehindTheKernelsTextIsTheKernels) {
  constexpr uint64_t kText = 0xffffffff81000000, kModule = kText + 0x400000;
  ProcessTable::Builder builder;
  const auto add = [&builder](uint64_t addr, uint64_t length, std::string_view path) {
    MmapRecord map;
    map.mode = CpuMode::kKernel;
    map.pid = ~0u;
    map.addr = map.file_offset = addr;
    map.length = length;
    map.path = path;
    Record record;
    record.body = map;
    builder.Add(0, record);
  };
  add(kText, 0x100000, "[kernel.kallsyms]_text");
  add(kModule, 0x1000, "/lib/modules/6.1/kernel/kvm.ko");
  const ProcessTable table = std::move(builder).Build();
  PlaceCache places(table);
  const Place* last = places.start();
  const auto image_at = [&](uint64_t ip) { return places.At(last, PlaceCache::kKernelEpoch, ip, 0).image; };
  const uint32_t kernel = image_at(kText + 0x10), none = ReasonImage(UnresolvedReason::kNoMapping);
  EXPECT_EQ(image_at(kText + 0x200000), kernel);
  EXPECT_NE(image_at(kModule + 0x10), kernel);
  EXPECT_EQ(image_at(kText + 0x10000000), none) << "too far";
  EXPECT_EQ(image_at(kText - 0x10), none);
}

TEST(PlaceCacheTest, AddressesOfNothingCarryTheReason) {
  const ProcessTable table = ProcessTable::Builder().Build();
  PlaceCache places(table);
  const Place* last = places.start();
  EXPECT_EQ(places.At(last, PlaceCache::kUnknownEpoch, 1, 0).image,
            ReasonImage(UnresolvedReason::kUnknownProcess));
  EXPECT_EQ(places.At(last, PlaceCache::kKernelEpoch, 1, 0).image, kKernelWithoutMap);
  EXPECT_EQ(places.At(last, table.StateAt(0, 0)->epoch, 1, 0).image,
            ReasonImage(UnresolvedReason::kNoMapping));
}

}  // namespace
}  // namespace ksamp
