// SPDX-License-Identifier: Apache-2.0
// The records of a recording, decoded.
//
// A record is a *view*: numbers by value, text and arrays as spans into the bytes it was decoded from. It
// lives as long as those bytes (the mapped file, the ring) and costs no allocation. Fields are in host byte
// order.
//
//   for (const RawRecord& raw : recording.records()) {
//     absl::StatusOr<Record> record = recording.Decode(raw);
//     if (auto* comm = std::get_if<CommRecord>(&record->body)) std::cout << comm->comm;
//   }
//
// Sources: perf_event_open(2); include/uapi/linux/perf_event.h, enum perf_event_type; for numbers from 64 on
// tools/perf/Documentation/perf.data-file-format.txt. Types ksamp does not know arrive as UnknownRecord.
#ifndef KSAMP_RECORD_H_
#define KSAMP_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace ksamp {

// Bytes of one record, header included. `offset` is its place in the recording (in decoded input: in the
// decoded stream), for messages.
struct RawRecord {
  uint32_t type = 0;
  uint16_t misc = 0;
  std::span<const std::byte> bytes;
  uint64_t offset = 0;
};

// Where the CPU was (PERF_RECORD_MISC_CPUMODE_MASK).
enum class CpuMode : uint8_t {
  kUnknown = 0,
  kKernel = 1,
  kUser = 2,
  kHypervisor = 3,
  kGuestKernel = 4,
  kGuestUser = 5
};

// What sample_id_all appends to every record that is no sample. Absent fields were not asked for.
struct SampleId {
  std::optional<uint32_t> pid, tid;
  std::optional<uint64_t> time;  // ns of the recording's clock
  std::optional<uint64_t> id;    // of the event; PERF_SAMPLE_ID or _IDENTIFIER
  std::optional<uint64_t> stream_id;
  std::optional<uint32_t> cpu;
};

struct ReadValue {
  uint64_t value = 0;
  std::optional<uint64_t> id;
  std::optional<uint64_t> lost;
};

// PERF_SAMPLE_READ: one counter, or a group's. Bytes are decoded on demand: ReadFormatValue() in lib/event.
struct ReadValues {
  std::optional<uint64_t> time_enabled, time_running;
  uint64_t count = 0;  // number of values
  // Raw, layout by read_format. A group: its values. One counter: the whole field, value and times included.
  std::span<const std::byte> values;
};

struct UserRegs {
  uint64_t abi = 0;   // 0: none (a kernel thread, an exiting one); 1: 32 bit; 2: 64 bit
  uint64_t mask = 0;  // which registers; values ascend by bit
  std::span<const uint64_t> values;
};

struct SampleRecord {
  CpuMode mode = CpuMode::kUnknown;
  bool exact_ip = false;  // PERF_RECORD_MISC_EXACT_IP: ip is the instruction that caused the event
  std::optional<uint64_t> identifier, ip;
  std::optional<uint32_t> pid, tid;  // pid is the thread group; 0 is idle; ~0u an exiting task
  std::optional<uint64_t> time, addr, id, stream_id;
  std::optional<uint32_t> cpu;
  std::optional<uint64_t> period;  // events since the last sample
  std::optional<ReadValues> read;
  std::span<const uint64_t> callchain;  // with context markers (values >= -4095), leaf first
  std::span<const std::byte> raw;       // PERF_SAMPLE_RAW: a tracepoint's fields
  std::span<const std::byte> branch_stack;
  UserRegs user_regs;
  std::span<const std::byte> user_stack;  // valid part (dyn_size) of the copy, from the stack pointer up
  std::optional<uint64_t> weight, data_src, transaction;
  UserRegs intr_regs;
  std::optional<uint64_t> phys_addr, cgroup, data_page_size, code_page_size;
  std::span<const std::byte> aux;
};

struct BuildId {
  std::span<const uint8_t> bytes;  // 1 to 20 bytes; empty: none
};

// PERF_RECORD_MMAP and MMAP2: from now on [addr, addr + length) of `pid` shows `path` from `file_offset`.
struct MmapRecord {
  CpuMode mode = CpuMode::kUnknown;
  bool is_data = false;         // PERF_RECORD_MISC_MMAP_DATA: not executable
  bool has_protection = false;  // MMAP2: `protection` is PROT_*
  uint32_t pid = 0, tid = 0;    // pid ~0u: the kernel's own map
  uint64_t addr = 0, length = 0, file_offset = 0;
  uint32_t maj = 0, min = 0;
  uint64_t inode = 0, inode_generation = 0;
  BuildId build_id;
  uint32_t protection = 0, flags = 0;
  std::string_view path;
};

struct LostRecord {
  uint64_t id = 0, lost = 0;
};
struct LostSamplesRecord {
  uint64_t lost = 0;
  bool by_filter = false;
};
struct CommRecord {
  uint32_t pid = 0, tid = 0;
  bool exec = false;
  std::string_view comm;
};
struct ForkRecord {
  uint32_t pid = 0, ppid = 0, tid = 0, ptid = 0;
  uint64_t time = 0;
};
struct ExitRecord {
  uint32_t pid = 0, ppid = 0, tid = 0, ptid = 0;
  uint64_t time = 0;
};
struct ThrottleRecord {
  bool throttled = false;
  uint64_t time = 0, id = 0, stream_id = 0;
};  // false: UNTHROTTLE
struct SwitchRecord {
  bool out = false, preempt = false;
  std::optional<uint32_t> other_pid, other_tid;  // SWITCH_CPU_WIDE: next (out) or previous (in)
};
struct ReadRecord {
  uint32_t pid = 0, tid = 0;
  ReadValues values;
};
struct NamespacesRecord {
  uint32_t pid = 0, tid = 0;
  std::span<const uint64_t> dev_inode_pairs;
};
struct KsymbolRecord {
  uint64_t addr = 0;
  uint32_t length = 0;
  uint16_t ksym_type = 0;  // 1: BPF, 2: out of line
  bool unregister = false;
  std::string_view name;
};
struct BpfEventRecord {
  uint16_t event = 0, flags = 0;
  uint32_t id = 0;
  std::span<const std::byte> tag;
};
struct CgroupRecord {
  uint64_t id = 0;
  std::string_view path;
};
struct TextPokeRecord {
  uint64_t addr = 0;
  std::span<const std::byte> old_bytes, new_bytes;
};
struct FinishedRoundRecord {};
struct FinishedInitRecord {};
// Known by number only: its bytes are in the RawRecord.
struct UnknownRecord {
  uint32_t type = 0;
};

using RecordBody =
    std::variant<SampleRecord, MmapRecord, CommRecord, ForkRecord, ExitRecord, LostRecord, LostSamplesRecord,
                 ThrottleRecord, SwitchRecord, ReadRecord, NamespacesRecord, KsymbolRecord, BpfEventRecord,
                 CgroupRecord, TextPokeRecord, FinishedRoundRecord, FinishedInitRecord, UnknownRecord>;

struct Record {
  SampleId id;  // of records that are no sample
  RecordBody body;
};

}  // namespace ksamp

#endif  // KSAMP_RECORD_H_
