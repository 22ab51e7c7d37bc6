// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/synthesizer.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "ksamp/record.h"
#include "lib/base/str_cat.h"
#include "lib/event/record_decoder.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ksamp::testing::StatusIs;
using ksamp::testing::TempTree;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

SampleLayout Layout() {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.sample_type =
      PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  attr.sample_id_all = 1;
  return *SampleLayout::FromAttr(std::as_bytes(std::span(&attr, 1)));
}

// One line per record, with the fields that matter here.
std::string Describe(const Record& record) {
  std::string line;
  if (const auto* comm = std::get_if<CommRecord>(&record.body)) {
    line = StrCat("COMM ", comm->pid, "/", comm->tid, " ", comm->comm, comm->exec ? " exec" : "");
  } else if (const auto* map = std::get_if<MmapRecord>(&record.body)) {
    line = StrCat("MMAP ", map->pid, "/", map->tid, " ", Hex(map->addr), "+", Hex(map->length), "@",
                  Hex(map->file_offset), " ", map->maj, ":", map->min, ":", map->inode, " prot ",
                  map->protection, " flags ", map->flags, " id ", map->build_id.bytes.size(), " ", map->path,
                  map->mode == CpuMode::kUser ? "" : " not user", map->is_data ? " data" : "");
  }
  if (record.id.time != 0u) line += " at a time";
  return line;
}

// Collects what is synthesised, decoded.
class Collector {
 public:
  RecordSink sink() {
    return [this](std::span<const std::byte> bytes) {
      ++calls_;
      while (!bytes.empty()) {
        perf_event_header header;
        std::memcpy(&header, bytes.data(), sizeof(header));
        RawRecord raw;
        raw.type = header.type;
        raw.misc = header.misc;
        raw.bytes = bytes.first(header.size);
        absl::StatusOr<Record> record = DecodeRecord(raw, layout_);
        lines_.push_back(record.ok() ? Describe(*record) : record.status().ToString());
        bytes = bytes.subspan(header.size);
      }
      return absl::OkStatus();
    };
  }
  const std::vector<std::string>& lines() const { return lines_; }
  size_t calls() const { return calls_; }

 private:
  SampleLayout layout_ = Layout();
  std::vector<std::string> lines_;
  size_t calls_ = 0;
};

class Synthesizer : public ::testing::Test {
 protected:
  Synthesizer() { tree_.MakeDirectory("proc"); }

  void AddThread(pid_t pid, pid_t tid, std::string_view comm) {
    tree_.Write(StrCat("proc/", pid, "/task/", tid, "/comm"), StrCat(comm, "\n"));
  }
  void AddProcess(pid_t pid, std::string_view comm, std::string_view maps, std::string_view exe = "") {
    AddThread(pid, pid, comm);
    tree_.Write(StrCat("proc/", pid, "/maps"), maps);
    if (!exe.empty()) tree_.Symlink(StrCat("proc/", pid, "/exe"), exe);
  }
  std::vector<std::string> Run(const SynthesisTargets& targets = {}) {
    absl::StatusOr<ProcFs> proc = ProcFs::Open(tree_.Path("proc"));
    BuildIdCache build_ids(&*proc);
    Collector collector;
    absl::StatusOr<SynthesisTotals> totals =
        SynthesizeProcesses(*proc, targets, Layout(), build_ids, collector.sink());
    EXPECT_TRUE(totals.ok()) << totals.status();
    if (totals.ok()) totals_ = *totals;
    return collector.lines();
  }

  TempTree tree_;
  SynthesisTotals totals_;
};

TEST_F(Synthesizer, DescribesAProcessAsTheKernelWould) {
  AddProcess(7, "app",
             "1000-2000 r-xp 00003000 08:11 42 /bin/app\n"
             "2000-3000 rw-p 00004000 08:11 42 /bin/app\n"
             "5000-6000 rwxp 00000000 00:00 0 \n"
             "7000-9000 r-xs 00000000 00:01 9 /memfd:x\\012y (deleted)\n"
             "a000-b000 r-xp 00000000 00:00 0                  [vdso]\n",
             "/bin/app");
  AddThread(7, 8, "worker");
  EXPECT_THAT(
      Run(), ElementsAre("COMM 7/7 app", "MMAP 7/7 0x1000+0x1000@0x3000 8:17:42 prot 5 flags 2 id 0 /bin/app",
                         "MMAP 7/7 0x5000+0x1000@0x0 0:0:0 prot 7 flags 2 id 0 //anon",
                         "MMAP 7/7 0x7000+0x2000@0x0 0:1:9 prot 5 flags 1 id 0 /memfd:x\ny (deleted)",
                         "MMAP 7/7 0xa000+0x1000@0x0 0:0:0 prot 5 flags 2 id 0 [vdso]", "COMM 7/8 worker"));
  EXPECT_EQ(totals_.processes, 1u);
  EXPECT_EQ(totals_.threads, 2u);
  EXPECT_EQ(totals_.mappings, 4u);
  EXPECT_EQ(totals_.note, "");
}

