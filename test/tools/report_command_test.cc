// SPDX-License-Identifier: Apache-2.0
// `ksamp report` around its tables: which recording, where it writes, what it exits with. The tables
// themselves are in test/golden/report.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "lib/base/unique_fd.h"
#include "test/support/perf_data_builder.h"
#include "test/support/temp_tree.h"
#include "test/support/test_world.h"
#include "tools/command.h"

namespace ksamp {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::PerfDataBuilder;
using ::testing::StartsWith;
using testing::TempTree;
using testing::TestWorld;

using Words = std::vector<std::string>;

// Ten samples of one process whose executable is not there.
PerfDataBuilder Ten() {
  PerfDataBuilder b;
  b.Comm(7, 7, "app").Mmap({.pid = 7, .addr = 0x400000, .length = 0x1000, .path = "/nonexistent/app"});
  for (uint64_t i = 0; i < 10; ++i) b.Sample({.pid = 7, .tid = 7, .time = 100 + i, .ip = 0x400010});
  return b;
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Every test runs in a folder of its own.
class ReportCommandTest : public ::testing::Test {
 protected:
  ReportCommandTest() : home_(std::filesystem::current_path()) {
    std::filesystem::current_path(tree_.root());
  }
  ~ReportCommandTest() override { std::filesystem::current_path(home_); }

  int Report(Words options) {
    options.insert(options.begin(), "report");
    world_ = std::make_unique<TestWorld>();
    return RunKsamp(options, world_->world);
  }
  std::string out() const { return world_->out(); }
  std::string err() const { return world_->err(); }

  const std::filesystem::path home_;
  const TempTree tree_;
  std::unique_ptr<TestWorld> world_;
};

TEST_F(ReportCommandTest, TheRecordingIsKsampDataElsePerfDataElseAHint) {
  EXPECT_EQ(Report({"-l"}), kExitNothing);
  EXPECT_THAT(err(), AllOf(HasSubstr("neither ksamp.data nor perf.data"), HasSubstr("ksamp record -a")));
  EXPECT_THAT(out(), IsEmpty());

  Ten().WriteTo(tree_.Path("perf.data"));
  EXPECT_EQ(Report({"-l", "-n"}), kExitShown);
  EXPECT_THAT(out(), StartsWith("10       100.000  [unresolved: file not found]"));
  EXPECT_THAT(err(), HasSubstr("no ksamp.data here; reading perf.data"));

  Ten().Sample({.pid = 7, .tid = 7, .time = 200, .ip = 0x400010}).WriteTo(tree_.Path("ksamp.data"));
  EXPECT_EQ(Report({"-l", "-n"}), kExitShown);
  EXPECT_THAT(out(), StartsWith("11       100.000"));
  EXPECT_THAT(err(), IsEmpty());
}

TEST_F(ReportCommandTest, OpreportsIncludeOptionIsExplainedWhereItNamesNoFile) {
  EXPECT_EQ(Report({"-l", "-i", "tcp_sendmsg"}), kExitNothing);
  EXPECT_THAT(err(), AllOf(HasSubstr("open tcp_sendmsg"), HasSubstr("-S (--include-symbols)")));
  EXPECT_EQ(Report({"-l", "-i", "old/ksamp.data"}), kExitNothing);
  EXPECT_THAT(err(), ::testing::Not(HasSubstr("include-symbols")));
}

TEST_F(ReportCommandTest, WhatIsNoRecordingShowsNothing) {
  tree_.Write("notes.txt", "no recording at all, but long enough to be looked at\n");
  EXPECT_EQ(Report({"-i", "notes.txt"}), kExitNothing);
  EXPECT_THAT(err(), HasSubstr("notes.txt"));
  tree_.Write("empty.data", "");
  EXPECT_EQ(Report({"-i", "empty.data"}), kExitNothing);
  EXPECT_EQ(Report({"-i", "."}), kExitNothing);
  EXPECT_THAT(out(), IsEmpty());
}

TEST_F(ReportCommandTest, DamageIsShownAndInTheExitCode) {
  const std::string whole = Ten().WriteTo(tree_.Path("whole.data"));
  EXPECT_EQ(Report({"-i", whole, "-n"}), kExitShown);
  PerfDataBuilder cut = Ten();
  const size_t size = cut.Killed().Bytes().size();
  EXPECT_EQ(Report({"-i", cut.Truncated(size - 9).WriteTo(tree_.Path("cut.data")), "-n", "-l"}),
            kExitDamaged);
  EXPECT_THAT(out(), StartsWith("9 "));
  EXPECT_THAT(err(), AllOf(HasSubstr("warning: "), HasSubstr("is damaged")));
  EXPECT_EQ(Report({"-i", Ten().Killed().WriteTo(tree_.Path("killed.data")), "-n", "-l"}), kExitShown);
  EXPECT_THAT(out(), StartsWith("10 "));
  EXPECT_THAT(err(), HasSubstr("did not finish"));
}

TEST_F(ReportCommandTest, NoSamplesIsASentenceNothingSelectedAnExitCode) {
  PerfDataBuilder none;
  none.Comm(7, 7, "app");
  EXPECT_EQ(Report({"-i", none.WriteTo(tree_.Path("none.data"))}), kExitShown);
  EXPECT_THAT(err(), HasSubstr("holds no samples"));
  EXPECT_THAT(out(), IsEmpty());
  EXPECT_EQ(Report({"-i", Ten().WriteTo(tree_.Path("x.data")), "--pid", "8"}), kExitNothing);
  EXPECT_THAT(err(), HasSubstr("profile specification too strict ?"));
  EXPECT_THAT(out(), IsEmpty());
}

TEST_F(ReportCommandTest, OutputGoesToAFileButNeverOverARecording) {
  const std::string recording = Ten().WriteTo(tree_.Path("ksamp.data"));
  const std::string before = ReadAll(recording);
  EXPECT_EQ(Report({"-o", "ksamp.data"}), kExitUsage);
  EXPECT_THAT(err(), HasSubstr("this is a recording, it is not overwritten"));
  EXPECT_EQ(ReadAll(recording), before);

  EXPECT_EQ(Report({"-l", "-n", "-o", "report.txt"}), kExitShown);
  EXPECT_THAT(out(), IsEmpty());
  EXPECT_THAT(ReadAll(tree_.Path("report.txt")), StartsWith("10 "));
  EXPECT_EQ(Report({"--csv", "-n", "-o", "report.txt"}), kExitShown);  // another report may go
  EXPECT_THAT(ReadAll(tree_.Path("report.txt")), StartsWith("cpu-clock,"));

  EXPECT_EQ(Report({"-o", "no/such/folder/x"}), kExitNothing);
  EXPECT_THAT(err(), HasSubstr("no/such/folder/x"));
}

TEST_F(ReportCommandTest, AFlameGraphIsAFileOfOurOwn) {
  PerfDataBuilder b;
  perf_event_attr attr = testing::SampleAttr();
  attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
  b.AddEvent("cpu-clock", {7}, attr);
  b.Sample({.pid = 10, .tid = 10, .time = 1, .ip = 0x10, .callchain = {PERF_CONTEXT_USER, 0x10, 0x20}});
  const std::string recording = b.WriteTo(tree_.Path("ksamp.data"));
  EXPECT_EQ(Report({"--flamegraph", "x.svg"}), kExitShown) << err();
  EXPECT_THAT(out(), IsEmpty());
  EXPECT_THAT(ReadAll(tree_.Path("x.svg")), HasSubstr("<svg"));
  EXPECT_EQ(std::filesystem::status(tree_.Path("x.svg")).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(Report({"--flamegraph", "ksamp.data"}), kExitUsage);
  EXPECT_THAT(err(), HasSubstr("--flamegraph ksamp.data: this is a recording, it is not overwritten"));
  EXPECT_EQ(Report({"--flamegraph", "y.svg", "-o", "z"}), kExitUsage);
  EXPECT_THAT(err(), HasSubstr("-o does not go with it"));
}

TEST_F(ReportCommandTest, AFullDiskIsToldNotSwallowed) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  Ten().WriteTo(tree_.Path("ksamp.data"));
  EXPECT_EQ(Report({"-l", "-o", "/dev/full"}), kExitNothing);
  EXPECT_THAT(err(), HasSubstr("No space left"));
}

TEST_F(ReportCommandTest, ImagePathsAreFoldersOrTheHelpSaysWhatWasMeant) {
  Ten().WriteTo(tree_.Path("ksamp.data"));
  EXPECT_EQ(Report({"-p", "i40e"}), kExitUsage);
  EXPECT_THAT(err(), AllOf(HasSubstr("-p i40e: not a directory"), HasSubstr("--only-images 'i40e*'")));
  EXPECT_EQ(Report({"-p", "/no/such/drivers/"}), kExitUsage);
  EXPECT_THAT(err(), Not(HasSubstr("only one image"))) << "a folder was meant";
  EXPECT_EQ(Report({"-p", "."}), kExitNothing) << "an image that is not below it";
  EXPECT_EQ(Report({"-p"}), kExitShown);
  EXPECT_THAT(out(), HasSubstr("image name"));
}

TEST_F(ReportCommandTest, StandardInputIsARecordingToo) {
  const std::string file = Ten().Piped().WriteTo(tree_.Path("piped"));
  const UniqueFd kept(dup(STDIN_FILENO)), input(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_GE(dup2(input.get(), STDIN_FILENO), 0);
  const int exit_code = Report({"-i", "-", "-l", "-n"});
  if (kept) dup2(kept.get(), STDIN_FILENO);
  EXPECT_EQ(exit_code, kExitShown) << err();
  EXPECT_THAT(out(), StartsWith("10 "));
}

TEST_F(ReportCommandTest, UsageErrorsShowNothing) {
  Ten().WriteTo(tree_.Path("ksamp.data"));
  for (const Words& words : std::vector<Words>{{"-t", "x"},
                                               {"-l", "--no-such-option"},
                                               {"--sort=size"},
                                               {"--csv", "--xml"},
                                               {"--percent=none"},
                                               {"--time=5,1"},
                                               {"{", "a", "}", "{", "b", "}"},
                                               {"image:"}}) {
    EXPECT_EQ(Report(words), kExitUsage) << words[0];
    EXPECT_THAT(out(), IsEmpty()) << words[0];
    EXPECT_THAT(err(), StartsWith("ksamp: ")) << words[0];
  }
}

// The completions offer what this pattern finds in --help.
TEST_F(ReportCommandTest, HelpNamesEveryOptionWhereCompletionsLookForIt) {
  EXPECT_EQ(Report({"--help"}), kExitShown);
  for (const char* option : {"-i,--input",
                             "-l,--symbols",
                             "-d,--details",
                             "-w,--show-address",
                             "-g,--debug-info",
                             "--inline",
                             "--no-inline",
                             "-p,--image-path",
                             "--modules",
                             "--only-images",
                             "-a,--accumulated",
                             "-r,--reverse-sort",
                             "-s,--sort",
                             "-t,--threshold",
                             "-e,--exclude-symbols",
                             "-S,--include-symbols",
                             "-m,--merge",
                             "-x,--exclude-dependent",
                             "--separate",
                             "-f,--long-filenames",
                             "-n,--no-header",
                             "--notes",
                             "-%,--global-percent",
                             "--percent",
                             "-D,--demangle",
                             "-o,--output-file",
                             "-X,--xml",
                             "--csv",
                             "--json",
                             "-c,--callgraph",
                             "--children",
                             "--caller",
                             "--callee",
                             "--call-graph-of",
                             "--folded",
                             "--flamegraph",
                             "--icicle",
                             "--time",
                             "--cpu",
                             "--comm",
                             "--pid",
                             "--tid",
                             "--event",
                             "--idle",
                             "-R,--root",
                             "--vmlinux",
                             "--kallsyms",
                             "--debug-dir",
                             "--no-pager"})
    EXPECT_THAT(out(), HasSubstr("  " + std::string(option))) << option;
  for (const char* later : {"--pprof", "--html", "--debuginfod"})
    EXPECT_THAT(out(), ::testing::Not(HasSubstr(later)));
}

}  // namespace
}  // namespace ksamp
