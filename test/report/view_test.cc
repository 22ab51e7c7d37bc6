// SPDX-License-Identifier: Apache-2.0
#include "lib/report/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/report/sample_profile.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::testing::HasSubstr;
using testing::SampleProfile;
using testing::StatusIs;

uint64_t SumOfRows(const ReportView& view) {
  uint64_t sum = 0;
  for (uint32_t row = 0; row < view.rows().size(); ++row)
    for (const Counts& cell : view.CellsOf(row)) sum += cell.samples;
  return sum;
}

TEST(ReportView, EveryCountedSampleIsInExactlyOneRow) {
  const Profile profile = testing::Hypervisor();
  const ReportOptions options;
  for (RowUnit unit : {RowUnit::kImage, RowUnit::kSymbol, RowUnit::kAddress})
    for (Layout layout : {Layout::kColumns, Layout::kByApp, Layout::kByImage, Layout::kRecords}) {
      const ReportView view(profile, options, unit, layout);
      EXPECT_EQ(SumOfRows(view), profile.conservation[0].counted);
      if (unit != RowUnit::kAddress) continue;
      for (uint32_t row = 0; row < view.rows().size(); ++row) {
        uint64_t sum = 0;
        for (const AddressCell& cell : view.AddressesOf(row)) sum += cell.counts.samples;
        EXPECT_EQ(sum, view.Get(row, 0).samples) << view.SymbolName(row);
      }
    }
}

TEST(ReportView, SeveralEventsStandSideBySideByThemselves) {
  SampleProfile p;
  p.Event({.name = "cycles", .period_or_frequency = 100});
  p.Event({.name = "faults", .period_or_frequency = 1});
  const uint32_t image = p.File("/bin/a"), symbol = p.Symbol("f", 0x10);
  p.Count({.event = 0}, image, symbol, 0x10, 3);
  p.Count({.event = 1}, image, symbol, 0x10, 5);
  const ReportOptions options;
  const ReportView view(p.profile(), options, RowUnit::kSymbol, Layout::kColumns);
  ASSERT_EQ(view.classes().size(), 2u);
  EXPECT_EQ(view.classes()[0].name, "cycles:100");
  EXPECT_EQ(view.classes()[1].name, "faults:1");
  ASSERT_EQ(view.rows().size(), 1u);
  EXPECT_EQ(view.Get(0, 0).samples, 3u);
  EXPECT_EQ(view.Get(0, 1).samples, 5u);
  EXPECT_EQ(view.ShareOf(0, 1), 100);
}

TEST(ReportView, AddressesAreOnesOwnWithoutSymbolsAndOffsetsInModules) {
  SampleProfile p;
  p.Event({.name = "cycles", .period_or_frequency = 100});
  const uint32_t module = p.Module("[m]", 0xc000);
  p.Unresolved({}, module, UnresolvedReason::kImageHasNoSymbols, 0xc051, 2);
  p.Unresolved({}, module, UnresolvedReason::kImageHasNoSymbols, 0xc050, 1);
  p.Unresolved({.cpu = 1}, module, UnresolvedReason::kImageHasNoSymbols, 0xc051, 4);
  const ReportOptions options;
  const ReportView view(p.profile(), options, RowUnit::kAddress, Layout::kColumns);
  ASSERT_EQ(view.rows().size(), 1u);
  const auto cells = view.AddressesOf(0);
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].address, 0x50u);
  EXPECT_EQ(cells[0].counts.samples, 1u);
  EXPECT_EQ(cells[1].address, 0x51u);
  EXPECT_EQ(cells[1].counts.samples, 6u);
}

TEST(ReportView, AModulesSymbolStartsWhereItsFileHasIt) {
  SampleProfile p;
  p.Event({.name = "cycles", .period_or_frequency = 100});
  const uint32_t module = p.Module("[m]", 0xffffffffc0000000);
  p.Count({}, module, p.Symbol("m_poll", 0xffffffffc0001020), 0xffffffffc0001024, 1);
  p.profile().locations[0].elf = ElfAddress(0x24);
  const ReportOptions options;
  const ReportView view(p.profile(), options, RowUnit::kAddress, Layout::kColumns);
  EXPECT_EQ(view.Vma(0), 0x20u);
  EXPECT_EQ(view.AddressesOf(0)[0].address, 0x24u);
}

TEST(ReportView, NamesAreMadeOnce) {
  const Profile profile = testing::Hypervisor();
  int calls = 0;
  ReportOptions options;
  options.demangle = [&](std::string_view name) {
    ++calls;
    return std::string(name) + "!";
  };
  const ReportView view(profile, options, RowUnit::kSymbol, Layout::kColumns);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(view.SymbolName(0), "intel_idle!");
  EXPECT_EQ(view.SymbolName(0), "intel_idle!");
  EXPECT_EQ(calls, 1);
}

TEST(CheckColumns, RefusesTwoAxesAtOnceAndTooManyColumns) {
  SampleProfile p;
  p.Event({.name = "cycles"});
  p.Event({.name = "faults"});
  const uint32_t image = p.File("/bin/a"), symbol = p.Symbol("f", 0x10);
  p.Count({.event = 0, .cpu = 0}, image, symbol, 0x10, 1);
  EXPECT_OK(CheckColumns(p.profile(), {.classes = ClassAxis::kCpu}));
  p.Count({.event = 1, .cpu = 1}, image, symbol, 0x10, 1);
  EXPECT_OK(CheckColumns(p.profile(), {}));
  EXPECT_THAT(CheckColumns(p.profile(), {.classes = ClassAxis::kCpu}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("events (cycles, faults)")));
  SampleProfile many;
  many.Event({.name = "cycles"});
  for (uint32_t tid = 0; tid < 600; ++tid)
    many.Count({.pid = 1, .tid = tid}, many.File("/a"), many.Symbol("f", 1), 1, 1);
  EXPECT_THAT(CheckColumns(many.profile(), {.classes = ClassAxis::kThread}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("600 groups")));
}

}  // namespace
}  // namespace ksamp