TEST_F(Synthesizer, TheMainExecutableComesFirst) {
  AddProcess(7, "java",
             "1000-2000 rwxp 00000000 00:00 0 \n"
             "3000-4000 r-xp 00000000 08:01 1 /lib/a.so\n"
             "5000-6000 r-xp 00000000 08:01 2 /bin/java\n"
             "7000-8000 r-xp 00002000 08:01 2 /bin/java\n",
             "/bin/java");
  EXPECT_THAT(Run(),
              ElementsAre("COMM 7/7 java", "MMAP 7/7 0x5000+0x1000@0x0 8:1:2 prot 5 flags 2 id 0 /bin/java",
                          "MMAP 7/7 0x7000+0x1000@0x2000 8:1:2 prot 5 flags 2 id 0 /bin/java",
                          "MMAP 7/7 0x1000+0x1000@0x0 0:0:0 prot 7 flags 2 id 0 //anon",
                          "MMAP 7/7 0x3000+0x1000@0x0 8:1:1 prot 5 flags 2 id 0 /lib/a.so"));
}

TEST_F(Synthesizer, KernelThreadsAndVanishedProcessesAreNormal) {
  AddProcess(2, "kthreadd", "");
  tree_.MakeDirectory("proc/3/task");                 // Ended between listing and reading.
  AddThread(4, 4, "kworker/R-quota_events_unbound");  // No maps any more, and longer than a comm.
  EXPECT_THAT(Run(), ElementsAre("COMM 2/2 kthreadd", "COMM 4/4 kworker/R-quota"));
  EXPECT_EQ(totals_.processes, 2u);
  EXPECT_EQ(totals_.unreadable, 0u);
}

TEST_F(Synthesizer, AMainThreadThatEndedLeavesTheMappingsToTheOthers) {
  AddProcess(7, "gone", "");
  AddThread(7, 9, "worker");
  tree_.Write("proc/7/task/9/maps", "1000-2000 r-xp 00000000 08:01 2 /bin/x\n");
  EXPECT_THAT(Run(), ElementsAre("COMM 7/7 gone", "COMM 7/9 worker",
                                 "MMAP 7/7 0x1000+0x1000@0x0 8:1:2 prot 5 flags 2 id 0 /bin/x"));
}

// Root reads every file; whoever it is, the test reads as someone who may not.
class AsNobody {
 public:
  AsNobody() { EXPECT_EQ(seteuid(real_ == 0 ? 65534 : real_), 0); }
  ~AsNobody() { EXPECT_EQ(seteuid(real_), 0); }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  const uid_t real_ = geteuid();
};

TEST_F(Synthesizer, ForbiddenMappingsAreToldWithoutGuessingWhose) {
  for (pid_t pid = 1; pid <= 4; ++pid) {
    AddProcess(pid, pid == 2 ? "a\nb" : "guard", "1000-2000 r-xp 00000000 08:01 2 /bin/x\n");
    ASSERT_EQ(chmod(tree_.Path(StrCat("proc/", pid, "/maps")).c_str(), 0), 0);
  }
  ASSERT_EQ(chmod(tree_.Path("").c_str(), 0755), 0);
  const AsNobody forbidden;
  const std::string user = StrCat("user ", geteuid());
  EXPECT_THAT(Run({{1}, {}}), ElementsAre("COMM 1/1 guard"));
  EXPECT_EQ(
      totals_.note,
      user +
          " may not read the mappings of 1 process (1 guard): its samples in user space stay without names.");
  EXPECT_EQ(Run().size(), 4u);
  EXPECT_EQ(totals_.unreadable, 4u);
  EXPECT_EQ(totals_.note,
            user +
                " may not read the mappings of 4 processes (1 guard, 2 a\\x0ab, 3 guard, …): their "
                "samples in user space stay without names.");
}

