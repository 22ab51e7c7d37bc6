// SPDX-License-Identifier: Apache-2.0
#include "lib/report/order.h"

#include <gtest/gtest.h>

#include "test/report/sample_profile.h"

namespace ksamp {
namespace {

using testing::SampleProfile;
using Names = std::vector<std::string>;

Profile Four() {
  SampleProfile p;
  p.Event({.name = "cycles", .period_or_frequency = 1});
  const uint32_t a = p.File("/x/a"), b = p.File("/w/b");
  p.Count({.app = "b"}, b, p.Symbol("zeta", 0x30), 0x30, 5);
  p.Count({.app = "a"}, a, p.Symbol("beta", 0x20), 0x20, 5);
  p.Count({.app = "a"}, a, p.Symbol("alpha", 0x40), 0x40, 5);
  p.Count({.app = "a"}, b, p.Symbol("gamma", 0x10), 0x10, 85);
  return p.profile();
}

Names Order(const ReportOptions& options, bool all = false) {
  const Profile profile = Four();
  const ReportView view(profile, options, RowUnit::kSymbol, Layout::kColumns);
  Names names;
  for (uint32_t row : all ? SortedRowsOfAll(view) : SortedRows(view)) names.push_back(view.SymbolName(row));
  return names;
}

TEST(SortedRows, FollowTheKeysAndTheRestBreaksTies) {
  EXPECT_EQ(Order({}), (Names{"gamma", "alpha", "beta", "zeta"}));
  EXPECT_EQ(Order({.sort = {SortKey::kVma}}), (Names{"gamma", "beta", "zeta", "alpha"}));
  EXPECT_EQ(Order({.sort = {SortKey::kSymbol}}), (Names{"alpha", "beta", "gamma", "zeta"}));
  EXPECT_EQ(Order({.sort = {SortKey::kImage}}), (Names{"alpha", "beta", "gamma", "zeta"}));
  EXPECT_EQ(Order({.sort = {SortKey::kApp, SortKey::kVma}}), (Names{"gamma", "beta", "alpha", "zeta"}));
}

TEST(SortedRows, ByBasenameUnlessLong) {
  EXPECT_EQ(Order({.long_filenames = true, .sort = {SortKey::kImage}}),
            (Names{"gamma", "zeta", "alpha", "beta"}));
}

TEST(SortedRows, ReverseTurnsEveryComparison) {
  EXPECT_EQ(Order({.reverse = true}), (Names{"zeta", "beta", "alpha", "gamma"}));
}

TEST(SortedRows, LeaveOutWhatIsBelowTheThreshold) {
  EXPECT_EQ(Order({.threshold = 5.1}), (Names{"gamma"}));
  EXPECT_EQ(Order({.threshold = 5}), (Names{"gamma", "alpha", "beta", "zeta"}));
  EXPECT_EQ(Order({.threshold = 50}, true).size(), 4u);
  const Profile profile = Four();
  for (const auto& [threshold, hidden] : {std::pair(5.1, 15u), std::pair(5.0, 0u), std::pair(90.0, 100u)})
    EXPECT_EQ(SamplesBelowThreshold({profile, {.threshold = threshold}, RowUnit::kSymbol, Layout::kColumns}),
              hidden);
}

TEST(SortedRows, SortByPeriodInFrequencyMode) {
  SampleProfile p;
  p.Event({.name = "cycles", .frequency_mode = true, .period_or_frequency = 4000});
  const uint32_t a = p.File("/x/a");
  p.Count({}, a, p.Symbol("often", 0x10), 0x10, 90, 10);
  p.Count({}, a, p.Symbol("long", 0x20), 0x20, 10, 90);
  const ReportOptions options;
  const ReportView view(p.profile(), options, RowUnit::kSymbol, Layout::kColumns);
  const std::vector<uint32_t> rows = SortedRows(view);
  EXPECT_EQ(view.SymbolName(rows[0]), "long");
  EXPECT_EQ(view.ShareOf(rows[0], 0), 90);
}

}  // namespace
}  // namespace ksamp
