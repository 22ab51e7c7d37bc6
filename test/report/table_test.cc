// SPDX-License-Identifier: Apache-2.0
#include "lib/report/table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace ksamp {
namespace {

TEST(TextTable, PadsAllButTheLastCellAndKeepsOneBlank) {
  TextTable table;
  table.AddColumn("vma", 9);
  table.AddColumn("samples", 9);
  table.AddColumn("%", 9);
  table.AddColumn("symbol name", 30);
  std::string out;
  table.Header(&out);
  table.Begin(&out);
  table.Address(0x7d30, 8);
  table.Number(5385);
  table.Percent(61.009);
  table.Cell("hash_lookup");
  table.End();
  table.Begin(&out, 2);
  table.Address(0xffffffffc0800050, 16);  // wider than its column
  table.Number(1234567890);
  table.Percent(0.0424);
  table.End();
  EXPECT_EQ(out,
            "vma      samples  %        symbol name\n"
            "00007d30 5385     61.0090  hash_lookup\n"
            "  ffffffffc0800050 1234567890  0.0424\n");
}

TEST(TextSink, HandsOverEverythingInOrder) {
  std::ostringstream out;
  {
    TextSink sink(out);
    for (int i = 0; i < 100000; ++i) {
      sink.text()->append(std::to_string(i)).append("\n");
      ASSERT_TRUE(sink.MaybeFlush());
    }
  }
  EXPECT_EQ(out.str().size(), 588890u);
  EXPECT_TRUE(out.str().starts_with("0\n1\n2\n"));
  EXPECT_TRUE(out.str().ends_with("99998\n99999\n"));
}

TEST(TextSink, TellsThatTheStreamFailed) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  TextSink sink(out);
  sink.text()->append(1 << 20, 'x');
  EXPECT_FALSE(sink.MaybeFlush());
}

}  // namespace
}  // namespace ksamp
