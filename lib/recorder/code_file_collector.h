// SPDX-License-Identifier: Apache-2.0
// CodeFileCollector: what processes write about the code they generate, copied into the recording, so that it
// has names later, elsewhere, and after the container is gone.
//
//   CodeFileCollector files(proc, layout);
//   files.Notice(records);        // MMAP2 and EXIT records as they pass; others are ignored
//   files.Open();                 // now and then: opens what has appeared since
//   features[perfdata::kKsampGeneratedCode] = perfdata::EncodeCodeFiles(files.Take());
//
// A process is of interest from its first executable mapping without a file, or of a jitdump, on. Of a
// jitdump the functions are kept, not their code. Its file system and its perf-PID.map are opened then, or as
// soon as the map is there, and held, so that neither the end of the process nor of its container takes them
// away. The map is copied when the process's EXIT passes, or at the end; a process that came and went between
// two drains is looked for in our own /tmp. What may be believed: lib/os/process_root.h.
//
// Bounded: kMaxProcesses are watched at a time, PerfMap::kMaxTextBytes are copied of a map and
// Recording::kMaxCodeFileBytes in all; what did not fit, or was not believed, is told in notes(). One thread.
#ifndef KSAMP_LIB_RECORDER_CODE_FILE_COLLECTOR_H_
#define KSAMP_LIB_RECORDER_CODE_FILE_COLLECTOR_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ksamp/record.h"
#include "lib/event/sample_layout.h"
#include "lib/os/proc_fs.h"
#include "lib/os/process_root.h"
#include "lib/perfdata/features.h"

namespace ksamp {

class CodeFileCollector {
 public:
  static constexpr size_t kMaxProcesses = 1024;

  // `layout`: of the records' trailers.
  CodeFileCollector(ProcFs proc, SampleLayout layout) : proc_(std::move(proc)), layout_(std::move(layout)) {}

  void Notice(std::span<const std::byte> records);
  void Open();
  // What was copied so far, and of the processes that still run.
  std::vector<perfdata::PackedCodeFile> Take();
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Process {
    std::optional<ProcessRoot> root;
    UniqueFd map;                           // open: its file system may go, its map stays readable
    std::map<std::string, UniqueFd> dumps;  // jitdumps by path, likewise
  };
  void NoticeMapping(const MmapRecord& map);
  void OpenRoot(uint32_t pid, Process& process);
  // The file at `path` as it is now, else as `held`.
  UniqueFd TakeFile(const Process& process, const std::string& path, UniqueFd& held);
  void Copy(uint32_t pid, Process& process);
  void CopyMap(uint32_t pid, Process& process);
  void CopyDump(uint32_t pid, const Process& process, const std::string& path, UniqueFd& held);
  void Store(CodeFileKind kind, uint32_t pid, const std::string& path, const std::string& text);
  void Note(std::string sentence);

  ProcFs proc_;
  SampleLayout layout_;
  std::map<uint32_t, Process> processes_;
  std::vector<perfdata::PackedCodeFile> files_;
  size_t copied_bytes_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_RECORDER_CODE_FILE_COLLECTOR_H_
