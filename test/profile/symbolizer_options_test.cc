// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ksamp/profile.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::testing::ElementsAre;

TEST(SymbolizerOptionsTest, TakesTheKernelsPlaceFromItsMap) {
  testing::PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7});
  b.Mmap({.pid = ~0u,
          .addr = 0xffffffff81000000,
          .length = 0x1000,
          .file_offset = 0xffffffff81000200,
          .path = "[kernel.kallsyms]_stext",
          .mode = CpuMode::kKernel,
          .build_id = {1, 2, 3}});
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  const SymbolizerOptions options = SymbolizerOptionsFor(recording);
  EXPECT_EQ(options.kernel.reference_symbol, "_stext");
  EXPECT_EQ(options.kernel.reference_address, 0xffffffff81000200);
  EXPECT_THAT(options.kernel.build_id, ElementsAre(1, 2, 3));
  EXPECT_EQ(options.kernel.hostname, recording.facts().hostname);
  EXPECT_EQ(options.kernel.kallsyms, "");
}

TEST(SymbolizerOptionsTest, ARecordingWithoutKernelHasEmptyTables) {
  testing::PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}).Comm(1, 1, "x");
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  const SymbolizerOptions options = SymbolizerOptionsFor(recording);
  EXPECT_EQ(options.kernel.reference_symbol, "");
  EXPECT_EQ(options.kernel.reference_address, 0u);
  EXPECT_TRUE(options.kernel.build_id.empty());
}

}  // namespace
}  // namespace ksamp
