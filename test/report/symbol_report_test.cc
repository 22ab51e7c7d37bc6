// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/report/write.h"

namespace ksamp {
namespace {

using ::testing::HasSubstr;
using testing::Hypervisor;
using testing::SampleProfile;
using testing::Written;

const std::string kBetween = "[unresolved: " + std::string(Text(UnresolvedReason::kBetweenSymbols)) + "]";

TEST(SymbolReport, IsOpreportsList) {
  EXPECT_EQ(Written(Hypervisor(), {.form = ReportForm::kSymbols, .header = false}),
            "54308    54.3080  kvm_intel                kvm_intel                /kvm_intel\n"
            "29000    29.0000  qemu-kvm                 qemu-kvm                 main::loop()\n"
            "14571    14.5710  vmlinux                  vmlinux                  intel_idle\n"
            "1000      1.0000  libc-2.12.so             qemu-kvm                 memcpy\n"
            "1000      1.0000  vmlinux                  vmlinux                  _raw_spin_lock\n"
            "120       0.1200  bash                     bash                     main\n"
            "1        1.0e-03  libc-2.12.so             qemu-kvm                 " +
                kBetween + "\n");
  EXPECT_THAT(
      Written(Hypervisor(), {.form = ReportForm::kSymbols}),
      HasSubstr("\nsamples  %        image name               app name                 symbol name\n54308 "));
}

TEST(SymbolReport, SixteenDigitsAlignBelowTheirTitle) {
  const std::string text =
      Written(Hypervisor(), {.form = ReportForm::kSymbols, .show_address = true, .threshold = 10});
  EXPECT_THAT(text, HasSubstr("\n"
                              "vma              samples  %        app name                 symbol name\n"
                              "0000000000000000 54308    54.3080  kvm_intel                /kvm_intel\n"
                              "0000000000004010 29000    29.0000  qemu-kvm                 "
                              "main::loop()\n"
                              "ffffffff81300000 14571    14.5710  vmlinux                  "
                              "intel_idle\n"));
}

TEST(SymbolReport, DetailsAreOffsetsAndSharesOfTheirSymbol) {
  EXPECT_EQ(Written(Hypervisor(),
                    {.form = ReportForm::kDetails, .show_address = true, .header = false, .threshold = 14}),
            "0000000000000000 54308    54.3080  kvm_intel                /kvm_intel\n"
            "  0000000000000050 23        0.0424\n"
            "  0000000000000051 54285    99.9576\n"
            "0000000000004010 29000    29.0000  qemu-kvm                 main::loop()\n"
            "  0000000000004011 29000    100.000\n"
            "ffffffff81300000 14571    14.5710  vmlinux                  intel_idle\n"
            "  ffffffff81300010 14000    96.0813\n"
            "  ffffffff81300020 571       3.9187\n");
  EXPECT_THAT(Written(Hypervisor(), {.form = ReportForm::kDetails, .global_percent = true}),
              HasSubstr("\n  ffffffff81300010 14000    14.0000\n"));
}

Profile OneApplication() {
  SampleProfile p;
  p.Event({.name = "cycles", .period_or_frequency = 100});
  const uint32_t image = p.File("/opt/flash");
  p.Count({.app = "flash"}, image, p.Symbol("lookup", 0x7d30), 0x7d31, 75);
  p.Count({.app = "flash"}, image, p.Symbol("insert", 0x7e00), 0x7e01, 25);
  return p.profile();
}

TEST(SymbolReport, ColumnsThatSayNothingAreLeftOut) {
  EXPECT_EQ(
      Written(OneApplication(),
              {.form = ReportForm::kSymbols, .show_address = true, .accumulated = true, .header = false}),
      "00007d30 75       75            75.0000  75.0000    lookup\n"
      "00007e00 25       100           25.0000  100.000    insert\n");
}

TEST(SymbolReport, ClassesStandSideBySide) {
  SampleProfile p;
  p.Event({.name = "cycles", .period_or_frequency = 100});
  const uint32_t image = p.File("/opt/flash"), lookup = p.Symbol("lookup", 0x10),
                 insert = p.Symbol("insert", 0x20);
  p.Count({.app = "flash", .cpu = 2}, image, insert, 0x20, 6);
  p.Count({.app = "flash", .cpu = 0}, image, lookup, 0x10, 3);
  p.Count({.app = "flash", .cpu = 2}, image, lookup, 0x10, 2);
  const std::string text = Written(p.profile(), {.form = ReportForm::kSymbols, .classes = ClassAxis::kCpu});
  EXPECT_THAT(text, HasSubstr("Samples on CPU 0\nSamples on CPU 2\n"));
  EXPECT_THAT(text, HasSubstr("samples  %        samples  %        symbol name\n"
                              "3        100.000  2        25.0000  lookup\n"
                              "0              0  6        75.0000  insert\n"));
}

TEST(SymbolReport, HostileNamesCannotDriveTheTerminal) {
  SampleProfile p;
  p.Event({.name = "cycles", .period_or_frequency = 1});
  p.Count({.app = "a\x1b]0;x\x07"}, p.File("/b\nin"), p.Symbol("f\x1b[2J\r", 1), 1, 1);
  p.Count({.app = "b"}, p.File("/b"), p.Symbol("g", 1), 1, 1);
  EXPECT_EQ(Written(p.profile(), {.form = ReportForm::kSymbols, .header = false}),
            "1        50.0000  b                        b                        g\n"
            "1        50.0000  b\\x0ain                  a\\x1b]0;x\\x07            f\\x1b[2J\\x0d\n");
}

TEST(SymbolReport, CommsHaveAColumnWhereSeparated) {
  SampleProfile p;
  p.Event({.name = "cycles", .period_or_frequency = 1});
  const uint32_t image = p.File("/b"), f = p.Symbol("f", 1);
  p.Count({.app = "b", .comm = "worker"}, image, f, 1, 3);
  p.Count({.app = "b", .comm = "main"}, image, f, 1, 1);
  EXPECT_EQ(Written(p.profile(), {.form = ReportForm::kSymbols, .header = false}),
            "3        75.0000  worker          f\n"
            "1        25.0000  main            f\n");
}

}  // namespace
}  // namespace ksamp
