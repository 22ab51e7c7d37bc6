// SPDX-License-Identifier: Apache-2.0
// Folded stacks: "main;run;memcpy 12", a line per unique stack, for flame graph tools and scripts. The number
// is that of samples, whatever shares are made of.
#include <algorithm>
#include <string>
#include <vector>

#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "lib/report/call_tree.h"
#include "lib/report/writers.h"

namespace ksamp {
namespace {

// What separates frames cannot be part of one.
std::string FoldedName(const std::string& name) {
  std::string text = EscapeForTerminal(name);
  std::replace(text.begin(), text.end(), ';', ':');
  return text;
}

class FoldedWriter {
 public:
  FoldedWriter(const CallTree& tree, const FunctionTable& functions, TextSink& out)
      : tree_(tree), out_(out), names_(functions.size()) {
    for (uint32_t f = 0; f < names_.size(); ++f) names_[f] = FoldedName(functions.Name(f));
  }

  void Write() {
    struct Waiting {
      uint32_t node = 0;
      size_t length = 0;  // of the line up to its caller
    };
    std::vector<Waiting> waiting;
    std::vector<uint32_t> children;
    const auto push_children = [&](uint32_t node, size_t length) {
      const auto all = tree_.ChildrenOf(node);
      children.assign(all.begin(), all.end());
      std::sort(children.begin(), children.end(), [&](uint32_t a, uint32_t b) {
        const int order = NameOf(a).compare(NameOf(b));
        return order != 0 ? order > 0 : a > b;  // The last one pushed is written first.
      });
      for (const uint32_t child : children) waiting.push_back({child, length});
    };
    std::string line;
    push_children(CallTree::kAll, 0);
    while (!waiting.empty()) {
      const Waiting next = waiting.back();
      waiting.pop_back();
      line.resize(next.length);
      StrAppend(&line, next.length == 0 ? "" : ";", NameOf(next.node));
      if (const uint64_t samples = tree_.Get(next.node).self.samples; samples > 0)
        StrAppend(out_.text(), line, " ", samples, "\n");
      if (!out_.MaybeFlush()) return;
      push_children(next.node, line.size());
    }
  }

 private:
  const std::string& NameOf(uint32_t node) const { return names_[tree_.Get(node).function]; }

  const CallTree& tree_;
  TextSink& out_;
  std::vector<std::string> names_;
};

}  // namespace

void WriteFolded(const Profile& profile, const ReportOptions& options, TextSink& out) {
  FunctionTable functions(profile, options);
  const CallTree tree = CallTree::FromRoots(profile, functions);
  FoldedWriter(tree, functions, out).Write();
}

}  // namespace ksamp
