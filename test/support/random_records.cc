// SPDX-License-Identifier: Apache-2.0
#include "test/support/random_records.h"

#include <bit>
#include <cstring>

#include "lib/event/perf_constants.h"
#include "lib/event/read_format.h"

namespace ksamp::testing {

perf_event_attr RandomRecords::Attr() {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.sample_type = random_() % PERF_SAMPLE_MAX;
  attr.read_format = random_() % PERF_FORMAT_MAX;
  attr.sample_regs_user = random_() & random_();
  attr.sample_regs_intr = random_() & random_();
  attr.sample_id_all = Flag();
  if (Flag()) attr.branch_sample_type |= PERF_SAMPLE_BRANCH_HW_INDEX;
  if (Flag()) attr.branch_sample_type |= kSampleBranchCounters;
  return attr;
}

uint64_t RandomRecords::Number() {
  switch (Below(4)) {
    case 0:
      return Below(3);
    case 1:
      return ~uint64_t{0} - Below(3);
    default:
      return random_();
  }
}

std::span<const uint64_t> RandomRecords::Words(size_t count) {
  std::vector<uint64_t>& words = words_.emplace_back(count);
  for (uint64_t& word : words) word = Number();
  return words;
}

std::span<const std::byte> RandomRecords::Bytes(size_t size) {
  return std::as_bytes(Words((size + 7) / 8)).first(size);
}

std::string_view RandomRecords::Text() {
  std::string& text = texts_.emplace_back(Below(40), ' ');
  for (char& c : text) c = static_cast<char>(1 + Below(255));
  return text;
}

ReadValues RandomRecords::Read(uint64_t read_format) {
  const ReadFormat format(read_format);
  ReadValues read;
  if (format.group) {
    read.count = Below(5);
    if (format.enabled) read.time_enabled = Number();
    if (format.running) read.time_running = Number();
    read.values = Bytes(read.count * format.bytes_per_value());
    return read;
  }
  read.count = 1;
  read.values = Bytes(format.single_bytes());
  const auto word = [&](size_t i) {
    uint64_t value;
    std::memcpy(&value, read.values.data() + 8 * i, sizeof(value));
    return value;
  };
  if (format.enabled) read.time_enabled = word(1);
  if (format.running) read.time_running = word(format.enabled ? 2 : 1);
  return read;
}

UserRegs RandomRecords::Regs(uint64_t mask) {
  if (Below(4) == 0) return {};
  return {PERF_SAMPLE_REGS_ABI_64, mask, Words(static_cast<size_t>(std::popcount(mask)))};
}

std::span<const std::byte> RandomRecords::BranchStack(uint64_t branch_sample_type) {
  const size_t count = Below(5);
  if (count == 0) return {};
  const size_t head = branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX ? 2 : 1;
  const size_t per_entry = branch_sample_type & kSampleBranchCounters ? 4 : 3;
  const std::span<const std::byte> bytes = Bytes(8 * (head + count * per_entry));
  words_.back()[0] = count;
  return bytes;
}

SampleId RandomRecords::Id(const SampleLayout& layout) {
  SampleId id;
  if (!layout.sample_id_all()) return id;
  const uint64_t asked = layout.sample_type();
  if (asked & PERF_SAMPLE_TID) {
    id.pid = Number32();
    id.tid = Number32();
  }
  if (asked & PERF_SAMPLE_TIME) id.time = Number();
  if (asked & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER)) id.id = Number();
  if (asked & PERF_SAMPLE_STREAM_ID) id.stream_id = Number();
  if (asked & PERF_SAMPLE_CPU) id.cpu = Number32();
  return id;
}

void RandomRecords::FillVariableFields(const SampleLayout& layout, SampleRecord& sample) {
  const uint64_t asked = layout.sample_type();
  if (asked & PERF_SAMPLE_READ) sample.read = Read(layout.read_format());
  if (asked & PERF_SAMPLE_CALLCHAIN) sample.callchain = Words(Below(20));
  if (asked & PERF_SAMPLE_RAW) sample.raw = Bytes(4 + 8 * Below(4));
  if (asked & PERF_SAMPLE_BRANCH_STACK) sample.branch_stack = BranchStack(layout.branch_sample_type());
  if (asked & PERF_SAMPLE_REGS_USER) sample.user_regs = Regs(layout.sample_regs_user());
  if (asked & PERF_SAMPLE_STACK_USER) sample.user_stack = Bytes(Below(50));
  if (asked & PERF_SAMPLE_WEIGHT_TYPE) sample.weight = Number();
  if (asked & PERF_SAMPLE_DATA_SRC) sample.data_src = Number();
  if (asked & PERF_SAMPLE_TRANSACTION) sample.transaction = Number();
  if (asked & PERF_SAMPLE_REGS_INTR) sample.intr_regs = Regs(layout.sample_regs_intr());
  if (asked & PERF_SAMPLE_PHYS_ADDR) sample.phys_addr = Number();
  if (asked & PERF_SAMPLE_CGROUP) sample.cgroup = Number();
  if (asked & PERF_SAMPLE_DATA_PAGE_SIZE) sample.data_page_size = Number();
  if (asked & PERF_SAMPLE_CODE_PAGE_SIZE) sample.code_page_size = Number();
  if (asked & PERF_SAMPLE_AUX) sample.aux = Bytes(8 * Below(4));
}

