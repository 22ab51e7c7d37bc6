// SPDX-License-Identifier: Apache-2.0
// The frame, with commands of its own: what reaches a command, and what people are told when nothing does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "test/support/test_world.h"
#include "tools/command.h"

namespace ksamp {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

// What a fake command was run with.
struct Call {
  bool ran = false, all = false;
  std::string graph, output;
  Words events, positional, command;
};

class FakeCommand : public Command {
 public:
  FakeCommand(std::string name, bool takes_command, Call* call)
      : name_(std::move(name)), takes_command_(takes_command), call_(call) {}
  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return "Does nothing"; }
  std::string_view examples() const override { return "ksamp fake -a\nksamp fake -g"; }
  bool takes_command() const override { return takes_command_; }
  void AddOptions(CLI::App& app) override {
    app.add_flag("-a", call_->all);
    app.add_option("-g,--call-graph", call_->graph)
        ->expected(0, 1)
        ->default_str("fp")
        ->check(CLI::IsMember({"fp", "lbr"}));
    app.add_option("-o,--output", call_->output);
    app.add_option("-e,--event", call_->events);
    if (!takes_command_) app.add_option("words", call_->positional);
  }
  int Run(World&, const Words& command_words) override {
    call_->ran = true;
    call_->command = command_words;
    return 7;
  }

 private:
  std::string name_;
  bool takes_command_;
  Call* call_;
};

class RunTest : public ::testing::Test {
 protected:
  RunTest() {
    commands_.push_back(std::make_unique<FakeCommand>("record", true, &record_));
    commands_.push_back(std::make_unique<FakeCommand>("report", false, &report_));
  }
  int Run(const Words& args) { return RunKsampWith(commands_, args, world_.world); }

  testing::TestWorld world_;
  Call record_, report_;
  std::vector<std::unique_ptr<Command>> commands_;
};

TEST_F(RunTest, ACommandGetsItsOptionsAndTheWorkloadItsOwn) {
  EXPECT_EQ(
      Run({"record", "-ga", "-e", "cycles", "-e", "faults", "-o", "x", "-o", "y", "ls", "-l", "--", "-a"}),
      7);
  EXPECT_TRUE(record_.all);
  EXPECT_EQ(record_.graph, "fp");
  EXPECT_EQ(record_.output, "y") << "the last one counts";
  EXPECT_EQ(record_.events, (Words{"cycles", "faults"}));
  EXPECT_EQ(record_.command, (Words{"ls", "-l", "--", "-a"}));
}

TEST_F(RunTest, AWorkloadMayBeNamedLikeASubCommand) {
  EXPECT_EQ(Run({"record", "report", "--help"}), 7);
  EXPECT_EQ(record_.command, (Words{"report", "--help"}));
  EXPECT_FALSE(report_.ran);
}

TEST_F(RunTest, PositionalWordsReachTheCommandInOrder) {
  EXPECT_EQ(Run({"report", "record", "-a", "image:kvm", "-g", "--", "-x"}), 7);
  EXPECT_TRUE(report_.all);
  EXPECT_EQ(report_.graph, "fp");
  EXPECT_EQ(report_.positional, (Words{"record", "image:kvm", "-x"}));
  EXPECT_EQ(report_.command, Words{});
}

TEST_F(RunTest, HelpGoesToStandardOutput) {
  for (const Words& args : {Words{"report", "--help"}, Words{"report", "-h"}, Words{"help", "report"}}) {
    testing::TestWorld world;
    EXPECT_EQ(RunKsampWith(commands_, args, world.world), kExitShown);
    EXPECT_THAT(world.out(), HasSubstr("Usage: ksamp report"));
    EXPECT_THAT(world.out(), HasSubstr("Examples:\n  ksamp fake -a\n  ksamp fake -g"));
    EXPECT_EQ(world.err(), "");
  }
  EXPECT_EQ(Run({"--help"}), kExitShown);
  EXPECT_THAT(world_.out(), HasSubstr("  record      Does nothing\n  report      Does nothing\n"));
}

TEST_F(RunTest, VersionIsOneLine) {
  EXPECT_EQ(Run({"--version"}), kExitShown);
  EXPECT_THAT(world_.out(), StartsWith("ksamp "));
  EXPECT_EQ(world_.err(), "");
}

TEST_F(RunTest, UsageErrorsSayWhatAndWhereHelpIs) {
  const struct {
    Words args;
    std::string err;
  } kCases[] = {
      {{"reprot"}, "ksamp: unknown command reprot; did you mean report?\n       Try: ksamp --help\n"},
      {{"frobnicate"}, "ksamp: unknown command frobnicate\n       Try: ksamp --help\n"},
      {{"-a", "report"}, "ksamp: unknown option -a before the command\n       Try: ksamp --help\n"},
      {{"report", "--even"},
       "ksamp: report: unknown option --even; did you mean --event?\n       Try: ksamp report --help\n"},
      {{"record", "-g=dwarf9"},
       "ksamp: record: --call-graph: dwarf9 not in {fp,lbr}\n       Try: ksamp record --help\n"},
  };
  for (const auto& c : kCases) {
    testing::TestWorld world;
    EXPECT_EQ(RunKsampWith(commands_, c.args, world.world), kExitUsage);
    EXPECT_EQ(world.err(), c.err);
    EXPECT_EQ(world.out(), "");
  }
  EXPECT_FALSE(record_.ran || report_.ran);
}

TEST_F(RunTest, WithoutArgumentsTheOverviewIsAnError) {
  EXPECT_EQ(Run({}), kExitUsage);
  EXPECT_THAT(world_.err(), HasSubstr("Usage: ksamp COMMAND"));
}

}  // namespace
}  // namespace ksamp
