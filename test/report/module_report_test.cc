// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/report/write.h"

namespace ksamp {
namespace {

using ::testing::HasSubstr;
using testing::Hypervisor;
using testing::Written;

TEST(ModuleReport, IsOneBlockPerImage) {
  EXPECT_THAT(Written(Hypervisor(), {.form = ReportForm::kModules, .threshold = 1}),
              HasSubstr("\n"
                        "samples  %        image name\n"
                        "  samples  %        symbol name\n"
                        "\n"
                        "54308    54.3080  kvm_intel\n"
                        "  54308    54.3080  /kvm_intel\n"
                        "\n"
                        "29000    29.0000  qemu-kvm\n"
                        "  29000    29.0000  main::loop()\n"
                        "\n"
                        "15571    15.5710  vmlinux\n"
                        "  14571    14.5710  intel_idle\n"
                        "  1000      1.0000  _raw_spin_lock\n"
                        "\n"
                        "1001      1.0010  libc-2.12.so\n"
                        "  1000      1.0000  memcpy\n"));
}

TEST(ModuleReport, SharesOfTheBlockWhereAskedAndAddresses) {
  EXPECT_THAT(
      Written(
          Hypervisor(),
          {.form = ReportForm::kModules, .show_address = true, .percent_of_block = true, .header = false}),
      HasSubstr("\n"
                "15571    15.5710  vmlinux\n"
                "  ffffffff81300000 14571    93.5778  intel_idle\n"
                "  ffffffff81500000 1000      6.4222  _raw_spin_lock\n"));
}

}  // namespace
}  // namespace ksamp
