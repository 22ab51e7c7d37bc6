// SPDX-License-Identifier: Apache-2.0
#include "lib/report/percent.h"

#include <gtest/gtest.h>

#include "ksamp/report.h"

namespace ksamp {
namespace {

TEST(FormatPercent, IsSevenWideByOpreportsRules) {
  const struct {
    double percent;
    const char* text;
  } kCases[] = {
      {0, "      0"},         {100, "100.000"},     {99.99996, "100.000"}, {99.99994, "99.9999"},
      {29.3501, "29.3501"},   {7.8747, " 7.8747"},  {0.0424, " 0.0424"},   {0.0010001, " 0.0010"},
      {0.001, "1.0e-03"},     {0.00075, "7.5e-04"}, {1e-5, "1.0e-05"},     {1e-300, "1.0e-300"},
      {-0.4999, "-0.4999"},   {-12.5, "-12.5000"},  {-1e-5, "-1.0e-05"},   {250.25, "250.2500"},
      {100.00004, "100.000"}, {101, "101.0000"},
  };
  for (const auto& c : kCases) EXPECT_EQ(FormatPercent(c.percent), c.text) << c.percent;
}

TEST(Share, OfNothingIsNothing) {
  EXPECT_EQ(Share(0, 0), 0);
  EXPECT_EQ(Share(1, 4), 25);
  EXPECT_EQ(Share(UINT64_MAX, UINT64_MAX), 100);
}

TEST(AppendBarePercent, HasNoBlanks) {
  std::string text;
  AppendBarePercent(7.8747, &text);
  text += ',';
  AppendBarePercent(0, &text);
  EXPECT_EQ(text, "7.8747,0");
}

}  // namespace
}  // namespace ksamp
