// SPDX-License-Identifier: Apache-2.0
// TempTree: a folder that is gone when the test ends; the root of a pretended /proc or /sys, or a place for
// output.
//
//   TempTree tree;
//   tree.Write("proc/7/comm", "bash\n");          // makes the folders on the way
//   ReadComm(tree.Path("proc"), 7);
#ifndef KSAMP_TEST_SUPPORT_TEMP_TREE_H_
#define KSAMP_TEST_SUPPORT_TEMP_TREE_H_

#include <string>
#include <string_view>

namespace ksamp::testing {

class TempTree {
 public:
  TempTree();
  ~TempTree();
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;

  const std::string& root() const { return root_; }
  std::string Path(std::string_view relative) const;
  // Creates or replaces a file; returns its path.
  std::string Write(std::string_view relative, std::string_view content) const;
  std::string MakeDirectory(std::string_view relative) const;
  std::string Symlink(std::string_view relative, std::string_view target) const;

 private:
  std::string root_;
};

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_SUPPORT_TEMP_TREE_H_
