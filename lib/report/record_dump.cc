// SPDX-License-Identifier: Apache-2.0
#include <linux/perf_event.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ksamp/dump.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "lib/event/record_decoder.h"
#include "lib/event/sample_layout.h"
#include "lib/report/line_buffer.h"

namespace ksamp {
namespace {

constexpr size_t kHeaderBytes = 8;

std::string_view Text(CpuMode mode) {
  static constexpr std::array<std::string_view, 6> kTexts = {"unknown",    "kernel",       "user",
                                                             "hypervisor", "guest_kernel", "guest_user"};
  const auto at = static_cast<size_t>(mode);
  return at < kTexts.size() ? kTexts[at] : "?";
}

// One record's fields, in the order of the record.
class RecordWriter {
 public:
  RecordWriter(const Recording& recording, std::ostream& out) : recording_(recording), line_(out) {
    for (const EventDescription& event : recording.events()) {
      absl::StatusOr<SampleLayout> layout = SampleLayout::FromAttr(event.attr);
      layouts_.push_back(layout.ok() ? *std::move(layout) : SampleLayout());
    }
  }

  bool Write(const RawRecord& raw) {
    line_.Text("0x").Hex(raw.offset).Char(' ').Text(RecordTypeName(raw.type));
    Hexadecimal("misc", raw.misc);
    Number("size", raw.bytes.size());
    const absl::StatusOr<Record> record = recording_.Decode(raw);
    if (record.ok()) {
      event_ = recording_.EventOf(raw);
      raw_ = &raw;
      std::visit([this](const auto& body) { Fields(body); }, record->body);
      SampleIdFields(record->id);
    } else {
      line_.Text(" error=").Text(Quoted(MessageOf(record.status())));
    }
    line_.Char('\n');
    return line_.EndLine();
  }
  absl::Status Finish() { return line_.Finish(); }

 private:
  static std::string Quoted(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : EscapeForTerminal(text)) {
      if (c == '"') quoted.push_back('\\');
      quoted.push_back(c);
    }
    return quoted.append("\"");
  }

  void Name(std::string_view name) { line_.Char(' ').Text(name).Char('='); }
  void Number(std::string_view name, uint64_t value) {
    Name(name);
    line_.Dec(value);
  }
  void Signed(std::string_view name, uint32_t value) {  // pids: -1 is the kernel or an exiting task
    Name(name);
    line_.Dec(static_cast<int32_t>(value));
  }
  void Hexadecimal(std::string_view name, uint64_t value) {
    Name(name);
    line_.Text("0x").Hex(value);
  }
  void String(std::string_view name, std::string_view text) {
    Name(name);
    line_.Text(Quoted(text));
  }
  void Word(std::string_view name, std::string_view word) {
    Name(name);
    line_.Text(word);
  }
  void Bytes(std::string_view name, std::span<const std::byte> bytes) {
    Name(name);
    for (const std::byte byte : bytes) HexByte(static_cast<uint8_t>(byte));
  }
  void HexByte(uint8_t byte) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    line_.Char(kDigits[byte >> 4]).Char(kDigits[byte & 15]);
  }
  void Addresses(std::string_view name, std::span<const uint64_t> values) {
    Name(name);
    line_.Char('[');
    for (size_t i = 0; i < values.size(); ++i) line_.Text(i == 0 ? "0x" : ",0x").Hex(values[i]);
    line_.Char(']');
  }
  template <typename T>
  void OptionalNumber(std::string_view name, const std::optional<T>& value) {
    if (value) Number(name, *value);
  }
  template <typename T>
  void OptionalHex(std::string_view name, const std::optional<T>& value) {
    if (value) Hexadecimal(name, *value);
  }
  void Process(uint32_t pid, uint32_t tid) {
    Signed("pid", pid);
    Signed("tid", tid);
  }

  const SampleLayout& Layout() const {
    static const SampleLayout kNone;
    return event_ && *event_ < layouts_.size() ? layouts_[*event_] : kNone;
  }

  void SampleIdFields(const SampleId& id) {
    if (id.pid) Signed("id.pid", *id.pid);
    if (id.tid) Signed("id.tid", *id.tid);
    OptionalNumber("id.time", id.time);
    OptionalNumber("id.id", id.id);
    OptionalNumber("id.stream_id", id.stream_id);
    OptionalNumber("id.cpu", id.cpu);
  }

  void Fields(const SampleRecord& sample) {
    if (event_) String("event", recording_.events()[*event_].name);
    Word("mode", Text(sample.mode));
    if (sample.exact_ip) Word("exact", "1");
    OptionalNumber("identifier", sample.identifier);
    OptionalHex("ip", sample.ip);
    if (sample.pid) Signed("pid", *sample.pid);
    if (sample.tid) Signed("tid", *sample.tid);
    OptionalNumber("time", sample.time);
    OptionalHex("addr", sample.addr);
    OptionalNumber("id", sample.id);
    OptionalNumber("stream_id", sample.stream_id);
    OptionalNumber("cpu", sample.cpu);
    OptionalNumber("period", sample.period);
    if (sample.read) ReadFields(*sample.read);
    const uint64_t type = Layout().sample_type();
    if (type & PERF_SAMPLE_CALLCHAIN) Addresses("callchain", sample.callchain);
    if (!sample.raw.empty()) Bytes("raw", sample.raw);
    if (!sample.branch_stack.empty()) BranchFields(sample);
    RegisterFields("user_regs", sample.user_regs);
    if (!sample.user_stack.empty()) Number("user_stack_bytes", sample.user_stack.size());
    OptionalHex("weight", sample.weight);
    OptionalHex("data_src", sample.data_src);
    OptionalHex("transaction", sample.transaction);
    RegisterFields("intr_regs", sample.intr_regs);
    OptionalHex("phys_addr", sample.phys_addr);
    OptionalNumber("cgroup", sample.cgroup);
    OptionalNumber("data_page_size", sample.data_page_size);
    OptionalNumber("code_page_size", sample.code_page_size);
    if (!sample.aux.empty()) Number("aux_bytes", sample.aux.size());
  }

