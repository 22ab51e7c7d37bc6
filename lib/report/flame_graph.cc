// SPDX-License-Identifier: Apache-2.0
// Flame graphs: one self-contained SVG. It shows without a script what it shows first; the script adds
// zooming, search with the share of what it found, and the state in the address.
//
// Frames too narrow to be seen are drawn together, with their number, as one; so a graph of a million stacks
// stays one that a browser can move.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "lib/report/call_tree.h"
#include "lib/report/flame_graph_script.h"
#include "lib/report/writers.h"

namespace ksamp {
namespace {

constexpr double kWidth = 1200, kMargin = 10, kInner = kWidth - 2 * kMargin, kFrameHeight = 17,
                 kHeaderHeight = 84, kFooterHeight = 8, kLetterWidth = 7.23;
constexpr double kMinPixels = 0.2;
constexpr size_t kMaxFrames = 50'000;

std::string Fixed(double value) {
  std::array<char, 32> text;
  const int size = std::snprintf(text.data(), text.size(), "%.2f", value);
  return {text.data(), static_cast<size_t>(size)};
}

// The same for a name wherever it stands, so that graphs can be compared by eye. FNV-1a.
uint32_t HashOf(std::string_view name) {
  uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash ^ hash >> 15;
}

// User code is warm, the kernel blue, generated code green, what has no name grey.
std::string ColorOf(FunctionKind kind, std::string_view name) {
  const uint32_t hash = HashOf(name);
  const uint32_t a = hash % 48, b = hash / 48 % 48;
  std::array<uint32_t, 3> rgb = {};
  switch (kind) {
    case FunctionKind::kUser:
      rgb = {232 + a / 3, 120 + 2 * a, 70 + b};
      break;
    case FunctionKind::kKernel:
      rgb = {110 + b, 165 + a, 225 + b / 3};
      break;
    case FunctionKind::kGenerated:
      rgb = {110 + b, 195 + a / 2, 110 + b};
      break;
    case FunctionKind::kUnnamed:
      rgb = {188 + b / 3, 188 + b / 3, 188 + b / 3};
      break;
    case FunctionKind::kLabel:
      rgb = {222, 216, 200};
      break;
  }
  std::array<char, 8> text;
  std::snprintf(text.data(), text.size(), "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
  return text.data();
}

// As many characters of UTF-8 as fit, with an ellipsis where some do not.
std::string Fitting(const std::string& name, double pixels) {
  const double letters = (pixels - 6) / kLetterWidth;
  if (letters < 3) return "";
  const size_t room = static_cast<size_t>(letters);
  size_t count = 0, end = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if ((static_cast<unsigned char>(name[i]) & 0xc0) == 0x80) continue;
    if (count == room - 1) end = i;
    ++count;
  }
  return count <= room ? name : StrCat(name.substr(0, end), "\u2026");
}

class FlameGraph {
 public:
  FlameGraph(const Profile& profile, uint32_t event, const ReportOptions& options, TextSink& out)
      : profile_(profile),
        event_(event),
        options_(options),
        out_(out),
        functions_(profile, options),
        tree_(CallTree::FromRoots(profile, functions_)),
        whole_(Value(tree_.Get(CallTree::kAll).total)) {
    ChooseSmallest();
    for (uint32_t f = 0; f < functions_.size(); ++f) names_.push_back(EscapeForTerminal(functions_.Name(f)));
    Walk([this](const Drawn& drawn) { depth_ = std::max(depth_, drawn.depth); });
  }

  void Write() {
    WriteStart();
    StrAppend(out_.text(), "<g id=\"frames\">\n");
    Walk([this](const Drawn& drawn) {
      WriteFrame(drawn);
      out_.MaybeFlush();
    });
    StrAppend(out_.text(), "</g>\n");
    WriteBar();
    StrAppend(out_.text(), "<script><![CDATA[", kFlameGraphScript, "]]></script>\n</svg>\n");
  }

 private:
  // A frame, or `merged` of them too narrow for one each.
  struct Drawn {
    uint32_t node = 0, depth = 0;  // depth 1: the outermost
    uint64_t start = 0;
    size_t merged = 0;
    Counts total;
  };

  uint64_t Value(const Counts& counts) const {
    return profile_.events[event_].frequency_mode ? counts.period : counts.samples;
  }
  double Height() const { return kHeaderHeight + depth_ * kFrameHeight + kFooterHeight; }

