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
// An *epoch* is the time between exec, fork and exit of one process. Inside an epoch a mapping is valid from
// its record's time on, until a later mapping covers its addresses (mmap over a range splits or replaces;
// munmap is not recorded). A forked child starts with what its parent had at that moment; it shares the
// parent's epoch instead of copying it, and copies only when the chain gets longer than a few. Each epoch
// keeps, per elementary address range, the list of mappings by time; nearly always that list has one entry,
// so a look-up is one binary search.
//
// Synthesised records have time 0: they hold from the beginning. A sample older than its epoch's first
// mapping of the range (records of one CPU may trail another's) gets that first mapping rather than nothing.
//
// Pure. Build on one thread; const calls from any.
#ifndef KSAMP_LIB_PROCESS_PROCESS_TABLE_H_
#define KSAMP_LIB_PROCESS_PROCESS_TABLE_H_

#include <cstdint>
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

struct ProcessState {
  uint32_t epoch = 0;  // number of the epoch, dense over the whole table
  uint32_t app = 0;    // names(): basename of the main executable, else of the comm (decision 12)
};

class ProcessTable {
 public:
  class Builder;

  // The epoch of `pid` at `time`; nothing where the pid never appeared in a side record.
  std::optional<ProcessState> StateAt(uint32_t pid, uint64_t time) const;
  // The mapping of `ip` in that epoch at `time`.
  const Mapping* Find(uint32_t epoch, ProcessAddress ip, uint64_t time) const;
  // Kernel space: the kernel itself, modules by their ranges, BPF images from KSYMBOL. Null: no map covers
  // it.
  const Mapping* FindKernel(ProcessAddress ip, uint64_t time) const;
  // Command name of a thread at a time, as an id of names(). Unknown threads: ":TID" as perf prints them.
  uint32_t CommAt(uint32_t pid, uint32_t tid, uint64_t time) const;

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
  ProcessTable Build() &&;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_PROCESS_PROCESS_TABLE_H_
