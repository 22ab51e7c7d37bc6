// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test/report/write.h"

namespace ksamp {
namespace {

using nlohmann::json;
using testing::SampleProfile;
using testing::Written;

TEST(Json, ParsesAndAddsUp) {
  const Profile profile = testing::Hypervisor();
  for (ReportForm form :
       {ReportForm::kImages, ReportForm::kSymbols, ReportForm::kDetails, ReportForm::kModules}) {
    const json report = json::parse(Written(profile, {.form = form, .format = OutputFormat::kJson}));
    uint64_t samples = 0, at_addresses = 0;
    for (const json& row : report["rows"]) {
      samples += row["samples"].get<uint64_t>();
      if (row.contains("addresses"))
        for (const json& address : row["addresses"]) at_addresses += address["samples"].get<uint64_t>();
    }
    EXPECT_EQ(samples, report["events"][0]["counted"]);
    EXPECT_EQ(samples, 100000u);
    EXPECT_EQ(at_addresses, form == ReportForm::kDetails ? 100000u : 0u);
  }
}

TEST(Json, AnyBytesStayValid) {
  SampleProfile p;
  p.Event({.name = "e\"\\", .period_or_frequency = 1});
  p.Count({.app = "\xff\x1b", .cpu = 2}, p.File("/a"), p.Symbol("f\n\"", 0x10), 0x10, 1);
  p.profile().facts.notes = {"a\tb", "c\n\"d\""};
  const json report = json::parse(Written(p.profile(), {.form = ReportForm::kSymbols,
                                                        .format = OutputFormat::kJson,
                                                        .show_address = true,
                                                        .tool_version = "1"}));
  EXPECT_EQ(report["rows"][0], (json{{"event", "e\"\\"},
                                     {"app", "\\xff\\x1b"},
                                     {"comm", nullptr},
                                     {"pid", nullptr},
                                     {"tid", nullptr},
                                     {"cpu", 2},
                                     {"image", "a"},
                                     {"symbol", "f\\x0a\""},
                                     {"address", "0x10"},
                                     {"samples", 1},
                                     {"period", 1000},
                                     {"percent", 100.0}}));
  EXPECT_EQ(report["notes"], json({"a\\x09b", "c\n\"d\""}));
  EXPECT_EQ(report["version"], "1");
}

}  // namespace
}  // namespace ksamp
