// SPDX-License-Identifier: Apache-2.0
#include "lib/os/proc_fs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/str_cat.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ksamp::testing::IsOkAndHolds;
using ksamp::testing::StatusIs;
using ksamp::testing::TempTree;
using ::testing::_;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kReadExec = static_cast<uint32_t>(PROT_READ | PROT_EXEC);
constexpr auto kPrivate = static_cast<uint32_t>(MAP_PRIVATE);
constexpr auto kShared = static_cast<uint32_t>(MAP_SHARED);

struct MapsCase {
  std::string line;
  MapsLine parsed;
};

TEST(ParseMapsLine, ReadsEveryKindOfLine) {
  const MapsCase cases[] = {
      {"55a0-66b0 r-xp 00001000 fd:01 1234                       /usr/bin/bash",
       {0x55a0, 0x66b0, 0x1000, kReadExec, kPrivate, 0xfd, 1, 1234, "/usr/bin/bash"}},
      {"7ffd000-7ffe000 rwxs 00000000 00:01 99 /memfd:code (deleted)",
       {0x7ffd000, 0x7ffe000, 0, kReadExec | PROT_WRITE, kShared, 0, 1, 99, "/memfd:code (deleted)"}},
      {"1000-2000 ---p 00000000 00:00 0 ", {0x1000, 0x2000, 0, 0, kPrivate, 0, 0, 0, ""}},
      {"1000-2000 r-xp 00000000 00:00 0", {0x1000, 0x2000, 0, kReadExec, kPrivate, 0, 0, 0, ""}},
      {"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]",
       {0xffffffffff600000, 0xffffffffff601000, 0, PROT_EXEC, kPrivate, 0, 0, 0, "[vsyscall]"}},
      {"1000-2000 r-xp 00000000 08:10 18446744073709551615 /a b  c",
       {0x1000, 0x2000, 0, kReadExec, kPrivate, 8, 0x10, UINT64_MAX, "/a b  c"}},
      {"1000-2000 r-xp 00000000 08:10 7 /new\\012line\\x\\",
       {0x1000, 0x2000, 0, kReadExec, kPrivate, 8, 0x10, 7, "/new\nline\\x\\"}},
      {"1000-2000 r-xp 00000000 08:10 7 /x (deleted) (deleted)",
       {0x1000, 0x2000, 0, kReadExec, kPrivate, 8, 0x10, 7, "/x (deleted) (deleted)"}},
  };
  for (const MapsCase& c : cases) {
    std::string text = c.line;
    MapsLine line;
    ASSERT_TRUE(ParseMapsLine(text, &line)) << c.line;
    EXPECT_EQ(line.start, c.parsed.start) << c.line;
    EXPECT_EQ(line.end, c.parsed.end) << c.line;
    EXPECT_EQ(line.offset, c.parsed.offset) << c.line;
    EXPECT_EQ(line.protection, c.parsed.protection) << c.line;
    EXPECT_EQ(line.flags, c.parsed.flags) << c.line;
    EXPECT_EQ(line.maj, c.parsed.maj) << c.line;
    EXPECT_EQ(line.min, c.parsed.min) << c.line;
    EXPECT_EQ(line.inode, c.parsed.inode) << c.line;
    EXPECT_EQ(line.path, c.parsed.path) << c.line;
  }
}

TEST(ParseMapsLine, RefusesWhatIsNoMapping) {
  for (const char* text :
       {"", "-", "1000", "1000-", "1000-2000", "1000-2000 r-x", "1000-2000 r-xp", "1000-2000 r-xp 0",
        "1000-2000 r-xp 0 08", "1000-2000 r-xp 0 08:1 ", "1000-2000 r-xpp 0 08:1 1 /a",
        "x-y r-xp 0 08:1 1 /a", "2000-1000 r-xp 0 08:1 1 /a", "1000-1000 r-xp 0 08:1 1 /a",
        "11112222333344445-2 r-xp 0 08:1 1 /a"}) {
    std::string line = text;
    MapsLine parsed;
    EXPECT_FALSE(ParseMapsLine(line, &parsed)) << text;
  }
}

TEST(ForEachMapsLine, PassesOverDamagedLinesAndAMissingLastNewline) {
  std::string text = "1-2 r-xp 0 0:0 1 /a\nnonsense\n\n3-4 r-xp 0 0:0 2 /b";
  std::vector<std::string> paths;
  ForEachMapsLine(std::span<char>(text), [&](const MapsLine& line) { paths.emplace_back(line.path); });
  EXPECT_THAT(paths, ElementsAre("/a", "/b"));
}

