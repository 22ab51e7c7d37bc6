// SPDX-License-Identifier: Apache-2.0
#include "lib/event/pmu_terms.h"

#include "test/support/status_matchers.h"
#include "test/support/table_catalog.h"

namespace ksamp::testing {
namespace {

TEST(PmuTermsTest, ALaterTermReplacesAllBitsOfAnEarlier) {
  const Pmu pmu = CorePmu("cpu", 4, "");
  EventSpec spec;
  EXPECT_FALSE(ApplyPmuTerms(pmu, "event=0xfff,umask=0xff,event=0x101", false, spec).has_value());
  EXPECT_EQ(spec.config, 0x1'0000'ff01u);
}

TEST(PmuTermsTest, PeriodAndFrequencyReplaceEachOther) {
  const Pmu pmu = CorePmu("cpu", 4, "");
  EventSpec spec;
  EXPECT_FALSE(ApplyPmuTerms(pmu, "freq=99,period=7", false, spec).has_value());
  EXPECT_EQ(spec.period, 7u);
  EXPECT_FALSE(spec.frequency.has_value());
}

TEST(PmuTermsTest, ErrorsSayWhichTerm) {
  const Pmu pmu = CorePmu("cpu", 4, "");
  EventSpec spec;
  const std::optional<TermError> error = ApplyPmuTerms(pmu, "event=1,umask=0x100", false, spec);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->at, 8u);
}

// Formats come from the machine, but nothing says they are sane.
TEST(PmuTermsTest, ImpossibleBitRangesTakeNoBits) {
  Pmu pmu;
  pmu.name = "odd";
  pmu.terms = {{"a", 0, {{5, 2}, {60, 70}, {-1, 3}}}, {"b", 0, {}}};
  EventSpec spec;
  EXPECT_TRUE(ApplyPmuTerms(pmu, "a=1", false, spec).has_value());
  EXPECT_TRUE(ApplyPmuTerms(pmu, "b=1", false, spec).has_value());
  EXPECT_EQ(spec.config, 0u);
}

// An alias that names itself, or another: its text is terms only.
TEST(PmuTermsTest, AliasesDoNotExpandInAliases) {
  Pmu pmu = CorePmu("cpu", 4, "");
  pmu.aliases = {{"loop", "loop", "", "", 1}};
  EventSpec spec;
  ASSERT_TRUE(ApplyPmuTerms(pmu, "loop", false, spec).has_value());
}

TEST(EventNumberTest, DecimalAndHexAndNothingElse) {
  EXPECT_EQ(ParseEventNumber("0x3C"), 0x3cu);
  EXPECT_EQ(ParseEventNumber("60"), 60u);
  EXPECT_EQ(ParseEventNumber("18446744073709551615"), ~uint64_t{0});
  for (const char* text : {"", "0x", "-1", "+1", " 1", "1 ", "18446744073709551616", "0x1g", "1.5"})
    EXPECT_FALSE(ParseEventNumber(text).has_value()) << text;
}

}  // namespace
}  // namespace ksamp::testing
