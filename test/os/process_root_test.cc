// SPDX-License-Identifier: Apache-2.0
#include "lib/os/process_root.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "test/support/capability.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::IsRoot;
using ::ksamp::testing::TempTree;
using ::testing::HasSubstr;

struct ProcessRootTest : ::testing::Test {
  // Process 77, which is number 5 in its own namespace.
  void Process(uid_t user, const std::string& ns_pids = "77\t5") {
    tree.MakeDirectory("proc/77/root/tmp");
    tree.Write("proc/77/status", StrCat("Name:\tx\nUid:\t", user, "\t", user, "\t", user, "\t", user,
                                        "\nNSpid:\t", ns_pids, "\n"));
  }
  absl::StatusOr<ProcessRoot> Root() {
    absl::StatusOr<ProcFs> proc = ProcFs::Open(tree.Path("proc"));
    if (!proc.ok()) return proc.status();
    return ProcessRoot::Of(*proc, 77);
  }
  std::string Read(const std::string& path) {
    const absl::StatusOr<ProcessRoot> root = Root();
    if (!root.ok()) return MessageOf(root.status());
    const absl::StatusOr<UniqueFd> fd = root->OpenOwned(path);
    return fd.ok() ? ReadAll(fd->get(), path).value_or("not readable") : MessageOf(fd.status());
  }
  TempTree tree;
};

TEST_F(ProcessRootTest, AFileIsFoundInsideByTheNumberInside) {
  Process(geteuid());
  tree.Write("proc/77/root/tmp/perf-5.map", "inside");
  ASSERT_OK_AND_ASSIGN(const ProcessRoot root, Root());
  EXPECT_EQ(root.pid_inside(), 5u);
  EXPECT_EQ(root.user(), geteuid());
  EXPECT_EQ(root.name(), tree.Path("proc/77/root"));
  EXPECT_EQ(PerfMapPath(root.pid_inside()), "/tmp/perf-5.map");
  EXPECT_EQ(Read("/tmp/perf-5.map"), "inside");
  EXPECT_THAT(Read("/tmp/perf-6.map"), HasSubstr("proc/77/root/tmp/perf-6.map: No such file"));
}

TEST_F(ProcessRootTest, WithoutNamespacesTheNumberIsThePid) {
  Process(geteuid(), "77");
  ASSERT_OK_AND_ASSIGN(const ProcessRoot root, Root());
  EXPECT_EQ(root.pid_inside(), 77u);
  ASSERT_OK_AND_ASSIGN(const ProcFs proc, ProcFs::Open(tree.Path("proc")));
  EXPECT_TRUE(absl::IsNotFound(ProcessRoot::Of(proc, 78).status())) << "it has ended";
}

TEST_F(ProcessRootTest, AnotherUsersFileIsNotBelieved) {
  KSAMP_REQUIRE(IsRoot());
  Process(1000);
  const std::string path = tree.Write("proc/77/root/tmp/perf-5.map", "forged");
  ASSERT_EQ(chown(path.c_str(), 1001, 1001), 0);
  EXPECT_THAT(Read("/tmp/perf-5.map"), HasSubstr("belongs to user 1001, its process to user 1000; not used"));
  ASSERT_EQ(chown(path.c_str(), 1000, 1000), 0);
  EXPECT_EQ(Read("/tmp/perf-5.map"), "forged");
  ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  EXPECT_EQ(Read("/tmp/perf-5.map"), "forged") << "agents may run as root";
}

TEST_F(ProcessRootTest, NeitherLinksNorPipesNorFoldersAreOpened) {
  Process(geteuid());
  tree.Symlink("proc/77/root/tmp/perf-5.map", tree.Write("secret", "secret"));
  EXPECT_THAT(Read("/tmp/perf-5.map"), HasSubstr("a symbolic link; not used"));
  ASSERT_EQ(mkfifo(tree.Path("proc/77/root/tmp/fifo").c_str(), 0600), 0);
  EXPECT_THAT(Read("/tmp/fifo"), HasSubstr("not a regular file; not used"));
  EXPECT_THAT(Read("/tmp"), HasSubstr("not a regular file; not used"));
}

TEST_F(ProcessRootTest, LinksAmongTheFoldersStayInside) {
  Process(geteuid());
  tree.Write("proc/77/root/private/perf-5.map", "inside");
  tree.Write("outside/perf-5.map", "outside");
  tree.Symlink("proc/77/root/absolute", "/private");
  tree.Symlink("proc/77/root/relative", "../../../../outside");
  EXPECT_EQ(Read("/absolute/perf-5.map"), "inside");
  EXPECT_THAT(Read("/relative/perf-5.map"), HasSubstr("No such file"));
  EXPECT_THAT(Read("/../../../outside/perf-5.map"), HasSubstr("No such file"));
}

TEST_F(ProcessRootTest, OfAnEndedProcessOnlyOurOwnFilesAndRootsCount) {
  KSAMP_REQUIRE(IsRoot());
  const std::string path = tree.Write("tmp/perf-77.map", "left behind");
  ASSERT_OK_AND_ASSIGN(const ProcessRoot root, ProcessRoot::OfEnded(77, tree.Path("")));
  EXPECT_EQ(root.pid_inside(), 77u);
  ASSERT_OK(root.OpenOwned("/tmp/perf-77.map").status());
  ASSERT_EQ(chown(path.c_str(), 1001, 1001), 0);
  EXPECT_THAT(MessageOf(root.OpenOwned("/tmp/perf-77.map").status()), HasSubstr("belongs to user 1001"));
}

}  // namespace
}  // namespace ksamp