TEST(ParseModules, ReadsNameSizeAndAddress) {
  EXPECT_THAT(ParseModules("loop 32768 0 - Live 0xffffffffc067b000\n"
                           "fscache 380928 1 9p, Live 0xffffffffc0608000 (OE)\n"
                           "hidden 4096 0 - Live 0x0000000000000000\n"
                           "cut 1 0 - Live\n"
                           "bad x 0 - Live 0x1\n"
                           "last 5 0 - Live 0x10"),
              ElementsAre(LoadedModule{"loop", 0xffffffffc067b000, 32768},
                          LoadedModule{"fscache", 0xffffffffc0608000, 380928},
                          LoadedModule{"hidden", 0, 4096}, LoadedModule{"last", 0x10, 5}));
}

TEST(ParseKallsymsLine, ReadsKernelAndModuleSymbols) {
  KallsymsLine line;
  ASSERT_TRUE(ParseKallsymsLine("ffffffff81000000 T _text", &line));
  EXPECT_EQ(line.address, 0xffffffff81000000u);
  EXPECT_EQ(line.type, 'T');
  EXPECT_EQ(line.name, "_text");
  EXPECT_EQ(line.module, "");
  ASSERT_TRUE(ParseKallsymsLine("ffffffffc0000000 t vmx_vcpu_run\t[kvm_intel]", &line));
  EXPECT_EQ(line.name, "vmx_vcpu_run");
  EXPECT_EQ(line.module, "kvm_intel");
  for (const char* bad : {"", "x T _text", "ffff T", "ffff T ", "ffff", "ffff TT name"})
    EXPECT_FALSE(ParseKallsymsLine(bad, &line)) << bad;
}

TEST(ProcFs, OpenNamesTheRootThatIsMissing) {
  EXPECT_THAT(ProcFs::Open("/nowhere").status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("open /nowhere")));
}

TEST(ProcFs, ListsProcessesAndThreadsInOrder) {
  TempTree tree;
  for (const char* path : {"proc/10/task/10/comm", "proc/10/task/9/comm", "proc/10/task/101/comm",
                           "proc/2/comm", "proc/self/comm", "proc/0/comm", "proc/12x/comm", "proc/-3/comm"})
    tree.Write(path, "x\n");
  ASSERT_OK_AND_ASSIGN(ProcFs proc, ProcFs::Open(tree.Path("proc")));
  EXPECT_THAT(proc.Processes(), ElementsAre(2, 10));
  EXPECT_THAT(proc.Threads(10), ElementsAre(9, 10, 101));
  EXPECT_THAT(proc.Threads(2), IsEmpty());
  EXPECT_THAT(proc.Threads(3), IsEmpty());
}

TEST(ProcFs, ListsMoreThanOneBufferOfNames) {
  TempTree tree;
  std::vector<pid_t> wanted;
  for (pid_t pid = 1; pid <= 2500; ++pid) {
    tree.MakeDirectory(StrCat("proc/", pid));
    wanted.push_back(pid);
  }
  ASSERT_OK_AND_ASSIGN(ProcFs proc, ProcFs::Open(tree.Path("proc")));
  EXPECT_EQ(proc.Processes(), wanted);
}

TEST(ProcFs, ReadsCommsWithAnyByte) {
  TempTree tree;
  tree.Write("proc/1/task/1/comm", "(sd-pam)\n");
  tree.Write("proc/1/task/2/comm", "a\nb\033[1m\n");
  tree.Write("proc/1/task/3/comm", "\n");
  ASSERT_OK_AND_ASSIGN(ProcFs proc, ProcFs::Open(tree.Path("proc")));
  std::string scratch;
  EXPECT_THAT(proc.ReadComm(1, 1, scratch), IsOkAndHolds("(sd-pam)"));
  EXPECT_THAT(proc.ReadComm(1, 2, scratch), IsOkAndHolds("a\nb\033[1m"));
  EXPECT_THAT(proc.ReadComm(1, 3, scratch), IsOkAndHolds(""));
  EXPECT_THAT(proc.ReadComm(1, 4, scratch).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("1/task/4")));
}

TEST(ProcFs, ReadsStatusOfNestedNamespaces) {
  TempTree tree;
  tree.Write("proc/77/status",
             "Name:\tx\nUmask:\t0022\nTgid:\t70\nPid:\t77\nPPid:\t3\nUid:\t1000\t1001\t1002\t1003\n"
             "NStgid:\t70\t5\nNSpid:\t77\t9\nThreads:\t4\nCapEff:\t000001ffffffffff\nSeccomp:\t2\n");
  ASSERT_OK_AND_ASSIGN(ProcFs proc, ProcFs::Open(tree.Path("proc")));
  ASSERT_OK_AND_ASSIGN(ProcessStatus status, proc.ReadStatus(77));
  EXPECT_EQ(status.tgid, 70u);
  EXPECT_EQ(status.ppid, 3u);
  EXPECT_EQ(status.uid, 1000u);
  EXPECT_EQ(status.euid, 1001u);
  EXPECT_EQ(status.threads, 4u);
  EXPECT_THAT(status.ns_pids, ElementsAre(77u, 9u));
  EXPECT_EQ(status.seccomp, 2);
  EXPECT_EQ(status.effective_capabilities, 0x1ffffffffffu);
  EXPECT_EQ(proc.ProcessOf(77), 70);
  EXPECT_EQ(proc.ProcessOf(78), std::nullopt);
}

