// SPDX-License-Identifier: Apache-2.0
#include "lib/report/call_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "lib/base/str_cat.h"
#include "test/report/sample_profile.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using testing::Calls;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing::SampleProfile;
using testing::StatusIs;

// "main;walk" -> "self/total", for each node.
std::map<std::string, std::string> NodesOf(const CallTree& tree, const FunctionTable& functions) {
  std::map<std::string, std::string> nodes;
  std::vector<uint32_t> path;
  for (uint32_t node = 0; node < tree.size(); ++node) {
    tree.PathOf(node, path);
    std::string name;
    for (const uint32_t function : path)
      name = StrCat(functions.Name(function), name.empty() ? "" : ";", name);
    nodes[name] = StrCat(tree.Get(node).self.samples, "/", tree.Get(node).total.samples);
  }
  return nodes;
}

void ExpectSums(const CallTree& tree) {
  for (uint32_t node = 0; node < tree.size(); ++node) {
    Counts sum = tree.Get(node).self;
    for (const uint32_t child : tree.ChildrenOf(node)) {
      sum += tree.Get(child).total;
      EXPECT_EQ(tree.Get(child).parent, node);
      EXPECT_EQ(tree.Get(child).depth, tree.Get(node).depth + 1);
    }
    EXPECT_TRUE(sum == tree.Get(node).total) << node;
  }
}

TEST(CallTree, FromRootsIsEveryStackFromTheOutside) {
  SampleProfile p = Calls();
  const ReportOptions options;
  FunctionTable functions(p.profile(), options);
  const CallTree tree = CallTree::FromRoots(p.profile(), functions);
  ExpectSums(tree);
  EXPECT_THAT(
      NodesOf(tree, functions),
      ElementsAre(
          Pair("", "0/100"), Pair("app", "0/88"), Pair("app;[truncated: deeper than recorded]", "0/8"),
          Pair("app;[truncated: deeper than recorded];_Z4walki", "0/8"),
          Pair("app;[truncated: deeper than recorded];_Z4walki;memcpy", "8/8"), Pair("app;main", "10/80"),
          Pair("app;main;_Z4walki", "5/70"), Pair("app;main;_Z4walki;_Z4walki", "0/45"),
          Pair("app;main;_Z4walki;_Z4walki;_Z4walki", "15/15"),
          Pair("app;main;_Z4walki;_Z4walki;memcpy", "0/30"),
          Pair("app;main;_Z4walki;_Z4walki;memcpy;page_fault", "30/30"),
          Pair("app;main;_Z4walki;memcpy", "20/20"), Pair("io;loop", "0/12"),
          // Two frames without names are as one.
          Pair("io;loop;/lib/bare.so", "0/12"), Pair("io;loop;/lib/bare.so;memcpy", "12/12")));
}

TEST(CallTree, FromLeavesIsTheSameStacksFromTheInside) {
  SampleProfile p = Calls();
  const ReportOptions options;
  FunctionTable functions(p.profile(), options);
  const CallTree tree = CallTree::FromLeaves(CallTree::FromRoots(p.profile(), functions));
  ExpectSums(tree);
  const std::map<std::string, std::string> nodes = NodesOf(tree, functions);
  EXPECT_EQ(nodes.at(""), "0/100");
  EXPECT_EQ(nodes.at("memcpy"), "0/40");
  EXPECT_EQ(nodes.at("memcpy;_Z4walki"), "0/28");
  EXPECT_EQ(nodes.at("memcpy;_Z4walki;main;app"), "20/20");
  EXPECT_EQ(nodes.at("memcpy;/lib/bare.so;io;loop"), "12/12");
}

TEST(CallTree, RandomStacksAddUp) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    SampleProfile p;
    p.Event({.name = "cycles", .period_or_frequency = 1});
    const uint32_t image = p.File("/a");
    std::vector<uint32_t> frames;
    for (uint64_t i = 0; i < 6; ++i) frames.push_back(p.Frame(image, StrCat("f", i), 0x1000 * i));
    uint64_t samples = 0;
    for (int stack = 0; stack < 40; ++stack) {
      std::vector<uint32_t> chain(1 + random() % 8);
      for (uint32_t& frame : chain) frame = frames[random() % frames.size()];
      const uint64_t count = 1 + random() % 9;
      p.Stack({.comm = random() % 2 == 0 ? "x" : "y"}, chain, count);
      samples += count;
    }
    const ReportOptions options;
    FunctionTable functions(p.profile(), options);
    const CallTree from_roots = CallTree::FromRoots(p.profile(), functions);
    const CallTree from_leaves = CallTree::FromLeaves(from_roots);
    for (const CallTree* tree : {&from_roots, &from_leaves}) {
      ExpectSums(*tree);
      EXPECT_EQ(tree->Get(CallTree::kAll).total.samples, samples);
    }
  }
}

TEST(CallArcs, RecursionCountsAStackOnce) {
  SampleProfile p = Calls();
  const ReportOptions options;
  FunctionTable functions(p.profile(), options);
  const CallTree tree = CallTree::FromRoots(p.profile(), functions);
  const CallArcs arcs(tree, functions.size());
  std::map<std::string, std::string> calls, called, sums;
  for (uint32_t f = 0; f < functions.size(); ++f) {
    sums[functions.Name(f)] = StrCat(arcs.Self(f).samples, "/", arcs.Total(f).samples);
    for (const CallArc& arc : arcs.CalleesOf(f))
      calls[StrCat(functions.Name(f), ">", functions.Name(arc.callee))] = StrCat(arc.counts.samples);
    for (const CallArc& arc : arcs.CallersOf(f))
      called[StrCat(functions.Name(arc.caller), ">", functions.Name(f))] = StrCat(arc.counts.samples);
  }
  EXPECT_EQ(calls, called) << "the same arcs from both ends";
  EXPECT_THAT(sums,
              ElementsAre(Pair("/lib/bare.so", "0/12"), Pair("[truncated: deeper than recorded]", "0/8"),
                          Pair("_Z4walki", "20/78"), Pair("app", "0/88"), Pair("io;loop", "0/12"),
                          Pair("main", "10/80"), Pair("memcpy", "40/70"), Pair("page_fault", "30/30")));
  EXPECT_THAT(calls, ElementsAre(Pair("/lib/bare.so>memcpy", "12"),
                                 Pair("[truncated: deeper than recorded]>_Z4walki", "8"),
                                 Pair("_Z4walki>_Z4walki", "45"), Pair("_Z4walki>memcpy", "58"),
                                 Pair("app>[truncated: deeper than recorded]", "8"), Pair("app>main", "80"),
                                 Pair("io;loop>/lib/bare.so", "12"), Pair("main>_Z4walki", "70"),
                                 Pair("memcpy>page_fault", "30")));
}

TEST(EventOfStacks, IsOneEventOrTheReasonWhyNot) {
  SampleProfile none;
  none.Event({.name = "cycles", .period_or_frequency = 1});
  EXPECT_EQ(*EventOfStacks(none.profile()), 0u);
  none.Count({}, none.File("/a"), none.Symbol("f", 1), 1, 1);
  EXPECT_THAT(EventOfStacks(none.profile()).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("without stacks")));
  SampleProfile two = Calls();
  const uint32_t faults = two.Event({.name = "faults", .period_or_frequency = 1});
  EXPECT_EQ(*EventOfStacks(two.profile()), 0u);
  two.Stack({.event = faults}, {0}, 1);
  EXPECT_THAT(EventOfStacks(two.profile()).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("(cpu-clock, faults): choose one")));
}

}  // namespace
}  // namespace ksamp
