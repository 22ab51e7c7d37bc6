// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/profile_assembly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/byte_writer.h"
#include "test/profile/profile_rows.h"
#include "test/support/perf_data_builder.h"

namespace ksamp {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// Two counters that met the same processes in the opposite order, and each one the other did not see.
class ProfileAssemblyTest : public ::testing::Test {
 protected:
  ProfileAssemblyTest() : table_(MakeTable()) {
    attr_ = testing::SampleAttr();
    CountedEvent event;
    event.layout = *SampleLayout::FromAttr({reinterpret_cast<const std::byte*>(&attr_), sizeof(attr_)});
    event.has_ip = event.has_thread = event.has_cpu = event.has_period = true;
    plan_.table = &table_;
    options_.separate.comm = true;
    plan_.options = &options_;
    plan_.events.push_back(event);
    for (int i = 0; i < 2; ++i) counters_.push_back(std::make_unique<SampleCounter>(plan_));
  }
  static ProcessTable MakeTable() {
    ProcessTable::Builder builder;
    for (const uint32_t pid : {1u, 2u, 3u, 4u}) {
      const std::string path = StrCat("/bin/", pid);
      Record record;
      MmapRecord map;
      map.mode = CpuMode::kUser;
      map.pid = map.tid = pid;
      map.addr = 0x1000;
      map.length = 0x1000;
      map.path = path;
      record.body = map;
      builder.Add(0, record);
    }
    return std::move(builder).Build();
  }
  void Count(size_t counter, uint32_t pid, uint64_t ip) {
    ByteWriter out;
    out.Put(perf_event_header{.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .size = 56});
    for (const uint64_t word :
         {uint64_t{7}, ip, uint64_t{pid} << 32 | pid, uint64_t{100}, uint64_t{0}, uint64_t{10}})
      out.Put(word);
    counters_[counter]->CountChunk({.bytes = out.bytes(), .offset = 0});
  }

  perf_event_attr attr_;
  ProcessTable table_;
  ProfileOptions options_;
  CountingPlan plan_;
  std::vector<std::unique_ptr<SampleCounter>> counters_;
};

TEST_F(ProfileAssemblyTest, MergesCountersIntoOneOrder) {
  Count(0, 2, 0x1010);
  Count(0, 1, 0x1020);
  Count(0, 3, 0x1000);
  Count(1, 1, 0x1020);
  Count(1, 2, 0x1010);
  Count(1, 2, 0x1008);
  Count(1, 4, 0x1000);
  Profile profile;
  profile.events = {{.name = "e", .note = {}}};
  AssembleProfile(counters_, table_, 2, profile);
  testing::ExpectConserved(profile, 7);
  EXPECT_THAT(profile.names, ElementsAre("1", "2", "3", "4", ":1", ":2", ":3", ":4"));
  EXPECT_EQ(profile.images.size(), 4u);
  EXPECT_THAT(testing::RowsOf(profile),
              ElementsAre(Pair("e 1/:1/-/-/- /bin/1+0x20", 2), Pair("e 2/:2/-/-/- /bin/2+0x10", 2),
                          Pair("e 2/:2/-/-/- /bin/2+0x8", 1), Pair("e 3/:3/-/-/- /bin/3+0x0", 1),
                          Pair("e 4/:4/-/-/- /bin/4+0x0", 1)));
  EXPECT_EQ(profile.entries[0].counts, (Counts{2, 20}));
}

}  // namespace
}  // namespace ksamp
