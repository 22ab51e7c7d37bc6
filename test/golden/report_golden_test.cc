// SPDX-License-Identifier: Apache-2.0
// Every form and option of `ksamp report`, run in-process on made recordings. report/NAME.in is a recording
// as a script (test/support/recording_script.h), report/CASE.args one command line, report/CASE.out its exit
// code and all it printed. In command lines $NAME is the recording, $ROOT the folder its files are in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "lib/base/str_cat.h"
#include "test/support/built_tree.h"
#include "test/support/golden.h"
#include "test/support/recording_script.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"
#include "test/support/test_world.h"
#include "tools/command.h"

namespace ksamp {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::MatchesGolden;
using testing::RecordingScript;
using testing::SourceDir;
using testing::TempTree;
using testing::TestWorld;
using Words = std::vector<std::string>;

const fs::path kFolder = fs::path(SourceDir()) / "test/golden/report";

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> Cases() {
  std::vector<std::string> cases;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ".args") cases.push_back(entry.path().stem());
  std::sort(cases.begin(), cases.end());
  return cases;
}

// Blanks separate, '…' keeps together, as in a shell.
Words ShellWords(const std::string& text) {
  Words words;
  bool quoted = false, in_word = false;
  for (char c : text) {
    const bool blank = !quoted && (c == ' ' || c == '\n');
    if (blank) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == '\'') {
      quoted = !quoted;
    } else {
      words.back() += c;
    }
  }
  return words;
}

std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

class ReportGolden : public ::testing::TestWithParam<std::string> {
 protected:
  // The command line's words, its recordings made.
  void ReadCommand() {
    for (std::string word : ShellWords(ReadAll(kFolder / (GetParam() + ".args")))) {
      word = Replaced(word, "$ROOT", tree_.Path("root"));
      if (word.starts_with('$')) {
        const std::string name = word.substr(1);
        ASSERT_OK_AND_ASSIGN(RecordingScript script,
                             RecordingScript::Parse(ReadAll(kFolder / (name + ".in")), tree_.Path("root")));
        word = script.builder().WriteTo(tree_.Path(name + ".data"));
      }
      args_.push_back(word);
    }
  }

  std::string Printed(int exit_code, const TestWorld& world) const {
    return Replaced(StrCat("exit ", exit_code, "\n--- stdout\n", world.out(), "--- stderr\n", world.err()),
                    tree_.root() + "/", "");
  }

  // The same selection and threshold as JSON.
  Words AsJson() const {
    const std::set<std::string> flags = {"--csv", "--json", "-X",         "--xml",    "-a",       "-%",
                                         "-c",    "-w",     "--children", "--caller", "--callee", "--folded"};
    const std::set<std::string> valued = {"-o", "--output-file", "--call-graph-of", "--flamegraph"};
    Words words;
    for (size_t i = 0; i < args_.size(); ++i) {
      if (valued.contains(args_[i])) {
        ++i;
      } else if (!flags.contains(args_[i])) {
        words.push_back(args_[i]);
      }
    }
    words.insert(words.begin() + 1, "--json");
    return words;
  }

  const TempTree tree_;
  Words args_;
};

uint64_t Sum(const json& counts) {
  uint64_t sum = 0;
  for (const json& count : counts) sum += count.get<uint64_t>();
  return sum;
}

// Each sample taken is a row's, or idle, filtered or dropped.
void ExpectConservation(const json& report) {
  for (const json& event : report["events"]) {
    uint64_t in_rows = 0;
    for (const json& row : report["rows"])
      if (row["event"] == event["name"]) in_rows += row["samples"].get<uint64_t>();
    const uint64_t below_threshold = event["below_threshold"];
    EXPECT_EQ(in_rows + below_threshold, event["counted"]) << event["name"];
    EXPECT_EQ(event["taken"], in_rows + below_threshold + event["idle"].get<uint64_t>() +
                                  Sum(event["filtered"]) + Sum(event["dropped"]))
        << event;
  }
}

// "main;run 12" …: all that was counted.
uint64_t FoldedSamples(const std::string& lines) {
  uint64_t samples = 0;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) samples += std::stoull(line.substr(line.rfind(' ')));
  return samples;
}

TEST_P(ReportGolden, PrintsWhatItPrintedAndNoSampleIsMissing) {
  ReadCommand();
  TestWorld world;
  const int exit_code = RunKsamp(args_, world.world);
  EXPECT_TRUE(MatchesGolden(kFolder / (GetParam() + ".out"), Printed(exit_code, world)));
  if (exit_code != kExitShown && exit_code != kExitDamaged) return;
  TestWorld again;
  ASSERT_EQ(RunKsamp(AsJson(), again.world), exit_code) << again.err();
  const json report = json::parse(again.out());
  ExpectConservation(report);
  if (std::find(args_.begin(), args_.end(), "--folded") != args_.end()) {
    EXPECT_EQ(FoldedSamples(world.out()), report["events"][0]["counted"]);
  }
}

INSTANTIATE_TEST_SUITE_P(Report, ReportGolden, ::testing::ValuesIn(Cases()), [](const auto& tested) {
  std::string name = tested.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace ksamp
