// SPDX-License-Identifier: Apache-2.0
// What the recorder says of the processes that were there before it: the same as /proc, and the same as
// perf's synthesis, for every process that did not change meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include "lib/base/str_cat.h"
#include "lib/os/proc_fs.h"
#include "test/support/built_tree.h"
#include "test/support/capability.h"
#include "test/support/run_command.h"
#include "test/support/status_matchers.h"
#include "test/support/temp_tree.h"

namespace ksamp::testing {
namespace {

struct Process {
  std::string comm;
  std::map<std::string, std::string> mappings;  // "START+LENGTH@OFFSET rwx PATH" -> build-id, where known
  friend bool operator==(const Process&, const Process&) = default;
};
using Processes = std::map<int, Process>;
constexpr int kKernel = -1;

std::string MappingText(uint64_t start, uint64_t length, uint64_t offset, const std::string& access,
                        const std::string& path) {
  return StrCat(Hex(start), "+", Hex(length), "@", Hex(offset), " ", access, " ", path);
}

// As long as a comm really is. Behind the dash of a worker stands what it did last, another thing at each
// look.
std::string StableComm(std::string_view comm) {
  comm = comm.substr(0, 15);
  return std::string(comm.starts_with("kworker/") ? comm.substr(0, comm.find('-')) : comm);
}

uint64_t Number(const std::string& text) {
  return std::stoull(text, nullptr, 0);
}

// The records of time 0 as `perf script` prints them: made by the recorder, not by the kernel.
Processes ReadWithPerf(const TempTree& tree, const std::string& file) {
  const CommandResult script = RunCommand(
      tree.root(),
      StrCat("perf script -i ", file, " --show-mmap-events --show-task-events | grep ' 0\\.000000: PERF_'"));
  EXPECT_EQ(script.exit_code, 0) << script;
  static const std::regex mapping(
      R"( 0\.000000: PERF_RECORD_MMAP2? (-?\d+)/-?\d+: \[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ (0x[0-9a-f]+|0) ([^\]]*)\]: ([-rwxps]+) (.*)$)");
  static const std::regex comm(R"( 0\.000000: PERF_RECORD_COMM: (.*):(\d+)/(\d+)$)");
  Processes processes;
  for (const std::string& line : Lines(script.out)) {
    std::smatch part;
    if (std::regex_search(line, part, comm) && part[2] == part[3]) {
      processes[std::stoi(part[2])].comm = StableComm(part[1].str());
    } else if (std::regex_search(line, part, mapping)) {
      const int pid = std::stoi(part[1]);
      // perf leaves out how the kernel itself is mapped.
      const std::string access = pid == kKernel ? "---p" : part[6].str();
      const std::string id = part[5].str();
      processes[pid]
          .mappings[MappingText(Number(part[2]), Number(part[3]), Number(part[4]), access, part[7])] =
          id.starts_with("<") ? id : "";
    }
  }
  return processes;
}

// Every process as /proc has it, with the time it started in place of nothing: pids are used again.
std::map<int, std::pair<uint64_t, Process>> ReadFromProc() {
  std::map<int, std::pair<uint64_t, Process>> processes;
  const absl::StatusOr<ProcFs> proc = ProcFs::Open();
  std::string scratch;
  for (const pid_t pid : proc->Processes()) {
    const absl::StatusOr<uint64_t> started = proc->ReadStartTime(pid);
    absl::StatusOr<std::string_view> comm = proc->ReadComm(pid, pid, scratch);
    if (!started.ok() || !comm.ok()) continue;
    auto& [start, process] = processes[pid];
    start = *started;
    process.comm = StableComm(*comm);
    absl::StatusOr<std::span<char>> maps = proc->ReadMaps(pid, pid, scratch);
    if (!maps.ok()) continue;
    ForEachMapsLine(*maps, [&](const MapsLine& line) {
      if ((line.protection & PROT_EXEC) == 0) return;
      const std::string access =
          StrCat((line.protection & PROT_READ) != 0 ? "r" : "-",
                 (line.protection & PROT_WRITE) != 0 ? "w" : "-", "x", line.flags == MAP_SHARED ? "s" : "p");
      const std::string path = line.path.empty() ? "//anon" : std::string(line.path);
      process.mappings[MappingText(line.start, line.end - line.start, line.offset, access, path)] = "";
    });
  }
  return processes;
}

std::set<std::string> Keys(const Process& process) {
  std::set<std::string> keys;
  for (const auto& [text, id] : process.mappings) keys.insert(text);
  return keys;
}

class SynthesisVsPerf : public ::testing::Test {
 protected:
  void Record() {
    const auto before = ReadFromProc();
    const CommandResult perf = RunCommand(tree_.root(), "perf record -q --buildid-mmap -a -o p.data true");
    ASSERT_EQ(perf.exit_code, 0) << perf;
    const CommandResult ksamp = RunCommand(tree_.root(), StrCat(ToolPath(), " record -q -a -o k.data true"));
    ASSERT_EQ(ksamp.exit_code, 0) << ksamp;
    for (const auto& [pid, process] : ReadFromProc()) {
      const auto same = before.find(pid);
      if (same != before.end() && same->second == process) unchanged_[pid] = process.second;
    }
    by_perf_ = ReadWithPerf(tree_, "p.data");
    by_ksamp_ = ReadWithPerf(tree_, "k.data");
  }

  TempTree tree_;
  Processes unchanged_, by_perf_, by_ksamp_;
};

TEST_F(SynthesisVsPerf, AgreesOnEveryProcessThatDidNotChange) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  KSAMP_REQUIRE(HasTool("perf"));
  Record();
  ASSERT_TRUE(unchanged_.contains(getpid()));
  size_t ids = 0;
  for (const auto& [pid, process] : unchanged_) {
    SCOPED_TRACE(StrCat("process ", pid, " ", process.comm));
    const Process& ksamp = by_ksamp_[pid];
    const Process& perf = by_perf_[pid];
    EXPECT_EQ(ksamp.comm, process.comm);
    EXPECT_EQ(Keys(ksamp), Keys(process));
    EXPECT_EQ(ksamp.comm, perf.comm);
    EXPECT_EQ(Keys(ksamp), Keys(perf));
    for (const auto& [text, id] : perf.mappings) {
      const auto ours = ksamp.mappings.find(text);
      if (id.empty() || ours == ksamp.mappings.end()) continue;
      EXPECT_EQ(ours->second, id) << text;
      ++ids;
    }
  }
  EXPECT_GT(ids, 3u);  // Of this process alone: itself, libstdc++, libc.
}

TEST_F(SynthesisVsPerf, AgreesOnTheKernel) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  KSAMP_REQUIRE(HasTool("perf"));
  KSAMP_REQUIRE(IsRoot());  // Its addresses are hidden from others.
  Record();
  const Process& perf = by_perf_[kKernel];
  ASSERT_FALSE(perf.mappings.empty());
  EXPECT_EQ(by_ksamp_[kKernel].mappings, perf.mappings);
}

}  // namespace
}  // namespace ksamp::testing
