// SPDX-License-Identifier: Apache-2.0
#include "lib/os/tracing_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/base/byte_reader.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::StatusIs;
using ::ksamp::testing::TempTree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

struct TracingDataTest : ::testing::Test {
  TracingDataTest() {
    tree.Write("events/header_page", "PAGE");
    tree.Write("events/header_event", "EVENT");
    tree.Write("events/sched/sched_switch/id", "314\n");
    tree.Write("events/sched/sched_switch/format", "FORMAT-SWITCH");
    tree.Write("events/sched/sched_wakeup/id", "315\n");
    tree.Write("events/sched/sched_wakeup/format", "FORMAT-WAKEUP");
    tree.Write("events/net/netif_rx/id", "20\n");
    tree.Write("events/net/netif_rx/format", "FORMAT-RX");
  }
  TempTree tree;
};

TEST_F(TracingDataTest, HoldsTheFormatsAskedForAndNoOthers) {
  ASSERT_OK_AND_ASSIGN(const TracingData data,
                       ReadTracingData(tree.root(), std::vector<uint64_t>{314, 20, 314, 999}));
  EXPECT_THAT(data.names, ElementsAre(Pair(20, "net:netif_rx"), Pair(314, "sched:sched_switch")));
  const std::string text(AsText(data.bytes));
  EXPECT_THAT(text, StartsWith(std::string("\x17\x08\x44tracing0.6\0", 14)));
  EXPECT_THAT(text, HasSubstr(std::string("header_page\0\4\0\0\0\0\0\0\0PAGE", 24)));
  EXPECT_THAT(text, HasSubstr(std::string("\2\0\0\0net\0\1\0\0\0\x9\0\0\0\0\0\0\0FORMAT-RX", 29)));
  EXPECT_THAT(text, HasSubstr("FORMAT-SWITCH"));
  EXPECT_THAT(text, Not(HasSubstr("FORMAT-WAKEUP")));
}

TEST_F(TracingDataTest, TracefsIsFoundWhereverItIsMounted) {
  EXPECT_EQ(FindTracefs(tree.root()), tree.Path("kernel/tracing"))
      << "named in the error where there is none";
  tree.Write("kernel/debug/tracing/events/header_page", "");
  EXPECT_EQ(FindTracefs(tree.root()), tree.Path("kernel/debug/tracing"));
  tree.Write("kernel/tracing/events/header_page", "");
  EXPECT_EQ(FindTracefs(tree.root()), tree.Path("kernel/tracing"));
}

TEST_F(TracingDataTest, WithoutTracefsTheErrorNamesTheFile) {
  EXPECT_THAT(ReadTracingData(tree.Path("nowhere"), std::vector<uint64_t>{1}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nowhere/events/header_page")));
}

}  // namespace
}  // namespace ksamp
