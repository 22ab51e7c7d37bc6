// SPDX-License-Identifier: Apache-2.0
#include "test/support/golden.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "lib/base/str_cat.h"
#include "test/support/run_command.h"

namespace ksamp::testing {
namespace {

// Length of the longest common subsequence of the tails from (i, j): the texts are small.
std::vector<std::vector<size_t>> CommonTails(const std::vector<std::string>& a,
                                             const std::vector<std::string>& b) {
  std::vector<std::vector<size_t>> common(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  return common;
}

}  // namespace

std::string LineDiff(std::string_view expected, std::string_view actual) {
  const std::vector<std::string> a = Lines(std::string(expected)), b = Lines(std::string(actual));
  const std::vector<std::vector<size_t>> common = CommonTails(a, b);
  std::string out;
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      StrAppend(&out, "  ", a[i++], "\n");
      ++j;
    } else if (i < a.size() && (j == b.size() || common[i + 1][j] >= common[i][j + 1])) {
      StrAppend(&out, "- ", a[i++], "\n");
    } else {
      StrAppend(&out, "+ ", b[j++], "\n");
    }
  }
  return out;
}

::testing::AssertionResult MatchesGolden(const std::string& path, const std::string& actual) {
  if (std::getenv("KSAMP_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << actual;
    return ::testing::AssertionSuccess();
  }
  std::ifstream file(path, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  if (expected == actual) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << path << " (- expected, + printed; KSAMP_UPDATE_GOLDEN=1 accepts)\n"
                                       << LineDiff(expected, actual);
}

}  // namespace ksamp::testing
