// SPDX-License-Identifier: Apache-2.0
// FakeProcTree: a /proc of thousands of processes with real-looking mappings, as plain files in memory.
//
//   FakeProcTree tree({.processes = 5000, .libraries = 30});
//   absl::StatusOr<ProcFs> proc = ProcFs::Open(tree.root());
//
// Each process maps its executable and its libraries as ld.so does, four mappings each, one of them
// executable. Libraries are shared between processes: there are `images` of them. Plain files are read faster
// than the kernel prints /proc, so what is measured over such a tree is ksamp's own part.
#ifndef KSAMP_BENCH_SUPPORT_FAKE_PROC_TREE_H_
#define KSAMP_BENCH_SUPPORT_FAKE_PROC_TREE_H_

#include <string>

namespace ksamp::bench {

struct FakeProcOptions {
  int processes = 5000;
  int libraries = 30;  // executable mappings of each process, without the executable's own
  int images = 400;    // distinct libraries on the machine
};

class FakeProcTree {
 public:
  // Aborts where the tree cannot be written: a benchmark over half a tree would measure nothing.
  explicit FakeProcTree(const FakeProcOptions& options);
  ~FakeProcTree();
  FakeProcTree(const FakeProcTree&) = delete;
  FakeProcTree& operator=(const FakeProcTree&) = delete;

  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

}  // namespace ksamp::bench

#endif  // KSAMP_BENCH_SUPPORT_FAKE_PROC_TREE_H_
