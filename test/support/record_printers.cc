// SPDX-License-Identifier: Apache-2.0
#include "test/support/record_printers.h"

#include <cstdio>
#include <span>

#include "lib/base/str_cat.h"

namespace ksamp::testing {
namespace {

class Printer {
 public:
  explicit Printer(std::string_view kind) : text_(kind) {}
  std::string text() const { return text_; }

  Printer& Field(std::string_view name, uint64_t value) {
    StrAppend(&text_, " ", name, "=", value);
    return *this;
  }
  Printer& Field(std::string_view name, CpuMode mode) { return Field(name, static_cast<uint64_t>(mode)); }
  Printer& Field(std::string_view name, std::string_view value) {
    StrAppend(&text_, " ", name, "=\"", value, "\"");
    return *this;
  }
  template <typename T>
  Printer& Field(std::string_view name, const std::optional<T>& value) {
    return value ? Field(name, uint64_t{*value}) : *this;
  }
  Printer& Field(std::string_view name, std::span<const std::byte> bytes) {
    StrAppend(&text_, " ", name, "=[", bytes.size(), ":");
    for (const std::byte byte : bytes) {
      char digits[3];
      std::snprintf(digits, sizeof(digits), "%02x", std::to_integer<unsigned>(byte));
      text_ += digits;
    }
    text_ += "]";
    return *this;
  }
  Printer& Field(std::string_view name, std::span<const uint64_t> words) {
    StrAppend(&text_, " ", name, "=[");
    for (const uint64_t word : words) StrAppend(&text_, word, " ");
    text_ += "]";
    return *this;
  }
  Printer& Field(std::string_view name, const ReadValues& read) {
    return Field(StrCat(name, ".count"), read.count)
        .Field(StrCat(name, ".enabled"), read.time_enabled)
        .Field(StrCat(name, ".running"), read.time_running)
        .Field(StrCat(name, ".values"), read.values);
  }
  Printer& Field(std::string_view name, const UserRegs& regs) {
    return Field(StrCat(name, ".abi"), regs.abi)
        .Field(StrCat(name, ".mask"), regs.mask)
        .Field(StrCat(name, ".values"), regs.values);
  }

 private:
  std::string text_;
};

struct BodyPrinter {
  Printer operator()(const SampleRecord& s) const {
    Printer out("sample");
    out.Field("mode", s.mode).Field("exact", s.exact_ip).Field("identifier", s.identifier).Field("ip", s.ip);
    out.Field("pid", s.pid).Field("tid", s.tid).Field("time", s.time).Field("addr", s.addr).Field("id", s.id);
    out.Field("stream", s.stream_id).Field("cpu", s.cpu).Field("period", s.period);
    if (s.read) out.Field("read", *s.read);
    out.Field("callchain", s.callchain).Field("raw", s.raw).Field("branches", s.branch_stack);
    out.Field("user", s.user_regs).Field("stack", s.user_stack).Field("weight", s.weight);
    out.Field("data_src", s.data_src).Field("transaction", s.transaction).Field("intr", s.intr_regs);
    out.Field("phys", s.phys_addr).Field("cgroup", s.cgroup).Field("data_page", s.data_page_size);
    return out.Field("code_page", s.code_page_size).Field("aux", s.aux);
  }
  Printer operator()(const MmapRecord& m) const {
    Printer out("mmap");
    out.Field("mode", m.mode).Field("data", m.is_data).Field("has_protection", m.has_protection);
    out.Field("pid", m.pid).Field("tid", m.tid).Field("addr", m.addr).Field("length", m.length);
    out.Field("offset", m.file_offset).Field("maj", m.maj).Field("min", m.min).Field("inode", m.inode);
    out.Field("generation", m.inode_generation).Field("build_id", std::as_bytes(m.build_id.bytes));
    return out.Field("protection", m.protection).Field("flags", m.flags).Field("path", m.path);
  }
  Printer operator()(const CommRecord& c) const {
    return Printer("comm")
        .Field("pid", c.pid)
        .Field("tid", c.tid)
        .Field("exec", c.exec)
        .Field("comm", c.comm);
  }
  template <typename ForkOrExit>
  static Printer PrintFork(std::string_view kind, const ForkOrExit& f) {
    return Printer(kind)
        .Field("pid", f.pid)
        .Field("ppid", f.ppid)
        .Field("tid", f.tid)
        .Field("ptid", f.ptid)
        .Field("time", f.time);
  }
  Printer operator()(const ForkRecord& f) const { return PrintFork("fork", f); }
  Printer operator()(const ExitRecord& e) const { return PrintFork("exit", e); }
  Printer operator()(const LostRecord& l) const {
    return Printer("lost").Field("id", l.id).Field("lost", l.lost);
  }
  Printer operator()(const LostSamplesRecord& l) const {
    return Printer("lost_samples").Field("lost", l.lost).Field("by_filter", l.by_filter);
  }
  Printer operator()(const ThrottleRecord& t) const {
    return Printer(t.throttled ? "throttle" : "unthrottle")
        .Field("time", t.time)
        .Field("id", t.id)
        .Field("stream", t.stream_id);
  }
  Printer operator()(const SwitchRecord& s) const {
    return Printer("switch")
        .Field("out", s.out)
        .Field("preempt", s.preempt)
        .Field("other_pid", s.other_pid)
        .Field("other_tid", s.other_tid);
  }
  Printer operator()(const ReadRecord& r) const {
    return Printer("read").Field("pid", r.pid).Field("tid", r.tid).Field("values", r.values);
  }
  Printer operator()(const NamespacesRecord& n) const {
    return Printer("namespaces").Field("pid", n.pid).Field("tid", n.tid).Field("pairs", n.dev_inode_pairs);
  }
  Printer operator()(const KsymbolRecord& k) const {
    return Printer("ksymbol")
        .Field("addr", k.addr)
        .Field("length", k.length)
        .Field("type", k.ksym_type)
        .Field("unregister", k.unregister)
        .Field("name", k.name);
  }
  Printer operator()(const BpfEventRecord& b) const {
    return Printer("bpf")
        .Field("event", b.event)
        .Field("flags", b.flags)
        .Field("id", b.id)
        .Field("tag", b.tag);
  }
  Printer operator()(const CgroupRecord& c) const {
    return Printer("cgroup").Field("id", c.id).Field("path", c.path);
  }
  Printer operator()(const TextPokeRecord& t) const {
    return Printer("text_poke").Field("addr", t.addr).Field("old", t.old_bytes).Field("new", t.new_bytes);
  }
  Printer operator()(const FinishedRoundRecord&) const { return Printer("finished_round"); }
  Printer operator()(const FinishedInitRecord&) const { return Printer("finished_init"); }
  Printer operator()(const UnknownRecord& u) const { return Printer("unknown").Field("type", u.type); }
};

}  // namespace

std::string PrintRecord(const Record& record) {
  Printer out = std::visit(BodyPrinter{}, record.body);
  const SampleId& id = record.id;
  out.Field("| id.pid", id.pid).Field("id.tid", id.tid).Field("id.time", id.time).Field("id.id", id.id);
  return out.Field("id.stream", id.stream_id).Field("id.cpu", id.cpu).text();
}

}  // namespace ksamp::testing
