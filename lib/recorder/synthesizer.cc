// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/synthesizer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "ksamp/record.h"
#include "lib/base/byte_writer.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "lib/event/record_encoder.h"

namespace ksamp {
namespace {

// Large enough that the sink is called some dozen times for thousands of processes.
constexpr size_t kFlushBytes = 256 * 1024;

// What the kernel's own COMM records hold. /proc shows longer names of kernel threads, made up for the
// reader: kept, one thread would have two names.
constexpr size_t kMaxComm = 15;

// Processes named in the note.
constexpr uint64_t kNamedUnreadable = 3;

// How the kernel names memory without a file in MMAP2 records.
constexpr std::string_view kAnonymousName = "//anon";

class Synthesis {
 public:
  Synthesis(const ProcFs& proc, const SampleLayout& layout, BuildIdCache& build_ids, const RecordSink& sink)
      : proc_(proc), layout_(layout), build_ids_(build_ids), sink_(sink) {}

  absl::Status Describe(pid_t pid);
  absl::StatusOr<SynthesisTotals> Finish();

 private:
  // Writes the COMM; false where the thread has gone.
  absl::StatusOr<bool> DescribeThread(pid_t pid, pid_t tid);
  // Writes the mappings as `tid` sees them; false where it sees none.
  absl::StatusOr<bool> DescribeMappings(pid_t pid, pid_t tid);
  absl::Status AddMapping(pid_t pid, const MapsLine& line);
  absl::Status Add(pid_t pid, pid_t tid, RecordBody body);
  absl::Status Flush();
  void CountUnreadable(pid_t pid);
  std::string UnreadableNote() const;