SampleRecord RandomRecords::Sample(const SampleLayout& layout) {
  const uint64_t asked = layout.sample_type();
  SampleRecord sample;
  sample.mode = Mode();
  sample.exact_ip = Flag();
  if (asked & PERF_SAMPLE_IDENTIFIER) sample.identifier = Number();
  if (asked & PERF_SAMPLE_IP) sample.ip = Number();
  if (asked & PERF_SAMPLE_TID) {
    sample.pid = Number32();
    sample.tid = Number32();
  }
  if (asked & PERF_SAMPLE_TIME) sample.time = Number();
  if (asked & PERF_SAMPLE_ADDR) sample.addr = Number();
  if (asked & PERF_SAMPLE_ID) sample.id = Number();
  if (asked & PERF_SAMPLE_STREAM_ID) sample.stream_id = Number();
  if (asked & PERF_SAMPLE_CPU) sample.cpu = Number32();
  if (asked & PERF_SAMPLE_PERIOD) sample.period = Number();
  FillVariableFields(layout, sample);
  return sample;
}

MmapRecord RandomRecords::Mmap() {
  MmapRecord map;
  map.mode = Mode();
  map.is_data = Flag();
  map.pid = Number32();
  map.tid = Number32();
  map.addr = Number();
  map.length = Number();
  map.file_offset = Number();
  map.path = Text();
  map.has_protection = Flag();
  if (!map.has_protection) return map;
  map.protection = Number32();
  map.flags = Number32();
  if (Flag()) {
    const std::span<const std::byte> bytes = Bytes(1 + Below(kMaxBuildIdSize));
    map.build_id.bytes = {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
    return map;
  }
  map.maj = Number32();
  map.min = Number32();
  map.inode = Number();
  map.inode_generation = Number();
  return map;
}

SwitchRecord RandomRecords::Switch() {
  SwitchRecord record{Flag(), Flag(), {}, {}};
  if (Flag()) {
    record.other_pid = Number32();
    record.other_tid = Number32();
  }
  return record;
}

RecordBody RandomRecords::Body(size_t kind, const SampleLayout& layout) {
  const auto number16 = [this] { return static_cast<uint16_t>(Number()); };
  switch (kind) {
    case 0:
      return Sample(layout);
    case 1:
      return Mmap();
    case 2:
      return CommRecord{Number32(), Number32(), Flag(), Text()};
    case 3:
      return ForkRecord{Number32(), Number32(), Number32(), Number32(), Number()};
    case 4:
      return ExitRecord{Number32(), Number32(), Number32(), Number32(), Number()};
    case 5:
      return LostRecord{Number(), Number()};
    case 6:
      return LostSamplesRecord{Number(), Flag()};
    case 7:
      return ThrottleRecord{Flag(), Number(), Number(), Number()};
    case 8:
      return Switch();
    case 9:
      return ReadRecord{Number32(), Number32(), Read(layout.read_format())};
    case 10:
      return NamespacesRecord{Number32(), Number32(), Words(2 * Below(8))};
    case 11:
      return KsymbolRecord{Number(), Number32(), number16(), Flag(), Text()};
    case 12:
      return BpfEventRecord{number16(), number16(), Number32(), Bytes(kBpfTagSize)};
    case 13:
      return CgroupRecord{Number(), Text()};
    case 14:
      return TextPokeRecord{Number(), Bytes(Below(20)), Bytes(Below(20))};
    case 15:
      return FinishedRoundRecord{};
    default:
      return FinishedInitRecord{};
  }
}

Record RandomRecords::Make(size_t kind, const SampleLayout& layout) {
  Record record;
  record.body = Body(kind, layout);
  const bool has_trailer = kind != 0 && kind < 15;
  if (has_trailer) record.id = Id(layout);
  return record;
}

}  // namespace ksamp::testing
