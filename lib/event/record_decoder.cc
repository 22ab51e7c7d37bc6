// SPDX-License-Identifier: Apache-2.0
#include "lib/event/record_decoder.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "lib/base/checked_math.h"
#include "lib/base/str_cat.h"
#include "lib/event/field_reader.h"
#include "lib/event/perf_constants.h"
#include "lib/event/read_format.h"

namespace ksamp {
namespace {

constexpr std::pair<uint32_t, std::string_view> kTypeNames[] = {
    {PERF_RECORD_MMAP, "MMAP"},
    {PERF_RECORD_LOST, "LOST"},
    {PERF_RECORD_COMM, "COMM"},
    {PERF_RECORD_EXIT, "EXIT"},
    {PERF_RECORD_THROTTLE, "THROTTLE"},
    {PERF_RECORD_UNTHROTTLE, "UNTHROTTLE"},
    {PERF_RECORD_FORK, "FORK"},
    {PERF_RECORD_READ, "READ"},
    {PERF_RECORD_SAMPLE, "SAMPLE"},
    {PERF_RECORD_MMAP2, "MMAP2"},
    {PERF_RECORD_AUX, "AUX"},
    {PERF_RECORD_ITRACE_START, "ITRACE_START"},
    {PERF_RECORD_LOST_SAMPLES, "LOST_SAMPLES"},
    {PERF_RECORD_SWITCH, "SWITCH"},
    {PERF_RECORD_SWITCH_CPU_WIDE, "SWITCH_CPU_WIDE"},
    {PERF_RECORD_NAMESPACES, "NAMESPACES"},
    {PERF_RECORD_KSYMBOL, "KSYMBOL"},
    {PERF_RECORD_BPF_EVENT, "BPF_EVENT"},
    {PERF_RECORD_CGROUP, "CGROUP"},
    {PERF_RECORD_TEXT_POKE, "TEXT_POKE"},
    {PERF_RECORD_AUX_OUTPUT_HW_ID, "AUX_OUTPUT_HW_ID"},
    {kRecordCallchainDeferred, "CALLCHAIN_DEFERRED"},
    {kRecordHeaderAttr, "HEADER_ATTR"},
    {65, "HEADER_EVENT_TYPE"},
    {kRecordHeaderTracingData, "HEADER_TRACING_DATA"},
    {kRecordHeaderBuildId, "HEADER_BUILD_ID"},
    {kRecordFinishedRound, "FINISHED_ROUND"},
    {kRecordIdIndex, "ID_INDEX"},
    {kRecordAuxtraceInfo, "AUXTRACE_INFO"},
    {kRecordAuxtrace, "AUXTRACE"},
    {kRecordAuxtraceError, "AUXTRACE_ERROR"},
    {kRecordThreadMap, "THREAD_MAP"},
    {kRecordCpuMap, "CPU_MAP"},
    {kRecordStatConfig, "STAT_CONFIG"},
    {kRecordStat, "STAT"},
    {kRecordStatRound, "STAT_ROUND"},
    {kRecordEventUpdate, "EVENT_UPDATE"},
    {kRecordTimeConv, "TIME_CONV"},
    {kRecordHeaderFeature, "HEADER_FEATURE"},
    {kRecordCompressed, "COMPRESSED"},
    {kRecordFinishedInit, "FINISHED_INIT"},
    {kRecordCompressed2, "COMPRESSED2"},
};

// ---- Fields that several records share ----------------------------------------------------------------

CpuMode ModeOf(const RawRecord& raw) {
  const uint16_t mode = raw.misc & PERF_RECORD_MISC_CPUMODE_MASK;
  return mode <= static_cast<uint16_t>(CpuMode::kGuestUser) ? static_cast<CpuMode>(mode) : CpuMode::kUnknown;
}

// group:  u64 nr, [enabled], [running], nr × {value, [id], [lost]}
// single: u64 value, [enabled], [running], [id], [lost]       `values` is all of it
ReadValues ReadReadValues(FieldReader& in, uint64_t read_format) {
  ReadValues read;
  const ReadFormat format(read_format);
  const std::span<const std::byte> whole = in.rest();
  read.count = in.Read<uint64_t>(format.group ? "number of read values" : "read value");
  if (format.enabled) read.time_enabled = in.Read<uint64_t>("time enabled");
  if (format.running) read.time_running = in.Read<uint64_t>("time running");
  if (!format.group) {
    read.count = 1;
    in.ReadBytes(format.bytes_per_value() - 8, "read id");
    if (in.ok()) read.values = whole.first(format.single_bytes());
    return read;
  }
  const std::optional<uint64_t> size = CheckedMultiply(read.count, format.bytes_per_value());
  if (!size) in.Fail("read values");
  if (in.ok()) read.values = in.ReadBytes(*size, "read values");
  return read;
}

UserRegs ReadRegs(FieldReader& in, uint64_t mask, const char* field) {
  UserRegs regs;
  regs.abi = in.Read<uint64_t>(field);
  if (regs.abi == PERF_SAMPLE_REGS_ABI_NONE) return regs;
  regs.mask = mask;
  regs.values = in.ReadWords(static_cast<uint64_t>(std::popcount(mask)), field);
  return regs;
}

// [pid, tid] [time] [id] [stream_id] [cpu, reserved] [identifier]
SampleId ReadTrailer(std::span<const std::byte> bytes, uint64_t sample_type) {
  ByteReader in(bytes);
  SampleId id;
  if (sample_type & PERF_SAMPLE_TID) {
    id.pid = in.Read<uint32_t>();
    id.tid = in.Read<uint32_t>();
  }
  if (sample_type & PERF_SAMPLE_TIME) id.time = in.Read<uint64_t>();
  if (sample_type & PERF_SAMPLE_ID) id.id = in.Read<uint64_t>();
  if (sample_type & PERF_SAMPLE_STREAM_ID) id.stream_id = in.Read<uint64_t>();
  if (sample_type & PERF_SAMPLE_CPU) {
    id.cpu = in.Read<uint32_t>();
    in.Skip(sizeof(uint32_t));
  }
  if (sample_type & PERF_SAMPLE_IDENTIFIER) id.id = in.Read<uint64_t>();
  return id;
}

// ---- SAMPLE -------------------------------------------------------------------------------------------

void ReadCallchain(FieldReader& in, const SampleLayout&, SampleRecord& sample) {
  const uint64_t count = in.Read<uint64_t>("callchain length");
  sample.callchain = in.ReadWords(count, "callchain");
}

void ReadRaw(FieldReader& in, const SampleLayout&, SampleRecord& sample) {
  const uint32_t size = in.Read<uint32_t>("raw size");
  sample.raw = in.ReadBytes(size, "raw");
}

// u64 nr, [u64 hw_idx], nr × {from, to, flags}, [nr × u64 counters]       `branch_stack` is all of it
void ReadBranchStack(FieldReader& in, const SampleLayout& layout, SampleRecord& sample) {
  const std::span<const std::byte> whole = in.rest();
  const uint64_t count = in.Read<uint64_t>("number of branches");
  if (layout.branch_sample_type() & PERF_SAMPLE_BRANCH_HW_INDEX) in.Read<uint64_t>("branch index");
  const uint64_t entry = layout.branch_sample_type() & kSampleBranchCounters ? 32 : 24;
  const std::optional<uint64_t> size = CheckedMultiply(count, entry);
  if (!size) in.Fail("branches");
  if (in.ok()) in.ReadBytes(*size, "branches");
  if (in.ok() && count > 0) sample.branch_stack = whole.first(whole.size() - in.remaining());
}

void ReadUserStack(FieldReader& in, const SampleLayout&, SampleRecord& sample) {
  const uint64_t size = in.Read<uint64_t>("user stack size");
  if (size == 0) return;
  const std::span<const std::byte> copy = in.ReadBytes(size, "user stack");
  const uint64_t valid = in.Read<uint64_t>("valid size of the user stack");
  if (valid > size) in.Fail("valid size of the user stack");
  if (in.ok()) sample.user_stack = copy.first(static_cast<size_t>(valid));
}

void ReadAux(FieldReader& in, const SampleLayout&, SampleRecord& sample) {
  const uint64_t size = in.Read<uint64_t>("aux size");
  sample.aux = in.ReadBytes(size, "aux");
}

template <std::optional<uint64_t> SampleRecord::*kField>
void ReadNumber(FieldReader& in, const SampleLayout&, SampleRecord& sample) {
  sample.*kField = in.Read<uint64_t>("number");
}

// The fields of variable place, in the order the kernel writes them.
struct SampleStep {
  uint64_t bits;  // any of these in sample_type
  void (*read)(FieldReader&, const SampleLayout&, SampleRecord&);
};
constexpr SampleStep kSampleSteps[] = {
    {PERF_SAMPLE_READ, [](FieldReader& in, const SampleLayout& layout,
                          SampleRecord& sample) { sample.read = ReadReadValues(in, layout.read_format()); }},
    {PERF_SAMPLE_CALLCHAIN, ReadCallchain},
    {PERF_SAMPLE_RAW, ReadRaw},
    {PERF_SAMPLE_BRANCH_STACK, ReadBranchStack},
    {PERF_SAMPLE_REGS_USER,
     [](FieldReader& in, const SampleLayout& layout, SampleRecord& sample) {
       sample.user_regs = ReadRegs(in, layout.sample_regs_user(), "user registers");
     }},
    {PERF_SAMPLE_STACK_USER, ReadUserStack},
    {PERF_SAMPLE_WEIGHT_TYPE, ReadNumber<&SampleRecord::weight>},
    {PERF_SAMPLE_DATA_SRC, ReadNumber<&SampleRecord::data_src>},
    {PERF_SAMPLE_TRANSACTION, ReadNumber<&SampleRecord::transaction>},
    {PERF_SAMPLE_REGS_INTR,
     [](FieldReader& in, const SampleLayout& layout, SampleRecord& sample) {
       sample.intr_regs = ReadRegs(in, layout.sample_regs_intr(), "interrupt registers");
     }},
    {PERF_SAMPLE_PHYS_ADDR, ReadNumber<&SampleRecord::phys_addr>},
    {PERF_SAMPLE_CGROUP, ReadNumber<&SampleRecord::cgroup>},
    {PERF_SAMPLE_DATA_PAGE_SIZE, ReadNumber<&SampleRecord::data_page_size>},
    {PERF_SAMPLE_CODE_PAGE_SIZE, ReadNumber<&SampleRecord::code_page_size>},
    {PERF_SAMPLE_AUX, ReadAux},
};

// Requires: the record has the layout's fixed size.
void ReadFixedFields(const std::byte* record, const SampleLayout& layout, SampleRecord& sample) {
  const FixedSampleFields fixed = layout.ReadFixed(record);
  const uint64_t asked = layout.sample_type();
  if (asked & PERF_SAMPLE_IDENTIFIER) sample.identifier = fixed.identifier;
  if (asked & PERF_SAMPLE_IP) sample.ip = fixed.ip;
  if (asked & PERF_SAMPLE_TID) {
    sample.pid = fixed.pid;
    sample.tid = fixed.tid;
  }
  if (asked & PERF_SAMPLE_TIME) sample.time = fixed.time;
  if (asked & PERF_SAMPLE_ADDR) sample.addr = fixed.addr;
  if (asked & PERF_SAMPLE_ID) sample.id = fixed.id;
  if (asked & PERF_SAMPLE_STREAM_ID) sample.stream_id = fixed.stream_id;
  if (asked & PERF_SAMPLE_CPU) sample.cpu = fixed.cpu;
  if (asked & PERF_SAMPLE_PERIOD) sample.period = fixed.period;
}

RecordBody ReadSample(FieldReader& in, const RawRecord& raw, const SampleLayout& layout) {
  SampleRecord sample;
  sample.mode = ModeOf(raw);
  sample.exact_ip = (raw.misc & PERF_RECORD_MISC_EXACT_IP) != 0;
  in.ReadBytes(layout.fixed_size() - kRecordHeaderSize, "fixed fields");
  if (!in.ok()) return sample;
  ReadFixedFields(raw.bytes.data(), layout, sample);
  for (const SampleStep& step : kSampleSteps) {
    if (layout.sample_type() & step.bits) step.read(in, layout, sample);
  }
  return sample;
}

// ---- The other records --------------------------------------------------------------------------------

MmapRecord ReadMmapStart(FieldReader& in, const RawRecord& raw) {
  MmapRecord map;
  map.mode = ModeOf(raw);
  map.is_data = (raw.misc & PERF_RECORD_MISC_MMAP_DATA) != 0;
  map.pid = in.Read<uint32_t>("pid");
  map.tid = in.Read<uint32_t>("tid");
  map.addr = in.Read<uint64_t>("address");
  map.length = in.Read<uint64_t>("length");
  map.file_offset = in.Read<uint64_t>("file offset");
  return map;
}

RecordBody ReadMmap(FieldReader& in, const RawRecord& raw, const SampleLayout&) {
  MmapRecord map = ReadMmapStart(in, raw);
  map.path = in.ReadCString();
  return map;
}

// Whether device and inode are replaced by u8 size, 3 zeros, u8[20] filled with zeros. The flag alone does
// not tell: where another recorder asks for build-ids at the same time, kernels up to 6.18 at least leave it
// set in the records of those who did not.
bool HoldsBuildId(std::span<const std::byte> bytes, uint16_t misc) {
  constexpr size_t kSizeField = 4;
  if ((misc & PERF_RECORD_MISC_MMAP_BUILD_ID) == 0 || bytes.size() < kSizeField + kMaxBuildIdSize)
    return false;
  const auto size = std::to_integer<size_t>(bytes[0]);
  auto zeros = [&](size_t from, size_t to) {
    return std::all_of(bytes.begin() + static_cast<ptrdiff_t>(from),
                       bytes.begin() + static_cast<ptrdiff_t>(to),
                       [](std::byte byte) { return byte == std::byte{0}; });
  };
  return size > 0 && size <= kMaxBuildIdSize && zeros(1, kSizeField) &&
         zeros(kSizeField + size, kSizeField + kMaxBuildIdSize);
}

BuildId ReadBuildId(FieldReader& in) {
  const uint8_t size = in.Read<uint8_t>("build-id size");
  in.ReadBytes(3, "build-id size");
  const std::span<const std::byte> bytes = in.ReadBytes(kMaxBuildIdSize, "build-id");
  if (!in.ok()) return {};
  return {{reinterpret_cast<const uint8_t*>(bytes.data()), size}};
}

RecordBody ReadMmap2(FieldReader& in, const RawRecord& raw, const SampleLayout&) {
  MmapRecord map = ReadMmapStart(in, raw);
  if (HoldsBuildId(in.rest(), raw.misc)) {
    map.build_id = ReadBuildId(in);
  } else {
    map.maj = in.Read<uint32_t>("major number");
    map.min = in.Read<uint32_t>("minor number");
    map.inode = in.Read<uint64_t>("inode");
    map.inode_generation = in.Read<uint64_t>("inode generation");
  }
  map.has_protection = true;
  map.protection = in.Read<uint32_t>("protection");
  map.flags = in.Read<uint32_t>("flags");
  map.path = in.ReadCString();
  return map;
}

RecordBody ReadLost(FieldReader& in, const RawRecord&, const SampleLayout&) {
  const uint64_t id = in.Read<uint64_t>("id");
  return LostRecord{id, in.Read<uint64_t>("lost")};
}

RecordBody ReadLostSamples(FieldReader& in, const RawRecord& raw, const SampleLayout&) {
  return LostSamplesRecord{in.Read<uint64_t>("lost"), (raw.misc & kMiscLostByFilter) != 0};
}

RecordBody ReadComm(FieldReader& in, const RawRecord& raw, const SampleLayout&) {
  CommRecord comm;
  comm.exec = (raw.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
  comm.pid = in.Read<uint32_t>("pid");
  comm.tid = in.Read<uint32_t>("tid");
  comm.comm = in.ReadCString();
  return comm;
}

template <typename ForkOrExit>
RecordBody ReadForkOrExit(FieldReader& in, const RawRecord&, const SampleLayout&) {
  ForkOrExit record;
  record.pid = in.Read<uint32_t>("pid");
  record.ppid = in.Read<uint32_t>("ppid");
  record.tid = in.Read<uint32_t>("tid");
  record.ptid = in.Read<uint32_t>("ptid");
  record.time = in.Read<uint64_t>("time");
  return record;
}

RecordBody ReadThrottle(FieldReader& in, const RawRecord& raw, const SampleLayout&) {
  ThrottleRecord throttle;
  throttle.throttled = raw.type == PERF_RECORD_THROTTLE;
  throttle.time = in.Read<uint64_t>("time");
  throttle.id = in.Read<uint64_t>("id");
  throttle.stream_id = in.Read<uint64_t>("stream id");
  return throttle;
}

RecordBody ReadRead(FieldReader& in, const RawRecord&, const SampleLayout& layout) {
  ReadRecord read;
  read.pid = in.Read<uint32_t>("pid");
  read.tid = in.Read<uint32_t>("tid");
  read.values = ReadReadValues(in, layout.read_format());
  return read;
}

RecordBody ReadSwitch(FieldReader& in, const RawRecord& raw, const SampleLayout&) {
  SwitchRecord record;
  record.out = (raw.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
  record.preempt = (raw.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
  if (raw.type == PERF_RECORD_SWITCH_CPU_WIDE) {
    record.other_pid = in.Read<uint32_t>("other pid");
    record.other_tid = in.Read<uint32_t>("other tid");
  }
  return record;
}

RecordBody ReadNamespaces(FieldReader& in, const RawRecord&, const SampleLayout&) {
  NamespacesRecord namespaces;
  namespaces.pid = in.Read<uint32_t>("pid");
  namespaces.tid = in.Read<uint32_t>("tid");
  const std::optional<uint64_t> words = CheckedMultiply(2, in.Read<uint64_t>("number of namespaces"));
  if (!words) in.Fail("namespaces");
  if (in.ok()) namespaces.dev_inode_pairs = in.ReadWords(*words, "namespaces");
  return namespaces;
}

RecordBody ReadKsymbol(FieldReader& in, const RawRecord&, const SampleLayout&) {
  KsymbolRecord symbol;
  symbol.addr = in.Read<uint64_t>("address");
  symbol.length = in.Read<uint32_t>("length");
  symbol.ksym_type = in.Read<uint16_t>("type");
  symbol.unregister = (in.Read<uint16_t>("flags") & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) != 0;
  symbol.name = in.ReadCString();
  return symbol;
}

RecordBody ReadBpfEvent(FieldReader& in, const RawRecord&, const SampleLayout&) {
  BpfEventRecord bpf;
  bpf.event = in.Read<uint16_t>("type");
  bpf.flags = in.Read<uint16_t>("flags");
  bpf.id = in.Read<uint32_t>("program id");
  bpf.tag = in.ReadBytes(kBpfTagSize, "tag");
  return bpf;
}

RecordBody ReadCgroup(FieldReader& in, const RawRecord&, const SampleLayout&) {
  const uint64_t id = in.Read<uint64_t>("id");
  return CgroupRecord{id, in.ReadCString()};
}

RecordBody ReadTextPoke(FieldReader& in, const RawRecord&, const SampleLayout&) {
  TextPokeRecord poke;
  poke.addr = in.Read<uint64_t>("address");
  const uint16_t old_size = in.Read<uint16_t>("old length"), new_size = in.Read<uint16_t>("new length");
  poke.old_bytes = in.ReadBytes(old_size, "old bytes");
  poke.new_bytes = in.ReadBytes(new_size, "new bytes");
  return poke;
}

template <typename Empty>
RecordBody ReadEmpty(FieldReader&, const RawRecord&, const SampleLayout&) {
  return Empty{};
}

// ---- The table ----------------------------------------------------------------------------------------

using BodyReader = RecordBody (*)(FieldReader&, const RawRecord&, const SampleLayout&);

constexpr auto kBodyReaders = [] {
  std::array<BodyReader, kRecordCompressed2> readers{};
  readers[PERF_RECORD_MMAP] = ReadMmap;
  readers[PERF_RECORD_LOST] = ReadLost;
  readers[PERF_RECORD_COMM] = ReadComm;
  readers[PERF_RECORD_EXIT] = ReadForkOrExit<ExitRecord>;
  readers[PERF_RECORD_THROTTLE] = ReadThrottle;
  readers[PERF_RECORD_UNTHROTTLE] = ReadThrottle;
  readers[PERF_RECORD_FORK] = ReadForkOrExit<ForkRecord>;
  readers[PERF_RECORD_READ] = ReadRead;
  readers[PERF_RECORD_SAMPLE] = ReadSample;
  readers[PERF_RECORD_MMAP2] = ReadMmap2;
  readers[PERF_RECORD_LOST_SAMPLES] = ReadLostSamples;
  readers[PERF_RECORD_SWITCH] = ReadSwitch;
  readers[PERF_RECORD_SWITCH_CPU_WIDE] = ReadSwitch;
  readers[PERF_RECORD_NAMESPACES] = ReadNamespaces;
  readers[PERF_RECORD_KSYMBOL] = ReadKsymbol;
  readers[PERF_RECORD_BPF_EVENT] = ReadBpfEvent;
  readers[PERF_RECORD_CGROUP] = ReadCgroup;
  readers[PERF_RECORD_TEXT_POKE] = ReadTextPoke;
  readers[kRecordFinishedRound] = ReadEmpty<FinishedRoundRecord>;
  readers[kRecordFinishedInit] = ReadEmpty<FinishedInitRecord>;
  return readers;
}();

BodyReader ReaderOf(uint32_t type) {
  return type < kBodyReaders.size() ? kBodyReaders[type] : nullptr;
}

// The kernel ends every record in a trailer but a sample; perf's tools do so for kernel types they
// synthesise.
size_t TrailerSize(uint32_t type, const SampleLayout& layout) {
  return type == PERF_RECORD_SAMPLE || type >= kFirstToolRecord ? 0 : layout.trailer_size();
}

}  // namespace

absl::StatusOr<Record> DecodeRecord(const RawRecord& raw, const SampleLayout& layout) {
  const BodyReader read_body = ReaderOf(raw.type);
  const size_t trailer = TrailerSize(raw.type, layout);
  if (raw.bytes.size() < kRecordHeaderSize + trailer) {
    if (read_body == nullptr) return Record{{}, UnknownRecord{raw.type}};
    return absl::DataLossError(StrCat("decode ", RecordTypeName(raw.type), " record at ", raw.offset,
                                      ": its size of ", raw.bytes.size(), " has no room for the ", trailer,
                                      " bytes of its trailer"));
  }
  Record record;
  if (trailer > 0) record.id = ReadTrailer(raw.bytes.last(trailer), layout.sample_type());
  if (read_body == nullptr) {
    record.body = UnknownRecord{raw.type};
    return record;
  }
  const size_t body_size = raw.bytes.size() - kRecordHeaderSize - trailer;
  FieldReader in(raw.bytes.subspan(kRecordHeaderSize, body_size), kRecordHeaderSize);
  record.body = read_body(in, raw, layout);
  if (!in.ok()) return in.Malformed(RecordTypeName(raw.type), raw.offset);
  return record;
}

ReadValue DecodeReadValue(const ReadValues& values, uint64_t read_format, uint64_t i) {
  const ReadFormat format(read_format);
  ByteReader in(values.values);
  in.Skip(format.group ? i * format.bytes_per_value() : 0);
  ReadValue value;
  value.value = in.Read<uint64_t>();
  if (!format.group) in.Skip(format.bytes_of_times());
  if (format.id) value.id = in.Read<uint64_t>();
  if (format.lost) value.lost = in.Read<uint64_t>();
  return value;
}

std::vector<BranchEntry> DecodeBranchStack(const SampleRecord& sample, const SampleLayout& layout) {
  ByteReader in(sample.branch_stack);
  const uint64_t count = in.Read<uint64_t>();
  if (layout.branch_sample_type() & PERF_SAMPLE_BRANCH_HW_INDEX) in.Skip(sizeof(uint64_t));
  std::vector<BranchEntry> entries;
  if (!in.ok() || count > in.remaining() / sizeof(BranchEntry)) return entries;
  entries.reserve(static_cast<size_t>(count));
  for (uint64_t i = 0; i < count; ++i) entries.push_back(in.Read<BranchEntry>());
  return entries;
}

std::string RecordTypeName(uint32_t type) {
  for (const auto& [number, name] : kTypeNames) {
    if (number == type) return std::string(name);
  }
  return StrCat("type ", type);
}

}  // namespace ksamp
