// SPDX-License-Identifier: Apache-2.0
#include "lib/event/record_encoder.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>
#include <type_traits>

#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/event/perf_constants.h"
#include "lib/event/read_format.h"

namespace ksamp {
namespace {

constexpr size_t kAlignment = 8;

uint16_t Bit(bool set, int bit) {
  return static_cast<uint16_t>(set ? bit : 0);
}
uint16_t Bits(CpuMode mode) {
  return static_cast<uint16_t>(mode);
}

// ---- Fields that several records share ----------------------------------------------------------------

absl::Status PutReadValues(const ReadValues& read, uint64_t read_format, ByteWriter& out) {
  const ReadFormat format(read_format);
  if (!format.group) {
    if (read.values.size() != format.single_bytes())
      return absl::InvalidArgumentError(StrCat("encode read value: ", read.values.size(),
                                               " bytes, the layout has ", format.single_bytes()));
    out.PutBytes(read.values);
    return absl::OkStatus();
  }
  if (read.values.size() != read.count * format.bytes_per_value())
    return absl::InvalidArgumentError(StrCat("encode read values: ", read.values.size(), " bytes for ",
                                             read.count, " values of ", format.bytes_per_value()));
  out.Put<uint64_t>(read.count);
  if (format.enabled) out.Put<uint64_t>(read.time_enabled.value_or(0));
  if (format.running) out.Put<uint64_t>(read.time_running.value_or(0));
  out.PutBytes(read.values);
  return absl::OkStatus();
}

void PutZeroReadValues(uint64_t read_format, ByteWriter& out) {
  const ReadFormat format(read_format);
  out.PutZeros(format.group ? 8 + format.bytes_of_times() : format.single_bytes());
}

absl::Status PutRegs(const UserRegs& regs, uint64_t mask, ByteWriter& out) {
  out.Put<uint64_t>(regs.abi);
  if (regs.abi == PERF_SAMPLE_REGS_ABI_NONE) return absl::OkStatus();
  if (regs.values.size() != static_cast<size_t>(std::popcount(mask)))
    return absl::InvalidArgumentError(
        StrCat("encode registers: ", regs.values.size(), " values, the layout has ", std::popcount(mask)));
  out.PutBytes(std::as_bytes(regs.values));
  return absl::OkStatus();
}

void PutTrailer(const SampleId& id, const SampleLayout& layout, ByteWriter& out) {
  if (!layout.sample_id_all()) return;
  const uint64_t asked = layout.sample_type();
  if (asked & PERF_SAMPLE_TID) {
    out.Put<uint32_t>(id.pid.value_or(0));
    out.Put<uint32_t>(id.tid.value_or(0));
  }
  if (asked & PERF_SAMPLE_TIME) out.Put<uint64_t>(id.time.value_or(0));
  if (asked & PERF_SAMPLE_ID) out.Put<uint64_t>(id.id.value_or(0));
  if (asked & PERF_SAMPLE_STREAM_ID) out.Put<uint64_t>(id.stream_id.value_or(0));
  if (asked & PERF_SAMPLE_CPU) {
    out.Put<uint32_t>(id.cpu.value_or(0));
    out.Put<uint32_t>(0);
  }
  if (asked & PERF_SAMPLE_IDENTIFIER) out.Put<uint64_t>(id.id.value_or(0));
}

// ---- SAMPLE -------------------------------------------------------------------------------------------

using SampleStepWriter = absl::Status (*)(const SampleRecord&, const SampleLayout&, ByteWriter&);

template <std::optional<uint64_t> SampleRecord::*kField>
absl::Status PutNumber(const SampleRecord& sample, const SampleLayout&, ByteWriter& out) {
  out.Put<uint64_t>((sample.*kField).value_or(0));
  return absl::OkStatus();
}

absl::Status PutThread(const SampleRecord& sample, const SampleLayout&, ByteWriter& out) {
  out.Put<uint32_t>(sample.pid.value_or(0));
  out.Put<uint32_t>(sample.tid.value_or(0));
  return absl::OkStatus();
}

absl::Status PutCpu(const SampleRecord& sample, const SampleLayout&, ByteWriter& out) {
  out.Put<uint32_t>(sample.cpu.value_or(0));
  out.Put<uint32_t>(0);
  return absl::OkStatus();
}

absl::Status PutRead(const SampleRecord& sample, const SampleLayout& layout, ByteWriter& out) {
  if (sample.read) return PutReadValues(*sample.read, layout.read_format(), out);
  PutZeroReadValues(layout.read_format(), out);
  return absl::OkStatus();
}

absl::Status PutCallchain(const SampleRecord& sample, const SampleLayout&, ByteWriter& out) {
  out.Put<uint64_t>(sample.callchain.size());
  out.PutBytes(std::as_bytes(sample.callchain));
  return absl::OkStatus();
}

// As the kernel does: size and bytes together fill whole words, so there are never fewer than 4 bytes.
absl::Status PutRaw(const SampleRecord& sample, const SampleLayout&, ByteWriter& out) {
  const size_t words = (sizeof(uint32_t) + std::max(sample.raw.size(), sizeof(uint32_t)) + 7) / 8;
  const size_t size = words * 8 - sizeof(uint32_t);
  if (size > std::numeric_limits<uint16_t>::max()) return absl::InvalidArgumentError("encode raw: too long");
  out.Put<uint32_t>(static_cast<uint32_t>(size));
  out.PutBytes(sample.raw);
  out.PutZeros(size - sample.raw.size());
  return absl::OkStatus();
}

absl::Status PutBranchStack(const SampleRecord& sample, const SampleLayout& layout, ByteWriter& out) {
  if (!sample.branch_stack.empty()) {
    out.PutBytes(sample.branch_stack);
    return absl::OkStatus();
  }
  out.Put<uint64_t>(0);
  if (layout.branch_sample_type() & PERF_SAMPLE_BRANCH_HW_INDEX) out.Put<uint64_t>(~uint64_t{0});
  return absl::OkStatus();
}

absl::Status PutUserStack(const SampleRecord& sample, const SampleLayout&, ByteWriter& out) {
  const size_t size = (sample.user_stack.size() + 7) / 8 * 8;
  out.Put<uint64_t>(size);
  if (size == 0) return absl::OkStatus();
  out.PutBytes(sample.user_stack);
  out.PutZeros(size - sample.user_stack.size());
  out.Put<uint64_t>(sample.user_stack.size());
  return absl::OkStatus();
}

absl::Status PutAux(const SampleRecord& sample, const SampleLayout&, ByteWriter& out) {
  out.Put<uint64_t>(sample.aux.size());
  out.PutBytes(sample.aux);
  return absl::OkStatus();
}

struct SampleStep {
  uint64_t bits;  // any of these in sample_type
  SampleStepWriter put;
};
constexpr SampleStep kSampleSteps[] = {
    {PERF_SAMPLE_IDENTIFIER, PutNumber<&SampleRecord::identifier>},
    {PERF_SAMPLE_IP, PutNumber<&SampleRecord::ip>},
    {PERF_SAMPLE_TID, PutThread},
    {PERF_SAMPLE_TIME, PutNumber<&SampleRecord::time>},
    {PERF_SAMPLE_ADDR, PutNumber<&SampleRecord::addr>},
    {PERF_SAMPLE_ID, PutNumber<&SampleRecord::id>},
    {PERF_SAMPLE_STREAM_ID, PutNumber<&SampleRecord::stream_id>},
    {PERF_SAMPLE_CPU, PutCpu},
    {PERF_SAMPLE_PERIOD, PutNumber<&SampleRecord::period>},
    {PERF_SAMPLE_READ, PutRead},
    {PERF_SAMPLE_CALLCHAIN, PutCallchain},
    {PERF_SAMPLE_RAW, PutRaw},
    {PERF_SAMPLE_BRANCH_STACK, PutBranchStack},
    {PERF_SAMPLE_REGS_USER,
     [](const SampleRecord& sample, const SampleLayout& layout, ByteWriter& out) {
       return PutRegs(sample.user_regs, layout.sample_regs_user(), out);
     }},
    {PERF_SAMPLE_STACK_USER, PutUserStack},
    {PERF_SAMPLE_WEIGHT_TYPE, PutNumber<&SampleRecord::weight>},
    {PERF_SAMPLE_DATA_SRC, PutNumber<&SampleRecord::data_src>},
    {PERF_SAMPLE_TRANSACTION, PutNumber<&SampleRecord::transaction>},
    {PERF_SAMPLE_REGS_INTR,
     [](const SampleRecord& sample, const SampleLayout& layout, ByteWriter& out) {
       return PutRegs(sample.intr_regs, layout.sample_regs_intr(), out);
     }},
    {PERF_SAMPLE_PHYS_ADDR, PutNumber<&SampleRecord::phys_addr>},
    {PERF_SAMPLE_CGROUP, PutNumber<&SampleRecord::cgroup>},
    {PERF_SAMPLE_DATA_PAGE_SIZE, PutNumber<&SampleRecord::data_page_size>},
    {PERF_SAMPLE_CODE_PAGE_SIZE, PutNumber<&SampleRecord::code_page_size>},
    {PERF_SAMPLE_AUX, PutAux},
};

// ---- One function per kind ----------------------------------------------------------------------------
// Each says the record's type and misc bits, and writes its body.

struct TypeAndMisc {
  uint32_t type = 0;
  uint16_t misc = 0;
};

class BodyWriter {
 public:
  BodyWriter(const SampleLayout& layout, ByteWriter& out) : layout_(layout), out_(out) {}