  // Nodes of a smaller value are drawn together.
  void ChooseSmallest() {
    smallest_ = static_cast<uint64_t>(static_cast<double>(whole_) * kMinPixels / kInner) + 1;
    std::vector<uint64_t> values;
    for (uint32_t node = 1; node < tree_.size(); ++node)
      if (const uint64_t value = Value(tree_.Get(node).total); value >= smallest_) values.push_back(value);
    if (values.size() <= kMaxFrames) return;
    const auto last = values.begin() + kMaxFrames;
    std::nth_element(values.begin(), last, values.end(), std::greater<>());
    smallest_ = *last + 1;
  }

  // Calls fn for everything drawn, callers before what they call, siblings by name. Deep stacks are deep, so
  // this does not recurse.
  template <typename Fn>
  void Walk(Fn fn) const {
    std::vector<Drawn> waiting;
    PushChildren({}, waiting);
    while (!waiting.empty()) {
      const Drawn next = waiting.back();
      waiting.pop_back();
      fn(next);
      if (next.merged == 0) PushChildren(next, waiting);
    }
  }

  void PushChildren(const Drawn& parent, std::vector<Drawn>& waiting) const {
    const auto all = tree_.ChildrenOf(parent.node);
    std::vector<uint32_t> wide;
    Drawn narrow{.depth = parent.depth + 1};
    for (const uint32_t child : all) {
      if (Value(tree_.Get(child).total) >= smallest_) {
        wide.push_back(child);
      } else {
        ++narrow.merged;
        narrow.total += tree_.Get(child).total;
      }
    }
    std::sort(wide.begin(), wide.end(), [this](uint32_t a, uint32_t b) {
      const int order = NameOf(a).compare(NameOf(b));
      return order != 0 ? order < 0 : a < b;
    });
    const size_t begin = waiting.size();
    uint64_t start = parent.start;
    for (const uint32_t child : wide) {
      const Counts& total = tree_.Get(child).total;
      waiting.push_back({.node = child, .depth = narrow.depth, .start = start, .total = total});
      start += Value(total);
    }
    narrow.start = start;
    if (narrow.merged > 0) waiting.push_back(narrow);
    std::reverse(waiting.begin() + static_cast<std::ptrdiff_t>(begin), waiting.end());
  }

  const std::string& NameOf(uint32_t node) const { return names_[tree_.Get(node).function]; }

  void WriteFrame(const Drawn& drawn) {
    const uint32_t function = tree_.Get(drawn.node).function;
    const bool merged = drawn.merged > 0;
    const std::string name =
        merged ? StrCat("[", drawn.merged, " narrow ", drawn.merged == 1 ? "frame" : "frames", "]")
               : NameOf(drawn.node);
    const FunctionKind kind = merged ? FunctionKind::kUnnamed : functions_.Get(function).kind;
    const double share = static_cast<double>(Value(drawn.total)) / static_cast<double>(whole_);
    const double x = kMargin + kInner * static_cast<double>(drawn.start) / static_cast<double>(whole_);
    const double level = options_.icicle ? drawn.depth - 1 : depth_ - drawn.depth;
    const double y = kHeaderHeight + level * kFrameHeight;
    std::string* const text = out_.text();
    StrAppend(text, "<g data-s=\"", drawn.start, "\" data-v=\"", Value(drawn.total), "\" data-d=\"",
              drawn.depth, "\"><title>", EscapeForXml(name), "\n");
    if (!merged && kind != FunctionKind::kLabel)
      StrAppend(text, EscapeForXml(functions_.ImageName(function)), "\n");
    StrAppend(text, GroupDigits(drawn.total.samples), drawn.total.samples == 1 ? " sample, " : " samples, ",
              Fixed(100 * share), " %</title><rect x=\"", Fixed(x), "\" y=\"", Fixed(y), "\" width=\"",
              Fixed(std::max(kInner * share, 0.1)), "\" height=\"", Fixed(kFrameHeight - 1), "\" fill=\"",
              ColorOf(kind, name), "\"/><text x=\"", Fixed(x + 3), "\" y=\"", Fixed(y + 12), "\">",
              EscapeForXml(Fitting(name, kInner * share)), "</text></g>\n");
  }

