// SPDX-License-Identifier: Apache-2.0
// opreport's call graph (-c) from whole stacks, and the list of functions with what they call (--children).
//
// A block is a function between its callers (hottest last) and its callees (hottest first, with itself as
// [self]). Shares of callers and callees are of the lines above and below, so they are 100 % together.
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "lib/base/text.h"
#include "lib/report/call_tree.h"
#include "lib/report/header.h"
#include "lib/report/writers.h"

namespace ksamp {
namespace {

constexpr size_t kRuleWidth = 79, kIndent = 2;

class CallGraphReport {
 public:
  CallGraphReport(const Profile& profile, uint32_t event, const ReportOptions& options, TextSink& out)
      : profile_(profile),
        event_(event),
        options_(options),
        out_(out),
        functions_(profile, options),
        tree_(CallTree::FromRoots(profile, functions_)),
        arcs_(tree_, functions_.size()) {}

  void WriteBlocks() {
    AddColumns({"samples", "%"});
    const std::vector<uint32_t> shown = Functions([&](uint32_t f) { return Value(arcs_.Self(f)); });
    WriteHeader(shown);
    if (options_.header) WriteRule();
    for (const uint32_t function : shown) {
      WriteBlock(function);
      WriteRule();
      if (!out_.MaybeFlush()) return;
    }
  }

  void WriteChildren() {
    AddColumns({"samples", "%", "self", "self %"});
    const std::vector<uint32_t> shown = Functions([&](uint32_t f) { return Value(arcs_.Total(f)); });
    WriteHeader(shown);
    for (const uint32_t function : shown) {
      BeginLine(function, 0);
      table_.Number(arcs_.Total(function).samples);
      table_.Percent(Share(Value(arcs_.Total(function)), Whole()));
      table_.Number(arcs_.Self(function).samples);
      table_.Percent(Share(Value(arcs_.Self(function)), Whole()));
      EndLine(function);
      if (!out_.MaybeFlush()) return;
    }
  }

 private:
  struct Line {
    uint32_t function = 0;
    Counts counts;
    bool self = false;
  };

  uint64_t Value(const Counts& counts) const {
    return profile_.events[event_].frequency_mode ? counts.period : counts.samples;
  }
  uint64_t Whole() const { return Value(tree_.Get(CallTree::kAll).total); }

  void AddColumns(std::initializer_list<const char*> numbers) {
    uint64_t addresses = 0;
    for (uint32_t f = 0; f < functions_.size(); ++f) addresses |= functions_.Get(f).vma;
    digits_ = addresses >> 32 != 0 ? 16 : 8;
    if (options_.show_address) table_.AddColumn("vma", digits_ + 1);
    for (const char* title : numbers) table_.AddColumn(title, 9);
    table_.AddColumn("image name", 25);
    table_.AddColumn("symbol name", 30);
  }

  void WriteHeader(const std::vector<uint32_t>& shown) {
    if (!options_.header) return;
    uint64_t below_threshold = tree_.Get(CallTree::kAll).total.samples;
    for (const uint32_t function : shown) below_threshold -= arcs_.Self(function).samples;
    AppendHeader(ReportView(profile_, options_, RowUnit::kImage, Layout::kByImage), below_threshold,
                 out_.text());
    table_.Header(out_.text());
  }
  void WriteRule() { out_.text()->append(kRuleWidth, '-').push_back('\n'); }

  void BeginLine(uint32_t function, size_t indent) {
    table_.Begin(out_.text(), indent);
    if (options_.show_address) table_.Address(functions_.Get(function).vma, digits_);
  }
  void EndLine(uint32_t function, const char* mark = "") {
    table_.Cell(EscapeForTerminal(functions_.ImageName(function)));
    table_.Cell(EscapeForTerminal(functions_.Name(function)) + mark);
    table_.End();
  }

