// SPDX-License-Identifier: Apache-2.0
#include "tools/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using testing::StatusIs;

// The options of `record` that matter for splitting.
struct RecordLike {
  CLI::App app;
  bool all = false;
  std::string graph, output, frequency;
  std::vector<std::string> events;

  RecordLike() {
    app.add_flag("-a,--all-cpus", all);
    app.add_option("-g,--callgraph", graph)
        ->expected(0, 1)
        ->default_str("fp")
        ->check(CLI::IsMember({"fp", "lbr"}));
    app.add_option("-o,--output", output);
    app.add_option("-F,--freq", frequency);
    app.add_option("-e,--event", events);
    app.add_option("-P", output);
  }
};

struct Case {
  std::vector<std::string> arguments, options, words;
};

TEST(Arguments, ACommandStartsAtTheFirstWord) {
  const Case kCases[] = {
      {{"-a", "--", "ls", "-l"}, {"--all-cpus"}, {"ls", "-l"}},
      {{"-a", "top", "-b"}, {"--all-cpus"}, {"top", "-b"}},
      {{"diff", "a", "b"}, {}, {"diff", "a", "b"}},
      {{"-g", "ls", "-l"}, {"--callgraph=fp"}, {"ls", "-l"}},
      {{"-ga", "ls"}, {"--callgraph=fp", "--all-cpus"}, {"ls"}},
      {{"--", "-x"}, {}, {"-x"}},
      {{"-g", "lbr", "ls"}, {"--callgraph=lbr"}, {"ls"}},
      {{"-g=lbr", "ls"}, {"--callgraph=lbr"}, {"ls"}},
      {{"-glbr", "ls"}, {"--callgraph=lbr"}, {"ls"}},
      {{"--callgraph", "lbr", "ls"}, {"--callgraph=lbr"}, {"ls"}},
      {{"--callgraph", "ls"}, {"--callgraph=fp"}, {"ls"}},
      {{"-g", "--", "lbr"}, {"--callgraph=fp"}, {"lbr"}},
      {{"-aF99", "ls"}, {"--all-cpus", "--freq=99"}, {"ls"}},
      {{"-aF", "99", "ls"}, {"--all-cpus", "--freq=99"}, {"ls"}},
      {{"-o", "-", "-a", "x"}, {"--output=-", "--all-cpus"}, {"x"}},
      {{"-e", "{cycles,instructions}:u", "--event=page-faults", "ls"},
       {"--event={cycles,instructions}:u", "--event=page-faults"},
       {"ls"}},
      {{"-P", "-7", "ls"}, {"-P-7"}, {"ls"}},
      {{"ls", "--", "-a"}, {}, {"ls", "--", "-a"}},
  };
  for (const Case& c : kCases) {
    RecordLike record;
    SCOPED_TRACE(::testing::PrintToString(c.arguments));
    ASSERT_OK_AND_ASSIGN(const SplitArguments split, Split(record.app, c.arguments, WordsAre::kCommand));
    EXPECT_EQ(split.options, c.options);
    EXPECT_EQ(split.words, c.words);
  }
}

TEST(Arguments, OptionsGoOnBehindPositionalWords) {
  const Case kCases[] = {
      {{"vmlinux", "-a", "image:kvm"}, {"--all-cpus"}, {"vmlinux", "image:kvm"}},
      {{"-a", "--", "-x", "-a"}, {"--all-cpus"}, {"-x", "-a"}},
      {{"{", "-a", "}", "-"}, {"--all-cpus"}, {"{", "}", "-"}},
  };
  for (const Case& c : kCases) {
    RecordLike record;
    SCOPED_TRACE(::testing::PrintToString(c.arguments));
    ASSERT_OK_AND_ASSIGN(const SplitArguments split, Split(record.app, c.arguments, WordsAre::kPositional));
    EXPECT_EQ(split.options, c.options);
    EXPECT_EQ(split.words, c.words);
  }
}

TEST(Arguments, ErrorsNameTheOptionAsItWasTyped) {
  const struct {
    std::vector<std::string> arguments;
    std::string message;
  } kCases[] = {
      {{"--all-cpu"}, "unknown option --all-cpu; did you mean --all-cpus?"},
      {{"--zzz"}, "unknown option --zzz"},
      {{"-z"}, "unknown option -z"},
      {{"-az"}, "unknown option -z in -az"},
      {{"-o"}, "option -o needs a value"},
      {{"--output="}, "option --output needs a value"},
      {{"--all-cpus=1"}, "option --all-cpus takes no value"},
  };
  for (const auto& c : kCases) {
    RecordLike record;
    EXPECT_THAT(Split(record.app, c.arguments, WordsAre::kCommand),
                StatusIs(absl::StatusCode::kInvalidArgument, c.message));
  }
}

}  // namespace
}  // namespace ksamp
