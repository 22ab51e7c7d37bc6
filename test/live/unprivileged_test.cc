// SPDX-License-Identifier: Apache-2.0
// The built tool in the hands of a user without rights, on this kernel and at its present level of
// kernel.perf_event_paranoid: a command of their own is recorded as far as the level allows, and told; what
// it forbids is refused with the reason.
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "ksamp/perf_data.h"
#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "lib/os/sys_fs.h"
#include "test/support/built_tree.h"
#include "test/support/capability.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::CanSample;
using ::ksamp::testing::IsRoot;
using ::ksamp::testing::TempTree;
using ::ksamp::testing::ToolPath;
using ::testing::AnyOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr unsigned kNobody = 65534;

struct LiveUnprivilegedTest : ::testing::Test {
  void SetUp() override {
    KSAMP_REQUIRE(IsRoot());
    KSAMP_REQUIRE(CanSample());
    level = ReadPerfLimits("/proc").paranoid.value_or(2);
    // The tree may stand where nobody may go: the tool is copied beside its output.
    std::filesystem::copy_file(ToolPath(), tool);
    ASSERT_EQ(chmod(tool.c_str(), 0755), 0);
    ASSERT_EQ(chmod(tree.root().c_str(), 0777), 0);
  }

  // Runs the tool as nobody; its exit status. What it said is in `said` then.
  int Run(std::vector<std::string> arguments) {
    const std::string errors = tree.Path("errors");
    const pid_t child = fork();
    if (child == 0) Become(errors, arguments);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    said = ReadFile(errors).value_or("");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  TempTree tree;
  const std::string tool = tree.Path("ksamp"), file = tree.Path("x.data");
  std::string said;
  int level = 2;

 private:
  [[noreturn]] void Become(const std::string& errors, std::vector<std::string>& arguments) const {
    if (freopen(errors.c_str(), "w", stderr) == nullptr) _exit(99);
    std::vector<char*> argv = {const_cast<char*>(tool.c_str())};
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    if (setgroups(0, nullptr) == 0 && setgid(kNobody) == 0 && setuid(kNobody) == 0)
      execv(argv[0], argv.data());
    _exit(99);
  }
};

TEST_F(LiveUnprivilegedTest, ACommandOfOnesOwnIsRecordedAsFarAsAllowed) {
  const int status =
      Run({"record", "-o", file, "--", "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"});
  if (status == 125) {  // some distributions' kernels open nothing above 2
    EXPECT_GT(level, 2);
    EXPECT_THAT(said, HasSubstr("this kernel opens no event above 2"));
    return;
  }
  ASSERT_EQ(status, 0) << said;
  EXPECT_THAT(said, level >= 2 ? ::testing::Matcher<std::string>(HasSubstr("only user space is"))
                               : ::testing::Matcher<std::string>(Not(HasSubstr("only user space is"))));
  ASSERT_OK_AND_ASSIGN(const Recording recording, Recording::Open(file));
  EXPECT_THAT(recording.counts().samples, Gt(20u));
}

TEST_F(LiveUnprivilegedTest, TheWholeMachineIsRefusedAboveLevel0) {
  const int status = Run({"record", "-a", "-o", file, "sleep", "0.1"});
  if (level <= 0) {
    EXPECT_EQ(status, 0) << said;
    return;
  }
  EXPECT_EQ(status, 125);
  EXPECT_THAT(said, HasSubstr(StrCat("kernel.perf_event_paranoid is ", level)));
  EXPECT_THAT(said, HasSubstr("\n       As root: echo "));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(LiveUnprivilegedTest, CountingACommandCountsUserSpaceAtLeast) {
  const int status = Run({"stat", "-e", "task-clock", "--", "true"});
  EXPECT_THAT(said, AnyOf(HasSubstr("task-clock"), HasSubstr("this kernel opens no event above 2")));
  EXPECT_EQ(status, said.find("opens no event") == std::string::npos ? 0 : 125) << said;
}

}  // namespace
}  // namespace ksamp
