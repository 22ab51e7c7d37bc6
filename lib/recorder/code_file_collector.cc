// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/code_file_collector.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <variant>

#include "lib/base/byte_reader.h"
#include "lib/base/compression.h"
#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "lib/event/record_decoder.h"
#include "lib/object/jit_dump.h"
#include "lib/object/perf_map.h"
#include "lib/process/image_kind.h"

namespace ksamp {
namespace {

constexpr int kFastest = 1;      // zstd: maps shrink to a fifth at once, and rings are waiting
constexpr size_t kMaxDumps = 8;  // of a process: one for each runtime in it
constexpr uint64_t kKernelHalf = uint64_t{1} << 63;

// Memory that a runtime may have filled with code: not the page of the kernel that every process has.
bool MayBeGenerated(const MmapRecord& map) {
  return map.has_protection && (map.protection & PROT_EXEC) != 0 && map.addr < kKernelHalf &&
         map.path != "[uprobes]" && ClassifyUserPath(map.path).kind == ImageKind::kAnonymous;
}

bool IsAbsent(const absl::Status& status) {
  const int error = StatusErrno(status);
  return error == ENOENT || error == ENOTDIR || error == ESRCH;
}

}  // namespace

void CodeFileCollector::Notice(std::span<const std::byte> records) {
  perf_event_header header;
  while (records.size() >= sizeof(header)) {
    std::memcpy(&header, records.data(), sizeof(header));
    if (header.size < sizeof(header) || header.size > records.size()) return;
    if (header.type == PERF_RECORD_MMAP2 || header.type == PERF_RECORD_EXIT) {
      const absl::StatusOr<Record> record =
          DecodeRecord({header.type, header.misc, records.first(header.size), 0}, layout_);
      if (!record.ok()) return;
      if (const auto* map = std::get_if<MmapRecord>(&record->body)) NoticeMapping(*map);
      const auto* exit = std::get_if<ExitRecord>(&record->body);
      if (exit != nullptr && exit->pid == exit->tid) {
        if (const auto ended = processes_.find(exit->pid); ended != processes_.end()) {
          Copy(ended->first, ended->second);
          processes_.erase(ended);
        }
      }
    }
    records = records.subspan(header.size);
  }
}

void CodeFileCollector::NoticeMapping(const MmapRecord& map) {
  const bool is_dump = (map.protection & PROT_EXEC) != 0 && IsJitDumpPath(map.path);
  if (const auto known = processes_.find(map.pid); known != processes_.end()) {
    if (is_dump && known->second.dumps.size() < kMaxDumps) known->second.dumps[std::string(map.path)];
    return;
  }
  if (!is_dump && !MayBeGenerated(map)) return;
  if (processes_.size() >= kMaxProcesses)
    return Note(StrCat("more than ", kMaxProcesses,
                       " processes with generated code at a time: the names of the others are not copied."));
  Process& process = processes_[map.pid];
  if (is_dump) process.dumps[std::string(map.path)];
  OpenRoot(map.pid, process);
}

void CodeFileCollector::OpenRoot(uint32_t pid, Process& process) {
  absl::StatusOr<ProcessRoot> root = ProcessRoot::Of(proc_, static_cast<pid_t>(pid));
  if (root.ok()) process.root = *std::move(root);
}

void CodeFileCollector::Open() {
  for (auto& [pid, process] : processes_) {
    if (!process.root) OpenRoot(pid, process);
    if (!process.root) continue;
    const auto open = [&root = *process.root](const std::string& path, UniqueFd& held) {
      if (held) return;
      absl::StatusOr<UniqueFd> file = root.OpenOwned(path);
      if (file.ok()) held = *std::move(file);
    };
    open(PerfMapPath(process.root->pid_inside()), process.map);
    for (auto& [path, held] : process.dumps) open(path, held);
  }
}

// Runtimes may replace or delete their files.
UniqueFd CodeFileCollector::TakeFile(const Process& process, const std::string& path, UniqueFd& held) {
  absl::StatusOr<UniqueFd> now = process.root->OpenOwned(path);
  if (now.ok()) return *std::move(now);
  if (!held && !IsAbsent(now.status()))
    Note(StrCat("names of generated code: ", MessageOf(now.status()), "."));
  return std::move(held);
}

void CodeFileCollector::Copy(uint32_t pid, Process& process) {
  if (!process.root) {
    absl::StatusOr<ProcessRoot> ours = ProcessRoot::OfEnded(static_cast<pid_t>(pid));
    if (!ours.ok()) return;
    process.root = *std::move(ours);
  }
  CopyMap(pid, process);
  for (auto& [path, held] : process.dumps) CopyDump(pid, process, path, held);
}

void CodeFileCollector::CopyMap(uint32_t pid, Process& process) {
  const std::string path = PerfMapPath(process.root->pid_inside());
  const UniqueFd fd = TakeFile(process, path, process.map);
  if (!fd) return;
  const absl::StatusOr<std::string> text =
      ReadAll(fd.get(), StrCat(process.root->name(), path), PerfMap::kMaxTextBytes);
  if (!text.ok()) return Note(StrCat("names of generated code: ", MessageOf(text.status()), "."));
  Store(CodeFileKind::kPerfMap, pid, path, *text);
}

void CodeFileCollector::CopyDump(uint32_t pid, const Process& process, const std::string& path,
                                 UniqueFd& held) {
  const UniqueFd fd = TakeFile(process, path, held);
  if (!fd) return;
  const absl::StatusOr<std::string> bytes =
      ReadAll(fd.get(), StrCat(process.root->name(), path), JitDump::kMaxFileBytes);
  if (!bytes.ok()) return Note(StrCat("names of generated code: ", MessageOf(bytes.status()), "."));
  const absl::StatusOr<JitDump> dump = JitDump::Read(AsBytes(*bytes));
  if (!dump.ok()) return Note(StrCat(path, ": ", MessageOf(dump.status()), "."));
  Store(CodeFileKind::kJitDump, pid, path, dump->ToText());
}

void CodeFileCollector::Store(CodeFileKind kind, uint32_t pid, const std::string& path,
                              const std::string& text) {
  if (text.empty()) return;
  if (text.size() > Recording::kMaxCodeFileBytes - copied_bytes_)
    return Note(StrCat("names of generated code: ", path, " of process ", pid,
                       " and others are left out, they are more than ", Recording::kMaxCodeFileBytes >> 20,
                       " MiB."));
  absl::StatusOr<std::vector<std::byte>> frame = CompressZstd(AsBytes(text), kFastest);
  if (!frame.ok()) return;
  copied_bytes_ += text.size();
  files_.push_back({kind, pid, path, *std::move(frame)});
}

std::vector<perfdata::PackedCodeFile> CodeFileCollector::Take() {
  for (auto& [pid, process] : processes_) Copy(pid, process);
  processes_.clear();
  return std::exchange(files_, {});
}

void CodeFileCollector::Note(std::string sentence) {
  if (std::find(notes_.begin(), notes_.end(), sentence) == notes_.end())
    notes_.push_back(std::move(sentence));
}

}  // namespace ksamp
