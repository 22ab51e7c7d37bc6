// SPDX-License-Identifier: Apache-2.0
#include "ksamp/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/report/write.h"

namespace ksamp {
namespace {

using ::testing::HasSubstr;
using testing::StatusIs;

TEST(WriteReport, RefusesWhatOpreportRefuses) {
  const struct {
    ReportOptions options;
    std::string message;
  } kCases[] = {
      {{.threshold = 101}, "illegal threshold"},
      {{.threshold = -1}, "illegal threshold"},
      {{.form = ReportForm::kSymbols, .format = OutputFormat::kXml, .accumulated = true},
       "incompatible with --xml"},
      {{.format = OutputFormat::kXml, .global_percent = true}, "incompatible with --xml"},
      {{.accumulated = true}, "meaningless without --symbols"},
      {{.show_address = true}, "meaningless without --symbols"},
      {{.sort = {SortKey::kVma}}, "meaningless without --symbols"},
  };
  for (const auto& c : kCases) {
    std::ostringstream out;
    EXPECT_THAT(WriteReport(testing::Hypervisor(), c.options, out),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.message)));
    EXPECT_EQ(out.str(), "");
  }
}

TEST(WriteReport, TellsThatTheStreamFailed) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_THAT(WriteReport(testing::Hypervisor(), {}, out),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("stream")));
}

TEST(WriteReport, AnEmptyProfileIsAReportInEveryForm) {
  testing::SampleProfile p;
  p.Event({.name = "cycles", .period_or_frequency = 1});
  for (ReportForm form :
       {ReportForm::kImages, ReportForm::kSymbols, ReportForm::kDetails, ReportForm::kModules})
    for (OutputFormat format :
         {OutputFormat::kText, OutputFormat::kXml, OutputFormat::kCsv, OutputFormat::kJson})
      EXPECT_NE(testing::Written(p.profile(), {.form = form, .format = format}), "");
}

}  // namespace
}  // namespace ksamp
