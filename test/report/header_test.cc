// SPDX-License-Identifier: Apache-2.0
#include "lib/report/header.h"

#include <gtest/gtest.h>

#include "ksamp/event_spec.h"
#include "test/report/sample_profile.h"

namespace ksamp {
namespace {

using testing::SampleProfile;

std::string Header(const Profile& profile, const ReportOptions& options = {}, uint64_t below_threshold = 0) {
  const ReportView view(profile, options, RowUnit::kSymbol, Layout::kColumns);
  std::string text;
  AppendHeader(view, below_threshold, &text);
  return text;
}

TEST(Header, SaysWhatWasCountedAndWhatNot) {
  Profile profile = testing::Hypervisor();
  Conservation& sum = profile.conservation[0];
  sum.taken += 300007;
  sum.idle = 300000;
  sum.filtered = {{"cpu", 4}, {"time", 1}, {"comm", 0}};
  sum.dropped = {{"malformed record", 2}};
  profile.losses = {.lost_records = 3, .lost_samples = 4, .throttles = 5};
  const std::string description(DescribeEvent("cpu-clock"));
  EXPECT_EQ(Header(profile),
            "CPU: Example CPU, 2 CPUs, 2096 MHz, kernel 6.1.0\n"
            "Counted cpu-clock events (" +
                description +
                "; timer) count 250689; "
                "400007 samples on 2 CPUs in 10.0 s\n"
                "300000 idle samples not counted (75.0 % of CPU time); 7 lost; throttled 5 times; "
                "5 filtered out (cpu 4, time 1); 2 dropped (malformed record 2); "
                "1 sample could not be named (see [unresolved]); percentages are of 100000 samples\n"
                "No symbols in kvm_intel: one row for the whole image\n");
}

TEST(Header, WhatTheThresholdHidesIsTold) {
  SampleProfile p;
  p.Event({.name = "xyz", .period_or_frequency = 9});
  p.Count({}, p.File("/a"), p.Symbol("f", 1), 1, 1);
  EXPECT_EQ(Header(p.profile(), {}, 0),
            "CPU: unknown\nCounted xyz events count 9; 1 sample\n0 lost; percentages are of 1 sample\n");
  EXPECT_EQ(Header(p.profile(), {}, 1),
            "CPU: unknown\nCounted xyz events count 9; 1 sample\n"
            "0 lost; 1 sample below the threshold; percentages are of 1 sample\n");
}

TEST(Header, InFrequencyModeSharesAreOfPeriods) {
  SampleProfile p;
  p.Event({.name = "xyz", .frequency_mode = true, .period_or_frequency = 4000});
  p.Count({.cpu = 1}, p.File("/a"), p.Symbol("f", 1), 1, 7, 700);
  EXPECT_EQ(Header(p.profile(), {.classes = ClassAxis::kCpu}),
            "CPU: unknown\n"
            "Counted xyz events at 4000 Hz; 7 samples\n"
            "Samples on CPU 1\n"
            "0 lost; percentages are of the summed periods (700) of 7 samples\n");
}

TEST(Header, NotesAreFewAndCannotDriveTheTerminal) {
  SampleProfile p;
  p.Event({.name = "xyz", .period_or_frequency = 9, .note = "fell\x1b[31m back\nit shows less"});
  const std::string head =
      "CPU: unknown\n"
      "Counted xyz events (see notes) count 9; 0 samples\n"
      "0 lost; percentages are of 0 samples\n"
      "Note: fell\\x1b[31m back\n"
      "      it shows less\n";
  EXPECT_EQ(Header(p.profile()), head);
  p.profile().facts.notes = {"one"};
  EXPECT_EQ(Header(p.profile()), head + "Note: one\n");
  p.profile().facts.notes = {"one", "two"};
  EXPECT_EQ(Header(p.profile()), head + "Note: 2 notes more with --notes\n");
  EXPECT_EQ(Header(p.profile(), {.all_notes = true}), head + "Note: one\nNote: two\n");
}

TEST(Header, ADummyStaysOutOfItWithoutSamples) {
  SampleProfile p;
  p.Event({.name = "xyz", .period_or_frequency = 9});
  p.Event({.name = "dummy:u", .period_or_frequency = 1, .tracking = true});
  EXPECT_EQ(Header(p.profile()),
            "CPU: unknown\n"
            "Counted xyz events count 9; 0 samples\n"
            "0 lost; percentages are of 0 samples\n");
  p.Count({.event = 1}, p.File("/a"), p.Symbol("f", 1), 1, 7);
  EXPECT_NE(Header(p.profile()).find("Counted dummy:u events"), std::string::npos);
}

}  // namespace
}  // namespace ksamp