  void WriteStart() {
    StrAppend(out_.text(), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
              "<svg id=\"ksamp-flame-graph\" data-whole=\"", whole_, "\" data-roots=\"",
              options_.icicle ? "top" : "bottom", "\" xmlns=\"http://www.w3.org/2000/svg\" width=\"",
              Fixed(kWidth), "\" height=\"", Fixed(Height()), "\" viewBox=\"0 0 ", Fixed(kWidth), " ",
              Fixed(Height()), "\">\n<title>ksamp: ", EscapeForXml(profile_.facts.file), "</title>\n<style>",
              kFlameGraphStyle, "</style>\n");
  }

  // What stays in sight however far one has scrolled.
  void WriteBar() {
    const Counts& all = tree_.Get(CallTree::kAll).total;
    const ProfileEvent& event = profile_.events[event_];
    StrAppend(out_.text(), "<g id=\"bar\">\n<rect class=\"ground\" x=\"0\" y=\"0\" width=\"", Fixed(kWidth),
              "\" height=\"", Fixed(kHeaderHeight - 4), "\"/>\n<text class=\"page title\" x=\"",
              Fixed(kMargin), "\" y=\"22\">", EscapeForXml(profile_.facts.file),
              "</text>\n<text class=\"page quiet\" x=\"", Fixed(kMargin), "\" y=\"40\">",
              GroupDigits(all.samples), all.samples == 1 ? " sample of " : " samples of ",
              EscapeForXml(event.name), LeftOut());
    if (event.frequency_mode) StrAppend(out_.text(), "; widths are summed periods");
    if (!profile_.facts.os_release.empty())
      StrAppend(out_.text(), "; kernel ", EscapeForXml(profile_.facts.os_release));
    StrAppend(out_.text(), "</text>\n");
    WriteLegend();
    StrAppend(out_.text(), "<text class=\"button\" id=\"reset\" x=\"750\" y=\"22\" visibility=\"hidden\">",
              "reset zoom</text>\n<foreignObject x=\"850\" y=\"6\" width=\"340\" height=\"26\">",
              "<input xmlns=\"http://www.w3.org/1999/xhtml\" id=\"search\" type=\"search\" ",
              "placeholder=\"search: a regular expression ( / )\"/></foreignObject>\n",
              "<text class=\"page\" id=\"found\" x=\"850\" y=\"48\"> </text>\n",
              "<text class=\"page\" id=\"details\" x=\"", Fixed(kMargin), "\" y=\"",
              Fixed(kHeaderHeight - 10), "\"> </text>\n</g>\n");
  }

  // What was taken and is not in the graph, by cause.
  std::string LeftOut() const {
    if (event_ >= profile_.conservation.size()) return "";
    const Conservation& sum = profile_.conservation[event_];
    std::string text;
    for (const auto& [count, cause] :
         {std::pair(sum.idle, " idle"), std::pair(sum.FilteredTotal(), " filtered out"),
          std::pair(sum.DroppedTotal(), " dropped"),
          std::pair(profile_.losses.lost_records + profile_.losses.lost_samples, " lost")})
      if (count > 0) StrAppend(&text, text.empty() ? "; not shown: " : ", ", GroupDigits(count), cause);
    return text;
  }

  void WriteLegend() {
    constexpr std::array<std::pair<FunctionKind, const char*>, 4> kKinds = {
        {{FunctionKind::kUser, "user"},
         {FunctionKind::kKernel, "kernel"},
         {FunctionKind::kGenerated, "generated"},
         {FunctionKind::kUnnamed, "no name"}}};
    double x = kMargin;
    for (const auto& [kind, name] : kKinds) {
      StrAppend(out_.text(), "<rect x=\"", Fixed(x), "\" y=\"47\" width=\"10\" height=\"10\" fill=\"",
                ColorOf(kind, ""), "\"/><text class=\"page quiet\" x=\"", Fixed(x + 14), "\" y=\"56\">", name,
                "</text>\n");
      x += 34 + kLetterWidth * static_cast<double>(std::string_view(name).size());
    }
  }

  const Profile& profile_;
  const uint32_t event_;
  const ReportOptions& options_;
  TextSink& out_;
  FunctionTable functions_;
  const CallTree tree_;
  const uint64_t whole_;
  uint64_t smallest_ = 1;
  std::vector<std::string> names_;  // by function, escaped for terminals
  uint32_t depth_ = 0;
};

}  // namespace

void WriteFlameGraph(const Profile& profile, uint32_t event, const ReportOptions& options, TextSink& out) {
  FlameGraph(profile, event, options, out).Write();
}

}  // namespace ksamp
