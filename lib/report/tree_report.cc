// SPDX-License-Identifier: Apache-2.0
// Trees of calls as indented text: from the outermost function inwards (--caller), from the sampled function
// outwards (--callee), and both around one function (--call-graph-of).
//
// What a node's children below the threshold sum up to is one line, so every node is its self and the lines
// one step below it.
#include <algorithm>
#include <string>
#include <vector>

#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "lib/report/call_tree.h"
#include "lib/report/header.h"
#include "lib/report/writers.h"

namespace ksamp {
namespace {

constexpr uint32_t kMaxIndent = 100;  // levels; deeper ones (recursion) stand below each other
constexpr size_t kIndent = 2;

class TreeReport {
 public:
  TreeReport(const Profile& profile, uint32_t event, const ReportOptions& options, TextSink& out)
      : profile_(profile), event_(event), options_(options), out_(out) {}

  void WriteHeader() {
    if (options_.header)
      AppendHeader(ReportView(profile_, options_, RowUnit::kImage, Layout::kByImage), 0, out_.text());
  }

  // `ends` is the title of the column of what ends at a node.
  void Write(const CallTree& tree, const FunctionTable& functions, const char* ends, const Counts& whole) {
    TextTable table;
    for (const char* title : {"samples", "%", ends}) table.AddColumn(title, 9);
    table.AddColumn("image name", 25);
    table.AddColumn("symbol name", 30);
    if (options_.header) table.Header(out_.text());
    const uint64_t base = Value(whole);
    std::vector<Item> waiting;
    PushChildren(tree, CallTree::kAll, base, waiting);
    while (!waiting.empty()) {
      const Item item = waiting.back();
      waiting.pop_back();
      const bool rest = item.hidden > 0;
      table.Begin(out_.text());
      table.Number(item.total.samples);
      table.Percent(Share(Value(item.total), base));
      table.Number(rest ? item.total.samples : tree.Get(item.node).self.samples);
      table.Cell(rest ? "" : EscapeForTerminal(functions.ImageName(tree.Get(item.node).function)));
      std::string name(kIndent * (std::min(item.depth, kMaxIndent) - 1), ' ');
      StrAppend(&name, rest ? StrCat("[", item.hidden, " below the threshold]")
                            : EscapeForTerminal(functions.Name(tree.Get(item.node).function)));
      table.Cell(name);
      table.End();
      if (!out_.MaybeFlush()) return;
      if (!rest) PushChildren(tree, item.node, base, waiting);
    }
  }

  void WriteTitle(const std::string& title) { StrAppend(out_.text(), title, "\n"); }

 private:
  // A node to be written, or what `hidden` nodes are together.
  struct Item {
    uint32_t node = 0, depth = 0;
    size_t hidden = 0;
    Counts total;
  };

  uint64_t Value(const Counts& counts) const {
    return profile_.events[event_].frequency_mode ? counts.period : counts.samples;
  }

  // The hottest child is to be written next, so it is pushed last.
  void PushChildren(const CallTree& tree, uint32_t node, uint64_t base, std::vector<Item>& waiting) const {
    const size_t begin = waiting.size();
    Item rest{.depth = tree.Get(node).depth + 1};
    for (const uint32_t child : tree.ChildrenOf(node)) {
      const Counts& total = tree.Get(child).total;
      if (Share(Value(total), base) < options_.threshold) {
        ++rest.hidden;
        rest.total += total;
      } else {
        waiting.push_back({.node = child, .depth = rest.depth, .total = total});
      }
    }
    const auto first = waiting.begin() + static_cast<std::ptrdiff_t>(begin);
    std::sort(first, waiting.end(), [&](const Item& a, const Item& b) {
      const uint64_t value_a = Value(a.total), value_b = Value(b.total);
      return value_a != value_b ? value_a < value_b : a.node > b.node;
    });
    if (rest.hidden > 0) waiting.insert(waiting.begin() + static_cast<std::ptrdiff_t>(begin), rest);
  }

  const Profile& profile_;
  const uint32_t event_;
  const ReportOptions& options_;
  TextSink& out_;
};

}  // namespace

void WriteCallerTree(const Profile& profile, uint32_t event, const ReportOptions& options, TextSink& out) {
  FunctionTable functions(profile, options);
  const CallTree tree = CallTree::FromRoots(profile, functions);
  TreeReport report(profile, event, options, out);
  report.WriteHeader();
  report.Write(tree, functions, "self", tree.Get(CallTree::kAll).total);
}

void WriteCalleeTree(const Profile& profile, uint32_t event, const ReportOptions& options, TextSink& out) {
  FunctionTable functions(profile, options);
  const CallTree from_roots = CallTree::FromRoots(profile, functions);
  const CallTree tree = CallTree::FromLeaves(from_roots);
  TreeReport report(profile, event, options, out);
  report.WriteHeader();
  report.Write(tree, functions, "root", tree.Get(CallTree::kAll).total);
}

absl::Status WriteCallGraphOf(const Profile& profile, uint32_t event, const ReportOptions& options,
                              TextSink& out) {
  FunctionTable functions(profile, options);
  const CallTree from_roots = CallTree::FromRoots(profile, functions);
  std::vector<bool> asked(functions.size());
  for (uint32_t f = 0; f < functions.size(); ++f) asked[f] = functions.IsNamed(f, options.symbol);
  CallTree callers, callees;
  std::vector<uint32_t> path, inwards;
  for (uint32_t node = 1; node < from_roots.size(); ++node) {
    const Counts& counts = from_roots.Get(node).self;
    if (counts.samples == 0) continue;
    from_roots.PathOf(node, path);
    const auto is_asked = [&asked](uint32_t function) { return asked[function]; };
    const auto innermost = std::find_if(path.begin(), path.end(), is_asked);
    if (innermost == path.end()) continue;
    const auto outermost = std::find_if(path.rbegin(), path.rend(), is_asked);
    callers.Add({innermost, path.end()}, counts);
    inwards.assign(outermost, path.rend());
    callees.Add(inwards, counts);
  }
  callers.Finish();
  callees.Finish();
  const Counts& total = callers.Get(CallTree::kAll).total;
  if (total.samples == 0)
    return absl::NotFoundError(StrCat("call graph of ", options.symbol, ": no stack holds this function"));
  const Counts& whole = options.global_percent ? from_roots.Get(CallTree::kAll).total : total;
  TreeReport report(profile, event, options, out);
  report.WriteHeader();
  report.WriteTitle(StrCat("Called by, from ", EscapeForTerminal(options.symbol), " outwards:"));
  report.Write(callers, functions, "root", whole);
  report.WriteTitle(StrCat("\nCalls, from ", EscapeForTerminal(options.symbol), " inwards:"));
  report.Write(callees, functions, "self", whole);
  return absl::OkStatus();
}

}  // namespace ksamp