  absl::StatusOr<TypeAndMisc> operator()(const SampleRecord& sample) {
    for (const SampleStep& step : kSampleSteps) {
      if ((layout_.sample_type() & step.bits) == 0) continue;
      KSAMP_RETURN_IF_ERROR(step.put(sample, layout_, out_));
    }
    return TypeAndMisc{
        PERF_RECORD_SAMPLE,
        static_cast<uint16_t>(Bits(sample.mode) | Bit(sample.exact_ip, PERF_RECORD_MISC_EXACT_IP))};
  }

  absl::StatusOr<TypeAndMisc> operator()(const MmapRecord& map) {
    const bool has_build_id = map.has_protection && !map.build_id.bytes.empty();
    PutAll(map.pid, map.tid, map.addr, map.length, map.file_offset);
    if (has_build_id) {
      KSAMP_RETURN_IF_ERROR(PutBuildId(map.build_id));
    } else if (map.has_protection) {
      PutAll(map.maj, map.min, map.inode, map.inode_generation);
    }
    if (map.has_protection) PutAll(map.protection, map.flags);
    out_.PutPaddedCString(map.path, kAlignment);
    const uint32_t type = map.has_protection ? PERF_RECORD_MMAP2 : PERF_RECORD_MMAP;
    return TypeAndMisc{type,
                       static_cast<uint16_t>(Bits(map.mode) | Bit(map.is_data, PERF_RECORD_MISC_MMAP_DATA) |
                                             Bit(has_build_id, PERF_RECORD_MISC_MMAP_BUILD_ID))};
  }

