// SPDX-License-Identifier: Apache-2.0
// JitDump: the functions of a jit-PID.dump (perf's jitdump format, version 1), with the times from which on
// each holds its memory.
//
//   absl::StatusOr<JitDump> dump = JitDump::Read(bytes);
//   for (const JitFunction& f : dump->functions()) …        // in the order they were generated
//   std::string text = dump->ToText();                      // without the code: what a recording keeps
//   absl::StatusOr<JitDump> again = JitDump::FromText(text);
//
//   file    magic "JiTD", version, size of the header, ELF machine, pad, pid, timestamp, flags
//           records: { u32 id, u32 total size, u64 timestamp } and
//     0 load    u32 pid, u32 tid, u64 vma, address, size, index, name\0, the code
//     1 move    u32 pid, u32 tid, u64 vma, old address, new address, size, index
//     2 lines, 3 close, 4 unwinding: passed over
//
// A function is known by where its code stands in the file: a place that is never used again, unlike its
// address. A move is one more entry with the same place. Times are CLOCK_MONOTONIC by convention; where the
// header says they are the processor's counter, has_time() is false and only the order counts.
//
// Input is hostile: a record outside the file ends the reading (a runtime that was killed leaves half a
// record), a damaged one is left out; both are counted. Either byte order. Immutable.
#ifndef KSAMP_LIB_OBJECT_JIT_DUMP_H_
#define KSAMP_LIB_OBJECT_JIT_DUMP_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace ksamp {

struct JitFunction {
  uint64_t time = 0;
  uint64_t start = 0, size = 0;  // runtime address
  uint64_t place = 0;            // of its code in the file
  std::string name;
  friend bool operator==(const JitFunction&, const JitFunction&) = default;
};

class JitDump {
 public:
  static constexpr size_t kMaxFileBytes = size_t{256} << 20;

  // InvalidArgument: not a jitdump, or of another version.
  static absl::StatusOr<JitDump> Read(std::span<const std::byte> bytes);
  static absl::StatusOr<JitDump> FromText(std::string_view text);
  std::string ToText() const;

  uint64_t opened() const { return opened_; }  // when the header was written, and about then the file mapped
  bool has_time() const { return has_time_; }
  const std::vector<JitFunction>& functions() const { return functions_; }
  size_t damaged() const { return damaged_; }

 private:
  class Reader;
  bool ParseLine(std::string_view line);

  uint64_t opened_ = 0;
  bool has_time_ = true;
  std::vector<JitFunction> functions_;
  size_t damaged_ = 0;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_JIT_DUMP_H_