  void ReadFields(const ReadValues& read) {
    OptionalNumber("time_enabled", read.time_enabled);
    OptionalNumber("time_running", read.time_running);
    for (uint64_t i = 0; i < read.count; ++i) {
      const ReadValue value = DecodeReadValue(read, Layout().read_format(), i);
      Number("value", value.value);
      OptionalNumber("value.id", value.id);
      OptionalNumber("value.lost", value.lost);
    }
  }

  void BranchFields(const SampleRecord& sample) {
    Name("branches");
    line_.Char('[');
    bool first = true;
    for (const BranchEntry& branch : DecodeBranchStack(sample, Layout())) {
      line_.Text(std::exchange(first, false) ? "0x" : ",0x").Hex(branch.from);
      line_.Text("->0x").Hex(branch.to).Text("/0x").Hex(branch.flags);
    }
    line_.Char(']');
  }

  void RegisterFields(std::string_view name, const UserRegs& registers) {
    if (registers.abi == 0) return;
    Number(StrCat(name, ".abi"), registers.abi);
    Hexadecimal(StrCat(name, ".mask"), registers.mask);
    Addresses(name, registers.values);
  }

  void Fields(const MmapRecord& map) {
    Word("mode", Text(map.mode));
    if (map.is_data) Word("data", "1");
    Process(map.pid, map.tid);
    Hexadecimal("addr", map.addr);
    Hexadecimal("len", map.length);
    Hexadecimal("pgoff", map.file_offset);
    if (!map.build_id.bytes.empty()) {
      Bytes("build_id", std::as_bytes(map.build_id.bytes));
    } else if (map.has_protection) {
      Number("maj", map.maj);
      Number("min", map.min);
      Number("ino", map.inode);
      Number("ino_generation", map.inode_generation);
    }
    if (map.has_protection) {
      Hexadecimal("prot", map.protection);
      Hexadecimal("flags", map.flags);
    }
    String("filename", map.path);
  }
  void Fields(const CommRecord& comm) {
    Process(comm.pid, comm.tid);
    if (comm.exec) Word("exec", "1");
    String("comm", comm.comm);
  }
  template <typename ForkOrExit>
  void Lineage(const ForkOrExit& record) {
    Signed("pid", record.pid);
    Signed("ppid", record.ppid);
    Signed("tid", record.tid);
    Signed("ptid", record.ptid);
    Number("time", record.time);
  }
  void Fields(const ForkRecord& fork) { Lineage(fork); }
  void Fields(const ExitRecord& exit) { Lineage(exit); }
  void Fields(const LostRecord& lost) {
    Number("id", lost.id);
    Number("lost", lost.lost);
  }
  void Fields(const LostSamplesRecord& lost) {
    Number("lost", lost.lost);
    if (lost.by_filter) Word("by_filter", "1");
  }
  void Fields(const ThrottleRecord& throttle) {
    Number("time", throttle.time);
    Number("id", throttle.id);
    Number("stream_id", throttle.stream_id);
  }
  void Fields(const SwitchRecord& switched) {
    Word("direction", switched.out ? "out" : "in");
    if (switched.preempt) Word("preempt", "1");
    if (switched.other_pid) Signed("other_pid", *switched.other_pid);
    if (switched.other_tid) Signed("other_tid", *switched.other_tid);
  }
  void Fields(const ReadRecord& read) {
    Process(read.pid, read.tid);
    ReadFields(read.values);
  }
  void Fields(const NamespacesRecord& namespaces) {
    Process(namespaces.pid, namespaces.tid);
    Addresses("dev_inode", namespaces.dev_inode_pairs);
  }
  void Fields(const KsymbolRecord& symbol) {
    Hexadecimal("addr", symbol.addr);
    Number("len", symbol.length);
    Number("type", symbol.ksym_type);
    if (symbol.unregister) Word("unregister", "1");
    String("name", symbol.name);
  }
  void Fields(const BpfEventRecord& bpf) {
    Number("type", bpf.event);
    Number("flags", bpf.flags);
    Number("prog", bpf.id);
    Bytes("tag", bpf.tag);
  }
  void Fields(const CgroupRecord& cgroup) {
    Number("cgroup", cgroup.id);
    String("path", cgroup.path);
  }
  void Fields(const TextPokeRecord& poke) {
    Hexadecimal("addr", poke.addr);
    Bytes("old", poke.old_bytes);
    Bytes("new", poke.new_bytes);
  }
  void Fields(const FinishedRoundRecord&) {}
  void Fields(const FinishedInitRecord&) {}
  void Fields(const UnknownRecord&) {
    if (raw_->bytes.size() > kHeaderBytes) Bytes("payload", raw_->bytes.subspan(kHeaderBytes));
  }

  const Recording& recording_;
  LineBuffer line_;
  std::vector<SampleLayout> layouts_;
  std::optional<size_t> event_;     // of the record being written
  const RawRecord* raw_ = nullptr;  // likewise
};

}  // namespace

absl::Status WriteRecords(const Recording& recording, std::ostream& out) {
  RecordWriter writer(recording, out);
  bool more = true;
  for (const Recording::Chunk& chunk : recording.chunks()) {
    Recording::ForEachRecord(chunk, [&](const RawRecord& raw) { return more = writer.Write(raw); });
    if (!more) break;
  }
  return writer.Finish();
}

}  // namespace ksamp