  absl::StatusOr<TypeAndMisc> operator()(const CommRecord& comm) {
    PutAll(comm.pid, comm.tid);
    out_.PutPaddedCString(comm.comm, kAlignment);
    return TypeAndMisc{PERF_RECORD_COMM, Bit(comm.exec, PERF_RECORD_MISC_COMM_EXEC)};
  }

  absl::StatusOr<TypeAndMisc> operator()(const ForkRecord& fork) {
    PutAll(fork.pid, fork.ppid, fork.tid, fork.ptid, fork.time);
    return TypeAndMisc{PERF_RECORD_FORK};
  }

  absl::StatusOr<TypeAndMisc> operator()(const ExitRecord& exit) {
    PutAll(exit.pid, exit.ppid, exit.tid, exit.ptid, exit.time);
    return TypeAndMisc{PERF_RECORD_EXIT};
  }

  absl::StatusOr<TypeAndMisc> operator()(const LostRecord& lost) {
    PutAll(lost.id, lost.lost);
    return TypeAndMisc{PERF_RECORD_LOST};
  }

  absl::StatusOr<TypeAndMisc> operator()(const LostSamplesRecord& lost) {
    PutAll(lost.lost);
    return TypeAndMisc{PERF_RECORD_LOST_SAMPLES, Bit(lost.by_filter, kMiscLostByFilter)};
  }

  absl::StatusOr<TypeAndMisc> operator()(const ThrottleRecord& throttle) {
    PutAll(throttle.time, throttle.id, throttle.stream_id);
    return TypeAndMisc{throttle.throttled ? PERF_RECORD_THROTTLE : PERF_RECORD_UNTHROTTLE};
  }

  absl::StatusOr<TypeAndMisc> operator()(const SwitchRecord& record) {
    const bool cpu_wide = record.other_pid || record.other_tid;
    if (cpu_wide) PutAll(record.other_pid.value_or(0), record.other_tid.value_or(0));
    const uint32_t type = cpu_wide ? PERF_RECORD_SWITCH_CPU_WIDE : PERF_RECORD_SWITCH;
    return TypeAndMisc{type, static_cast<uint16_t>(Bit(record.out, PERF_RECORD_MISC_SWITCH_OUT) |
                                                   Bit(record.preempt, PERF_RECORD_MISC_SWITCH_OUT_PREEMPT))};
  }

  absl::StatusOr<TypeAndMisc> operator()(const ReadRecord& read) {
    PutAll(read.pid, read.tid);
    KSAMP_RETURN_IF_ERROR(PutReadValues(read.values, layout_.read_format(), out_));
    return TypeAndMisc{PERF_RECORD_READ};
  }

  absl::StatusOr<TypeAndMisc> operator()(const NamespacesRecord& namespaces) {
    if (namespaces.dev_inode_pairs.size() % 2 != 0)
      return absl::InvalidArgumentError("encode NAMESPACES record: a device without its inode");
    PutAll(namespaces.pid, namespaces.tid, uint64_t{namespaces.dev_inode_pairs.size() / 2});
    out_.PutBytes(std::as_bytes(namespaces.dev_inode_pairs));
    return TypeAndMisc{PERF_RECORD_NAMESPACES};
  }

