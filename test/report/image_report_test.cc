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

TEST(ImageReport, IsOpreportsSummary) {
  EXPECT_THAT(Written(Hypervisor(), {}), HasSubstr("\n"
                                                   " cpu-clock:250689|\n"
                                                   "  samples|      %|\n"
                                                   "------------------\n"
                                                   "    54308 54.3080 kvm_intel\n"
                                                   "    30001 30.0010 qemu-kvm\n"
                                                   "\t cpu-clock:250689|\n"
                                                   "\t  samples|      %|\n"
                                                   "\t------------------\n"
                                                   "\t    29000 96.6634 qemu-kvm\n"
                                                   "\t     1001  3.3366 libc-2.12.so\n"
                                                   "    15571 15.5710 vmlinux\n"
                                                   "      120  0.1200 bash\n"));
}

TEST(ImageReport, LongClassNamesAreCut) {
  SampleProfile p;
  p.Event({.name = "CPU_CLK_UNHALTED", .period_or_frequency = 100000});
  p.Count({}, p.Kernel(), p.Symbol("f", 1), 1, 1);
  EXPECT_THAT(Written(p.profile(), {}), HasSubstr("\nCPU_CLK_UNHALT...|\n  samples|      %|\n"));
}

TEST(ImageReport, ThresholdReverseAndGlobalPercent) {
  EXPECT_EQ(
      Written(Hypervisor(), {.reverse = true, .global_percent = true, .header = false, .threshold = 20}),
      "    30001 30.0010 qemu-kvm\n"
      "\t cpu-clock:250689|\n"
      "\t  samples|      %|\n"
      "\t------------------\n"
      "\t     1001  1.0010 libc-2.12.so\n"
      "\t    29000 29.0000 qemu-kvm\n"
      "    54308 54.3080 kvm_intel\n");
}

TEST(ImageReport, AnApplicationOfOneOtherImageShowsIt) {
  SampleProfile p;
  p.Event({.name = "e", .period_or_frequency = 1});
  p.Count({.app = "bash"}, p.File("/lib/libc.so.6"), p.Symbol("f", 1), 1, 2);
  EXPECT_EQ(Written(p.profile(), {.long_filenames = true, .header = false}),
            "        2 100.000 bash\n"
            "\t              e:1|\n"
            "\t  samples|      %|\n"
            "\t------------------\n"
            "\t        2 100.000 /lib/libc.so.6\n");
}

}  // namespace
}  // namespace ksamp