  // Functions of stacks that reach the threshold by `value_of`, in order.
  template <typename ValueOf>
  std::vector<uint32_t> Functions(ValueOf value_of) const {
    std::vector<uint32_t> list;
    for (uint32_t f = 0; f < functions_.size(); ++f) {
      const bool label = functions_.Get(f).kind == FunctionKind::kLabel;
      if (!label && arcs_.Total(f).samples > 0 && Share(value_of(f), Whole()) >= options_.threshold)
        list.push_back(f);
    }
    std::stable_sort(list.begin(), list.end(), [&](uint32_t a, uint32_t b) {
      if (options_.reverse) std::swap(a, b);
      return Precedes(a, b, value_of(a), value_of(b));
    });
    return list;
  }

  bool Precedes(uint32_t a, uint32_t b, uint64_t value_a, uint64_t value_b) const {
    for (const SortKey key : options_.sort) {
      const int order = Compare(key, a, b, value_a, value_b);
      if (order != 0) return order < 0;
    }
    for (const SortKey key : {SortKey::kSample, SortKey::kImage, SortKey::kSymbol, SortKey::kVma}) {
      const int order = Compare(key, a, b, value_a, value_b);
      if (order != 0) return order < 0;
    }
    return false;
  }
  int Compare(SortKey key, uint32_t a, uint32_t b, uint64_t value_a, uint64_t value_b) const {
    const auto three_way = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
    switch (key) {
      case SortKey::kSample:
        return three_way(value_b, value_a);  // The largest first.
      case SortKey::kImage:
        return functions_.ImageName(a).compare(functions_.ImageName(b));
      case SortKey::kSymbol:
        return functions_.Name(a).compare(functions_.Name(b));
      case SortKey::kVma:
        return three_way(functions_.Get(a).vma, functions_.Get(b).vma);
      default:
        return 0;
    }
  }

  void WriteBlock(uint32_t function) {
    std::vector<Line> callers, callees;
    for (const CallArc& arc : arcs_.CallersOf(function))
      if (functions_.Get(arc.caller).kind != FunctionKind::kLabel)
        callers.push_back({arc.caller, arc.counts});
    for (const CallArc& arc : arcs_.CalleesOf(function)) callees.push_back({arc.callee, arc.counts});
    callees.push_back({function, arcs_.Self(function), true});
    WriteLines(callers, true);
    BeginLine(function, 0);
    table_.Number(arcs_.Self(function).samples);
    table_.Percent(Share(Value(arcs_.Self(function)), Whole()));
    EndLine(function);
    WriteLines(callees, false);
  }

  void WriteLines(std::vector<Line>& lines, bool hottest_last) {
    uint64_t sum = 0;
    for (const Line& line : lines) sum += Value(line.counts);
    std::stable_sort(lines.begin(), lines.end(), [&](const Line& a, const Line& b) {
      const Line &first = hottest_last ? b : a, &second = hottest_last ? a : b;
      return Precedes(first.function, second.function, Value(first.counts), Value(second.counts));
    });
    for (const Line& line : lines) {
      const double of_block = Share(Value(line.counts), sum);
      if (of_block < options_.threshold) continue;
      BeginLine(line.function, kIndent);
      table_.Number(line.counts.samples);
      table_.Percent(options_.global_percent ? Share(Value(line.counts), Whole()) : of_block);
      EndLine(line.function, line.self ? " [self]" : "");
    }
  }

  const Profile& profile_;
  const uint32_t event_;
  const ReportOptions& options_;
  TextSink& out_;
  FunctionTable functions_;
  const CallTree tree_;
  const CallArcs arcs_;
  TextTable table_;
  size_t digits_ = 8;
};

}  // namespace

void WriteCallGraph(const Profile& profile, uint32_t event, const ReportOptions& options, TextSink& out) {
  CallGraphReport(profile, event, options, out).WriteBlocks();
}

void WriteChildren(const Profile& profile, uint32_t event, const ReportOptions& options, TextSink& out) {
  CallGraphReport(profile, event, options, out).WriteChildren();
}

}  // namespace ksamp