  absl::StatusOr<TypeAndMisc> operator()(const KsymbolRecord& symbol) {
    const uint16_t flags = Bit(symbol.unregister, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
    PutAll(symbol.addr, symbol.length, symbol.ksym_type, flags);
    out_.PutPaddedCString(symbol.name, kAlignment);
    return TypeAndMisc{PERF_RECORD_KSYMBOL};
  }

  absl::StatusOr<TypeAndMisc> operator()(const BpfEventRecord& bpf) {
    if (bpf.tag.size() > kBpfTagSize)
      return absl::InvalidArgumentError(StrCat("encode BPF_EVENT record: tag of ", bpf.tag.size(), " bytes"));
    PutAll(bpf.event, bpf.flags, bpf.id);
    out_.PutBytes(bpf.tag);
    out_.PutZeros(kBpfTagSize - bpf.tag.size());
    return TypeAndMisc{PERF_RECORD_BPF_EVENT};
  }

  absl::StatusOr<TypeAndMisc> operator()(const CgroupRecord& cgroup) {
    PutAll(cgroup.id);
    out_.PutPaddedCString(cgroup.path, kAlignment);
    return TypeAndMisc{PERF_RECORD_CGROUP};
  }

  absl::StatusOr<TypeAndMisc> operator()(const TextPokeRecord& poke) {
    if (std::max(poke.old_bytes.size(), poke.new_bytes.size()) > std::numeric_limits<uint16_t>::max())
      return absl::InvalidArgumentError("encode TEXT_POKE record: too many bytes");
    PutAll(poke.addr, static_cast<uint16_t>(poke.old_bytes.size()),
           static_cast<uint16_t>(poke.new_bytes.size()));
    out_.PutBytes(poke.old_bytes);
    out_.PutBytes(poke.new_bytes);
    const size_t written = 12 + poke.old_bytes.size() + poke.new_bytes.size();
    out_.PutZeros((kAlignment - written % kAlignment) % kAlignment);
    return TypeAndMisc{PERF_RECORD_TEXT_POKE};
  }

  absl::StatusOr<TypeAndMisc> operator()(const FinishedRoundRecord&) {
    return TypeAndMisc{kRecordFinishedRound};
  }

  absl::StatusOr<TypeAndMisc> operator()(const FinishedInitRecord&) {
    return TypeAndMisc{kRecordFinishedInit};
  }

  absl::StatusOr<TypeAndMisc> operator()(const UnknownRecord& unknown) {
    return absl::InvalidArgumentError(
        StrCat("encode record of type ", unknown.type, ": known by number only"));
  }

 private:
  template <typename... Numbers>
  void PutAll(const Numbers&... numbers) {
    (out_.Put(numbers), ...);
  }

  absl::Status PutBuildId(const BuildId& build_id) {
    if (build_id.bytes.size() > kMaxBuildIdSize)
      return absl::InvalidArgumentError(
          StrCat("encode MMAP2 record: build-id of ", build_id.bytes.size(), " bytes"));
    out_.Put(static_cast<uint8_t>(build_id.bytes.size()));
    out_.PutZeros(3);
    out_.PutBytes(std::as_bytes(build_id.bytes));
    out_.PutZeros(kMaxBuildIdSize - build_id.bytes.size());
    return absl::OkStatus();
  }

  const SampleLayout& layout_;
  ByteWriter& out_;
};

absl::Status AppendRecord(const Record& record, const SampleLayout& layout, ByteWriter& out) {
  const size_t start = out.size();
  out.Put(perf_event_header{});
  absl::StatusOr<TypeAndMisc> written = std::visit(BodyWriter(layout, out), record.body);
  if (!written.ok()) return written.status();
  if (written->type != PERF_RECORD_SAMPLE && written->type < kFirstToolRecord)
    PutTrailer(record.id, layout, out);
  const size_t size = out.size() - start;
  if (size > std::numeric_limits<uint16_t>::max())
    return absl::InvalidArgumentError(StrCat("encode record: ", size, " bytes, a record holds 65535"));
  out.PutAt(start, perf_event_header{written->type, written->misc, static_cast<uint16_t>(size)});
  return absl::OkStatus();
}

}  // namespace

absl::Status EncodeRecord(const Record& record, const SampleLayout& layout, ByteWriter& out) {
  const size_t start = out.size();
  absl::Status status = AppendRecord(record, layout, out);
  if (!status.ok()) out.TruncateTo(start);
  return status;
}

}  // namespace ksamp
