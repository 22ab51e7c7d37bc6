// SPDX-License-Identifier: Apache-2.0
// ProcessTable: who was what, and what was mapped where, at every moment of a recording (design D2).
//
// It is built once from the side records, in time order, and then answers (pid, ip, time) in any order, from
// any thread, without changing: samples need not be sorted.
//
//   pid 7   exec bash            exec grep              exit
//   ────────┬──────────────────────┬──────────────────────┬──▶ time
//    forked │ epoch 1: bash's maps │ epoch 2: grep's maps │
//
// An *epoch* is the time between exec, fork and exit of one process. A forked child starts with what its
// parent had at that moment, an exec with nothing. Inside an epoch a mapping is valid from its record's time
// on, until a later mapping covers its addresses (mmap over a range cuts or replaces; munmap is not
// recorded). Address spaces are versions of one persistent tree (mapping_tree.h), so a fork shares instead of
// copying.
//
// What counts as code: the mapping that covered the address last, whatever its protection. A recording with
// data mappings (perf record -d) therefore sees executable ranges hidden by later data. Only executable files
// name the application.
//
// Records of one CPU may trail another's, so a sample may be older than the record of what it ran. A mapping
// of addresses that were free until then holds from its version's beginning; a look-up that still finds
// nothing tries the next version and the last one. Synthesised records have time 0: they hold from the
// beginning; a synthesised FORK (its own time is 0) says who the parent is but hands down no mappings.
//
// EXIT changes nothing: late samples of a process belong to it until a FORK takes its pid. Guests' maps are
// ignored.
//
// Pure. Build on one thread; const calls from any.
#ifndef KSAMP_LIB_PROCESS_PROCESS_TABLE_H_
#define KSAMP_LIB_PROCESS_PROCESS_TABLE_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksamp/address.h"
#include "ksamp/image.h"
#include "ksamp/record.h"
#include "lib/base/string_pool.h"

namespace ksamp {

// One mapped range and its translation to a file offset.
struct Mapping {
  ProcessAddress start{0}, end{0};
  FileOffset file_offset{0};
  uint32_t image = 0;  // index into images()
  bool executable = true;
  // Requires: start <= ip < end. The only place where process addresses become file offsets.
  FileOffset ToFileOffset(ProcessAddress ip) const { return FileOffset(ip - start + file_offset.value); }
};

inline constexpr uint64_t kForever = std::numeric_limits<uint64_t>::max();

// Answers come with the time span [from, until) and, for mappings, the address range in which the same answer
// holds: what a caller in a hurry may remember.
struct ProcessState {
  uint32_t epoch = 0;  // number of the epoch, dense over the whole table
  uint32_t app = 0;    // names(): basename of the main executable, else the comm (decision 12)
  uint64_t from = 0, until = kForever;
};

struct ThreadComm {
  uint32_t name = 0;  // names()
  uint64_t from = 0, until = kForever;
};

struct FoundMapping {
  const Mapping* mapping = nullptr;  // null: nothing covers it
  ProcessAddress start{0}, end{0};   // ⊆ the mapping: later ones may have cut it
  uint64_t from = 0, until = kForever;
};

class ProcessTable {
 public:
  class Builder;

  // The epoch of `pid` at `time`; nothing where the pid never appeared in a side record.
  std::optional<ProcessState> StateAt(uint32_t pid, uint64_t time) const;
  // The mapping of `ip` in that epoch at `time`.
  FoundMapping Find(uint32_t epoch, ProcessAddress ip, uint64_t time) const;
  // Kernel space: the kernel itself, modules by their ranges, BPF images from KSYMBOL.
  FoundMapping FindKernel(ProcessAddress ip, uint64_t time) const;
  // Whether any record told where the kernel lies.
  bool has_kernel_map() const;
  // Command name of a thread at a time; nothing for a thread no record named (perf prints ":TID"). Thread 0,
  // idle, is "swapper".
  std::optional<ThreadComm> CommAt(uint32_t tid, uint64_t time) const;

  const std::vector<Image>& images() const;
  const StringPool& names() const;
  // Reference symbol of the kernel map ("_text") and its runtime address, for KASLR (perf_data.md §2.6).
  std::string_view kernel_reference_symbol() const;
  uint64_t kernel_reference_address() const;
  // pid of a thread, where a FORK or COMM told.
  std::optional<uint32_t> ProcessOfThread(uint32_t tid) const;

  ProcessTable(ProcessTable&&) noexcept;
  ProcessTable& operator=(ProcessTable&&) noexcept;
  ~ProcessTable();

 private:
  struct State;
  explicit ProcessTable(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Collects side records in any order, then sorts them by time (stable: file order breaks ties; time 0 first).
class ProcessTable::Builder {
 public:
  Builder();
  ~Builder();
  // Copies what it needs out of the record's views. Kinds it has no use for are ignored.
  void Add(uint64_t time, const Record& record);
  // Code that `pid` generated at `time`, and that is described at `place` of the file `path` (a jitdump). It
  // covers what memory without a file was mapped there, before and after, until other code is generated over
  // it or a file is mapped there.
  struct GeneratedCode {
    uint64_t time = 0;
    uint32_t pid = 0;
    uint64_t start = 0, end = 0, place = 0;
  };
  void AddGenerated(const std::string& path, const GeneratedCode& code);
  ProcessTable Build() &&;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_PROCESS_PROCESS_TABLE_H_
