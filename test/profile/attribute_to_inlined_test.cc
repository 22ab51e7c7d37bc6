// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ksamp/profile.h"

namespace ksamp {
namespace {

using ::testing::ElementsAre;

// work() at 0x1000 with helper() inlined, which has code of its own at 0x2000 too; twin.isra.0 is a clone of
// twin().
Profile Inlined() {
  Profile profile;
  profile.images.resize(2);
  profile.symbols = {{.name = "work", .image = 0, .start = 0x1000, .size = 0x100},
                     {.name = "helper", .image = 0, .start = 0x2000, .size = 0x10},
                     {.name = "twin.isra.0", .image = 0, .start = 0x3000, .size = 0x10},
                     {.name = "work", .image = 1, .start = 0x1000, .size = 0x10}};
  profile.source.files = {"/src/a.c", "/src/h.h"};
  profile.source.functions = {{"work", 0, 10}, {"helper", 1, 3}, {"twin", 1, 30}, {"once", 1, 50}};
  profile.source.frames = {{0, 0, 11},  // work
                           {1, 1, 4},
                           {0, 0, 12},  // helper in work
                           {1, 1, 4},   // helper's own
                           {2, 1, 31},
                           {0, 0, 13},  // twin in work
                           {2, 1, 31},  // twin.isra.0
                           {3, 1, 51},
                           {1, 1, 5},
                           {0, 0, 12},  // once in helper in work
                           {SourceFrame::kNone, 0, 7},
                           {0, 0, 9}};  // nobody knows what in work
  const auto at = [](uint32_t image, uint32_t symbol, uint32_t first, uint32_t frames) {
    return ProfileLocation{.image = image, .symbol = symbol, .first_frame = first, .frames = frames};
  };
  profile.locations = {at(0, 0, 0, 1),       at(0, 0, 1, 2),      at(0, 1, 3, 1), at(0, 0, 4, 2),
                       at(0, 2, 6, 1),       at(0, 0, 7, 3),      at(1, 3, 7, 3), at(0, 0, 10, 2),
                       at(0, kNone32, 1, 2), at(0, kNone32, 0, 0)};
  return profile;
}

TEST(AttributeToInlinedTest, CountsForTheInnermostFunction) {
  Profile profile = Inlined();
  AttributeToInlined(profile);
  std::vector<std::string> names;
  for (const ProfileLocation& location : profile.locations) {
    names.push_back(location.symbol == kNone32 ? "-" : profile.symbols[location.symbol].name);
  }
  EXPECT_THAT(names, ElementsAre("work", "helper", "helper", "twin", "twin.isra.0", "once", "once", "work",
                                 "helper", "-"));
}

TEST(AttributeToInlinedTest, AFunctionWithCodeOfItsOwnIsOneSymbol) {
  Profile profile = Inlined();
  AttributeToInlined(profile);
  EXPECT_EQ(profile.locations[1].symbol, 1u);
  EXPECT_EQ(profile.locations[2].symbol, 1u);
  const ProfileSymbol& twin = profile.symbols[profile.locations[3].symbol];
  EXPECT_EQ(twin.start, 0u);
  EXPECT_EQ(twin.size, 0u);
  EXPECT_EQ(twin.file, "/src/h.h");
  EXPECT_EQ(twin.line, 30u);
}

TEST(AttributeToInlinedTest, ImagesStayApart) {
  Profile profile = Inlined();
  AttributeToInlined(profile);
  EXPECT_NE(profile.locations[5].symbol, profile.locations[6].symbol);
  EXPECT_EQ(profile.symbols[profile.locations[6].symbol].image, 1u);
}

}  // namespace
}  // namespace ksamp