TEST(ProcFs, FindsTheStartTimeBehindAHostileName) {
  TempTree tree;
  tree.Write("proc/5/stat", "5 (a) 1 (b) S 1 5 5 0 -1 1 2 3 4 5 6 7 8 9 20 0 1 0 4242 99 1\n");
  tree.Write("proc/6/stat", "6 (cut\n");
  ASSERT_OK_AND_ASSIGN(ProcFs proc, ProcFs::Open(tree.Path("proc")));
  EXPECT_THAT(proc.ReadStartTime(5), IsOkAndHolds(4242u));
  EXPECT_THAT(proc.ReadStartTime(6).status(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("no start time")));
}

TEST(ProcFs, ReadsFilesLargerThanItsBuffer) {
  TempTree tree;
  std::string text;
  for (int i = 0; i < 5000; ++i) text += StrCat(Hex(0x1000u + static_cast<uint64_t>(i)), " line\n");
  tree.Write("proc/1/maps", text);
  tree.Write("proc/2/maps", "short");
  ASSERT_OK_AND_ASSIGN(ProcFs proc, ProcFs::Open(tree.Path("proc")));
  std::string scratch;
  ASSERT_OK_AND_ASSIGN(std::span<char> maps, proc.ReadMaps(1, 1, scratch));
  EXPECT_EQ(std::string(maps.data(), maps.size()), text);
  ASSERT_OK_AND_ASSIGN(maps, proc.ReadMaps(2, 2, scratch));
  EXPECT_EQ(std::string(maps.data(), maps.size()), "short");
}

TEST(ProcFs, AgreesWithTheKernelAboutThisProcess) {
  ASSERT_OK_AND_ASSIGN(ProcFs proc, ProcFs::Open());
  const pid_t self = getpid();
  EXPECT_THAT(proc.Processes(), Contains(self));
  std::string scratch;
  std::thread([&] {
    prctl(PR_SET_NAME, "new\nname");
    const pid_t tid = static_cast<pid_t>(syscall(SYS_gettid));
    EXPECT_THAT(proc.Threads(self), Contains(tid));
    EXPECT_THAT(proc.ReadComm(self, tid, scratch), IsOkAndHolds("new\nname"));
    EXPECT_EQ(proc.ProcessOf(tid), self);
  }).join();
  std::string exe_scratch;
  ASSERT_OK_AND_ASSIGN(std::string_view exe, proc.ReadExe(self, exe_scratch));
  ASSERT_OK_AND_ASSIGN(std::span<char> maps, proc.ReadMaps(self, self, scratch));
  const uint64_t here = reinterpret_cast<uint64_t>(&ParseModules);
  std::string found;
  ForEachMapsLine(maps, [&](const MapsLine& line) {
    if (line.start <= here && here < line.end) found = std::string(line.path);
  });
  EXPECT_EQ(found, exe);
  ASSERT_OK_AND_ASSIGN(ProcessStatus status, proc.ReadStatus(self));
  EXPECT_EQ(status.ppid, static_cast<uint32_t>(getppid()));
}

TEST(ProcFs, AVanishedProcessIsNotFound) {
  ASSERT_OK_AND_ASSIGN(ProcFs proc, ProcFs::Open());
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  ASSERT_OK_AND_ASSIGN(const UniqueFd maps, proc.OpenFile(StrCat(child, "/maps").c_str()));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::string scratch;
  EXPECT_THAT(proc.ReadMaps(child, child, scratch).status(), StatusIs(absl::StatusCode::kNotFound, _));
  EXPECT_THAT(proc.ReadExe(child, scratch).status(), StatusIs(absl::StatusCode::kNotFound, _));
  EXPECT_THAT(proc.ReadStatus(child).status(), StatusIs(absl::StatusCode::kNotFound, _));
  EXPECT_THAT(proc.Threads(child), IsEmpty());
}

TEST(ProcFs, AKernelThreadHasNoExecutableAndNoMappings) {
  ASSERT_OK_AND_ASSIGN(ProcFs proc, ProcFs::Open());
  std::string scratch;
  for (pid_t pid : proc.Processes()) {
    absl::StatusOr<ProcessStatus> status = proc.ReadStatus(pid);
    if (!status.ok() || status->ppid != 2) continue;
    EXPECT_THAT(proc.ReadExe(pid, scratch), IsOkAndHolds(""));
    EXPECT_THAT(proc.ReadMaps(pid, pid, scratch), IsOkAndHolds(IsEmpty()));
    return;
  }
  GTEST_SKIP() << "no kernel threads are visible here (a pid namespace)";
}

}  // namespace
}  // namespace ksamp
