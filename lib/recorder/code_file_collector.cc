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
#include "lib/object/perf_map.h"
#include "lib/process/image_kind.h"

namespace ksamp {
namespace {

constexpr int kFastest = 1;  // zstd: maps shrink to a fifth at once, and rings are waiting
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
  if (!MayBeGenerated(map) || processes_.contains(map.pid)) return;
  if (processes_.size() >= kMaxProcesses)
    return Note(StrCat("more than ", kMaxProcesses,
                       " processes with generated code at a time: the names of the others are not copied."));
  OpenRoot(map.pid, processes_[map.pid]);
}

void CodeFileCollector::OpenRoot(uint32_t pid, Process& process) {
  absl::StatusOr<ProcessRoot> root = ProcessRoot::Of(proc_, static_cast<pid_t>(pid));
  if (root.ok()) process.root = *std::move(root);
}

void CodeFileCollector::Open() {
  for (auto& [pid, process] : processes_) {
    if (process.map) continue;
    if (!process.root) OpenRoot(pid, process);
    if (!process.root) continue;
    absl::StatusOr<UniqueFd> map = process.root->OpenOwned(PerfMapPath(process.root->pid_inside()));
    if (map.ok()) process.map = *std::move(map);
  }
}

// As it is now, else as it was when it was opened: runtimes may replace or delete it.
UniqueFd CodeFileCollector::TakeMap(Process& process, absl::Status* refusal) {
  absl::StatusOr<UniqueFd> now = process.root->OpenOwned(PerfMapPath(process.root->pid_inside()));
  if (now.ok()) return *std::move(now);
  if (!process.map && !IsAbsent(now.status())) *refusal = now.status();
  return std::move(process.map);
}

void CodeFileCollector::Copy(uint32_t pid, Process& process) {
  if (!process.root) {
    absl::StatusOr<ProcessRoot> ours = ProcessRoot::OfEnded(static_cast<pid_t>(pid));
    if (!ours.ok()) return;
    process.root = *std::move(ours);
  }
  absl::Status refusal;
  const UniqueFd fd = TakeMap(process, &refusal);
  const std::string path = PerfMapPath(process.root->pid_inside());
  if (!refusal.ok()) Note(StrCat("names of generated code: ", MessageOf(refusal), "."));
  if (!fd) return;
  const size_t room = std::min(PerfMap::kMaxTextBytes, Recording::kMaxCodeFileBytes - copied_bytes_);
  const absl::StatusOr<std::string> text = ReadAll(fd.get(), StrCat(process.root->name(), path), room);
  if (!text.ok()) return Note(StrCat("names of generated code: ", MessageOf(text.status()), "."));
  absl::StatusOr<std::vector<std::byte>> frame = CompressZstd(AsBytes(*text), kFastest);
  if (text->empty() || !frame.ok()) return;
  copied_bytes_ += text->size();
  files_.push_back({CodeFileKind::kPerfMap, pid, path, *std::move(frame)});
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