  const ProcFs& proc_;
  const SampleLayout& layout_;
  BuildIdCache& build_ids_;
  const RecordSink& sink_;
  ByteWriter out_;
  SynthesisTotals totals_;
  std::string unreadable_names_;   // of the first few
  std::string comm_, maps_, exe_;  // scratch
  std::vector<MapsLine> lines_;
};

absl::Status Synthesis::Describe(pid_t pid) {
  KSAMP_ASSIGN_OR_RETURN(const bool is_there, DescribeThread(pid, pid));
  if (!is_there) return absl::OkStatus();
  ++totals_.processes;
  KSAMP_ASSIGN_OR_RETURN(bool has_mappings, DescribeMappings(pid, pid));
  for (pid_t tid : proc_.Threads(pid)) {
    if (tid == pid) continue;
    KSAMP_RETURN_IF_ERROR(DescribeThread(pid, tid).status());
    if (has_mappings) continue;
    // The main thread ended before this one, which still has the address space.
    KSAMP_ASSIGN_OR_RETURN(has_mappings, DescribeMappings(pid, tid));
  }
  return out_.size() < kFlushBytes ? absl::OkStatus() : Flush();
}

absl::StatusOr<bool> Synthesis::DescribeThread(pid_t pid, pid_t tid) {
  absl::StatusOr<std::string_view> comm = proc_.ReadComm(pid, tid, comm_);
  if (!comm.ok()) return false;
  CommRecord record;
  record.pid = static_cast<uint32_t>(pid);
  record.tid = static_cast<uint32_t>(tid);
  record.comm = comm->substr(0, kMaxComm);
  KSAMP_RETURN_IF_ERROR(Add(pid, tid, record));
  ++totals_.threads;
  return true;
}

absl::StatusOr<bool> Synthesis::DescribeMappings(pid_t pid, pid_t tid) {
  absl::StatusOr<std::span<char>> maps = proc_.ReadMaps(pid, tid, maps_);
  if (!maps.ok()) {
    if (absl::IsPermissionDenied(maps.status())) CountUnreadable(pid);
    return true;  // No other thread would give more.
  }
  if (maps->empty()) return false;  // A kernel thread.
  lines_.clear();
  ForEachMapsLine(*maps, [&](const MapsLine& line) {
    if ((line.protection & PROT_EXEC) != 0) lines_.push_back(line);
  });
  if (absl::StatusOr<std::string_view> exe = proc_.ReadExe(pid, exe_); exe.ok() && !exe->empty()) {
    const bool in_order = !lines_.empty() && lines_.front().path == *exe;
    if (!in_order)
      std::stable_partition(lines_.begin(), lines_.end(),
                            [&](const MapsLine& line) { return line.path == *exe; });
  }
  for (const MapsLine& line : lines_) KSAMP_RETURN_IF_ERROR(AddMapping(pid, line));
  totals_.mappings += lines_.size();
  return true;
}

absl::Status Synthesis::AddMapping(pid_t pid, const MapsLine& line) {
  MmapRecord record;
  record.mode = CpuMode::kUser;
  record.has_protection = true;
  record.pid = record.tid = static_cast<uint32_t>(pid);
  record.addr = line.start;
  record.length = line.end - line.start;
  record.file_offset = line.offset;
  record.maj = line.maj;
  record.min = line.min;
  record.inode = line.inode;
  record.build_id.bytes = build_ids_.Find(pid, line);
  record.protection = line.protection;
  record.flags = line.flags;
  record.path = line.path.empty() ? kAnonymousName : line.path;
  return Add(pid, pid, record);
}

absl::Status Synthesis::Add(pid_t pid, pid_t tid, RecordBody body) {
  Record record;
  record.id.pid = static_cast<uint32_t>(pid);
  record.id.tid = static_cast<uint32_t>(tid);
  record.id.time = 0;
  record.body = std::move(body);
  return EncodeRecord(record, layout_, out_);
}

absl::Status Synthesis::Flush() {
  if (out_.size() > 0) KSAMP_RETURN_IF_ERROR(sink_(out_.bytes()));
  out_.Clear();
  return absl::OkStatus();
}

void Synthesis::CountUnreadable(pid_t pid) {
  if (++totals_.unreadable > kNamedUnreadable) return;
  const absl::StatusOr<std::string_view> comm = proc_.ReadComm(pid, pid, comm_);
  StrAppend(&unreadable_names_, unreadable_names_.empty() ? "" : ", ", pid, " ",
            EscapeForTerminal(comm.ok() ? *comm : ""));
}

// Nothing about whose they are or why: the kernel only says no, and root hears it too (a security module).
std::string Synthesis::UnreadableNote() const {
  if (totals_.unreadable == 0) return "";
  return StrCat("user ", geteuid(), " may not read the mappings of ", totals_.unreadable,
                totals_.unreadable == 1 ? " process (" : " processes (", unreadable_names_,
                totals_.unreadable > kNamedUnreadable ? ", …" : "",
                totals_.unreadable == 1 ? "): its" : "): their",
                " samples in user space stay without names.");
}

absl::StatusOr<SynthesisTotals> Synthesis::Finish() {
  KSAMP_RETURN_IF_ERROR(Flush());
  totals_.note = UnreadableNote();
  return totals_;
}

// The processes to describe, ascending, each once.
std::vector<pid_t> Select(const ProcFs& proc, const SynthesisTargets& targets) {
  if (targets.pids.empty() && targets.tids.empty()) return proc.Processes();
  std::vector<pid_t> pids = targets.pids;
  for (pid_t tid : targets.tids) {
    if (std::optional<pid_t> pid = proc.ProcessOf(tid)) pids.push_back(*pid);
  }
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return pids;
}

}  // namespace

absl::StatusOr<SynthesisTotals> SynthesizeProcesses(const ProcFs& proc, const SynthesisTargets& targets,
                                                    const SampleLayout& layout, BuildIdCache& build_ids,
                                                    const RecordSink& sink) {
  Synthesis synthesis(proc, layout, build_ids, sink);
  for (pid_t pid : Select(proc, targets)) KSAMP_RETURN_IF_ERROR(synthesis.Describe(pid));
  return synthesis.Finish();
}

}  // namespace ksamp