TEST_F(Synthesizer, OnlyTheTargets) {
  for (pid_t pid : {5, 6, 7}) {
    AddProcess(pid, StrCat("p", pid), "");
    tree_.Write(StrCat("proc/", pid, "/status"), StrCat("Tgid:\t", pid, "\n"));
  }
  AddThread(6, 60, "t60");
  tree_.Write("proc/60/status", "Tgid:\t6\n");
  EXPECT_THAT(Run({{7, 7, 99}, {}}), ElementsAre("COMM 7/7 p7"));
  EXPECT_THAT(Run({{}, {60, 98}}), ElementsAre("COMM 6/6 p6", "COMM 6/60 t60"));
  EXPECT_THAT(Run({{98}, {}}), IsEmpty());
}

TEST_F(Synthesizer, BuildIdsStandInForTheInode) {
  const std::string elf_note = std::string("\4\0\0\0\3\0\0\0\3\0\0\0GNU\0\xab\xcd\xef\0", 20);
  // The smallest ELF file with a note: header, one program header, the note.
  std::string elf(64 + 56, '\0');
  elf.replace(0, 6, std::string("\177ELF\2\1", 6));
  elf[32] = 64;   // e_phoff
  elf[54] = 56;   // e_phentsize
  elf[56] = 1;    // e_phnum
  elf[64] = 4;    // PT_NOTE
  elf[72] = 120;  // p_offset
  elf[96] = static_cast<char>(elf_note.size());
  AddProcess(7, "app", "1000-2000 r-xp 00000000 08:11 42 /bin/app\n", "/bin/app");
  tree_.Write("proc/7/map_files/1000-2000", elf + elf_note);
  EXPECT_THAT(Run(),
              ElementsAre("COMM 7/7 app", "MMAP 7/7 0x1000+0x1000@0x0 0:0:0 prot 5 flags 2 id 3 /bin/app"));
}

TEST_F(Synthesizer, ManyProcessesReachTheSinkInLargePieces) {
  std::string maps;
  for (uint64_t i = 1; i <= 30; ++i)
    StrAppend(&maps, i, "000-", i, "800 r-xp 00000000 08:01 ", i, " /usr/lib/x86_64-linux-gnu/lib", i,
              ".so\n");
  for (pid_t pid = 1; pid <= 200; ++pid) AddProcess(pid, "many", maps);
  absl::StatusOr<ProcFs> proc = ProcFs::Open(tree_.Path("proc"));
  BuildIdCache build_ids(&*proc);
  Collector collector;
  ASSERT_OK_AND_ASSIGN(SynthesisTotals totals,
                       SynthesizeProcesses(*proc, {}, Layout(), build_ids, collector.sink()));
  EXPECT_EQ(totals.mappings, 200u * 30u);
  EXPECT_EQ(collector.lines().size(), 200u * 31u);
  EXPECT_LT(collector.calls(), 10u);
  EXPECT_EQ(build_ids.size(), 30u);
}

TEST_F(Synthesizer, TheSinksErrorEndsIt) {
  AddProcess(7, "app", "");
  absl::StatusOr<ProcFs> proc = ProcFs::Open(tree_.Path("proc"));
  BuildIdCache build_ids(&*proc);
  EXPECT_THAT(SynthesizeProcesses(
                  *proc, {}, Layout(), build_ids,
                  [](std::span<const std::byte>) { return absl::ResourceExhaustedError("disk full"); })
                  .status(),
              StatusIs(absl::StatusCode::kResourceExhausted, "disk full"));
}

// The real thing: this very process, as /proc knows it.
TEST(SynthesizeProcesses, FindsThisProcessWithItsBuildId) {
  ASSERT_OK_AND_ASSIGN(ProcFs proc, ProcFs::Open());
  BuildIdCache build_ids(&proc);
  Collector collector;
  ASSERT_OK(SynthesizeProcesses(proc, {{getpid()}, {}}, Layout(), build_ids, collector.sink()));
  ASSERT_GE(collector.lines().size(), 2u);
  EXPECT_EQ(collector.lines()[0].find(StrCat("COMM ", getpid(), "/", getpid(), " ")), 0u);
  std::string scratch;
  ASSERT_OK_AND_ASSIGN(std::string_view exe, proc.ReadExe(getpid(), scratch));
  EXPECT_THAT(collector.lines()[1], ::testing::EndsWith(StrCat("id 20 ", exe)));
  EXPECT_THAT(collector.lines(), Contains(::testing::EndsWith("[vdso]")));
}

}  // namespace
}  // namespace ksamp
