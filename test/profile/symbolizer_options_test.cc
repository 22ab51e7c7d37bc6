// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "ksamp/profile.h"
#include "lib/base/byte_reader.h"
#include "lib/base/compression.h"
#include "lib/perfdata/features.h"
#include "lib/perfdata/format.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

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

TEST(SymbolizerOptionsTest, TakesTheNamesOfGeneratedCodeByProcess) {
  const auto map = [](uint32_t pid, std::string_view text) {
    return perfdata::PackedCodeFile{CodeFileKind::kPerfMap, pid, "/tmp/perf-1.map",
                                    *CompressZstd(AsBytes(text), 1)};
  };
  testing::PerfDataBuilder b;
  const std::vector<perfdata::PackedCodeFile> files = {map(7, "1000 10 first\n"), map(8, "1000 10 other\n"),
                                                       map(7, "1000 10 second\n")};
  b.Feature(perfdata::kKsampGeneratedCode, perfdata::EncodeCodeFiles(files));
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  EXPECT_THAT(SymbolizerOptionsFor(recording).perf_maps,
              ElementsAre(Pair(7u, "1000 10 first\n1000 10 second\n"), Pair(8u, "1000 10 other\n")));
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
