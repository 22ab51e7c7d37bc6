// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>

#include "lib/base/str_cat.h"
#include "test/report/write.h"

namespace ksamp {
namespace {

using ::testing::AllOf;
using testing::Calls;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using testing::SampleProfile;
using testing::Written;

std::string Svg(const Profile& profile, bool icicle = false) {
  return Written(profile, {.format = OutputFormat::kFlameGraph, .icicle = icicle});
}

struct DrawnFrame {
  uint64_t start = 0, value = 0, depth = 0;
  std::string name, y;
};

std::vector<DrawnFrame> FramesOf(const std::string& svg) {
  static const std::regex* const kFrame = new std::regex(
      "<g data-s=\"(\\d+)\" data-v=\"(\\d+)\" data-d=\"(\\d+)\"><title>([^\n]*)\n[^<]*</title>"
      "<rect x=\"[0-9.]+\" y=\"([0-9.]+)\"");
  std::vector<DrawnFrame> frames;
  for (std::sregex_iterator it(svg.begin(), svg.end(), *kFrame), end; it != end; ++it)
    frames.push_back(
        {std::stoull((*it)[1]), std::stoull((*it)[2]), std::stoull((*it)[3]), (*it)[4], (*it)[5]});
  return frames;
}

TEST(FlameGraph, AFrameStandsOnItsCallerAndIsAsWideAsItsSamples) {
  std::map<std::string, std::string> places;
  for (const DrawnFrame& f : FramesOf(Svg(Calls().profile())))
    places[StrCat(f.depth, " ", f.name, " ", f.start)] = StrCat(f.value);
  EXPECT_THAT(
      places,
      ElementsAre(Pair("1 app 0", "88"), Pair("1 io;loop 88", "12"), Pair("2 /lib/bare.so 88", "12"),
                  Pair("2 [truncated: deeper than recorded] 0", "8"), Pair("2 main 8", "80"),
                  Pair("3 memcpy 88", "12"), Pair("3 walk(int) 0", "8"), Pair("3 walk(int) 8", "70"),
                  Pair("4 memcpy 0", "8"), Pair("4 memcpy 8", "20"), Pair("4 walk(int) 28", "45"),
                  Pair("5 memcpy 28", "30"), Pair("5 walk(int) 58", "15"), Pair("6 page_fault 28", "30")));
}

TEST(FlameGraph, AnIcicleHangsFromTheTop) {
  const std::vector<DrawnFrame> flames = FramesOf(Svg(Calls().profile())),
                                icicle = FramesOf(Svg(Calls().profile(), true));
  ASSERT_EQ(flames.size(), icicle.size());
  EXPECT_GT(std::stod(flames[0].y), std::stod(flames[1].y));
  EXPECT_LT(std::stod(icicle[0].y), std::stod(icicle[1].y));
}

TEST(FlameGraph, NamesAreTextWhateverTheyHold) {
  SampleProfile p;
  p.Event({.name = "<script>alert(1)</script>", .period_or_frequency = 1});
  const uint32_t image = p.File("/tmp/\"><script>alert(2)</script>");
  p.Stack({},
          {p.Frame(image, "</title><script>alert(3)</script>", 1), p.Frame(image, "]]>\x1b\xff&amp;'", 2)},
          1);
  p.profile().facts.file = "<script>alert(4)</script>";
  p.profile().facts.os_release = "\"onload=\"alert(5)";
  const std::string svg = Svg(p.profile());
  EXPECT_THAT(svg,
              AllOf(Not(HasSubstr("<script>alert")), Not(HasSubstr("\"onload=\"")), Not(HasSubstr("\x1b")),
                    Not(HasSubstr("\xff")), HasSubstr("&lt;/title&gt;&lt;script&gt;alert(3)"),
                    HasSubstr("]]&gt;\\x1b\\xff&amp;amp;")));
  EXPECT_EQ(svg.find("<script>"), svg.rfind("<script>")) << "the only script is our own";
}

TEST(FlameGraph, WhatIsTooNarrowToBeSeenIsDrawnAsOneAndCounted) {
  SampleProfile p;
  p.Event({.name = "cycles", .period_or_frequency = 1});
  const uint32_t image = p.File("/a"), main = p.Frame(image, "main", 1);
  for (uint64_t i = 0; i < 300; ++i) p.Stack({}, {main, p.Frame(image, StrCat("f", i), 0x1000 + i)}, 1);
  p.Stack({}, {main, p.Frame(image, "hot", 0x5000)}, 99'700);
  const std::vector<DrawnFrame> frames = FramesOf(Svg(p.profile()));
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[1].name, "hot");
  EXPECT_EQ(frames[2].name, "[300 narrow frames]");
  EXPECT_EQ(frames[1].value + frames[2].value, frames[0].value);
}

TEST(FlameGraph, SaysWhatIsNotInIt) {
  SampleProfile p = Calls();
  EXPECT_THAT(Svg(p.profile()), Not(HasSubstr("not shown")));
  p.profile().conservation[0].idle = 1234;
  p.profile().conservation[0].filtered = {{"cpu", 5}};
  p.profile().losses.lost_records = 7;
  EXPECT_THAT(Svg(p.profile()),
              HasSubstr("100 samples of cpu-clock; not shown: 1 234 idle, 5 filtered out, 7 lost<"));
}

TEST(FlameGraph, InFrequencyModeWidthsArePeriods) {
  SampleProfile p;
  p.Event({.name = "cycles", .frequency_mode = true, .period_or_frequency = 4000});
  const uint32_t image = p.File("/a");
  p.Stack({}, {p.Frame(image, "often", 1)}, 9, 100);
  p.Stack({}, {p.Frame(image, "long", 2)}, 1, 900);
  const std::vector<DrawnFrame> frames = FramesOf(Svg(p.profile()));
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].value, 900u);
  EXPECT_EQ(frames[1].value, 100u);
}

}  // namespace
}  // namespace ksamp
