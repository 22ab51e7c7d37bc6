// SPDX-License-Identifier: Apache-2.0
// SymbolAliases: all names of one address -> one of them, for comparing what two tools print.
//
//   SymbolAliases aliases(tree.root());
//   aliases.Canonical("/lib/x86_64-linux-gnu/libc.so.6", "__execve");      // "__GI___execve"
//
// Where a symbol table has several names for one address, each tool may print another one: all become the
// first in alphabetical order. Names of one image only, since the same name elsewhere is another function.
// Names come from nm, and of the kernel from /proc/kallsyms.
#ifndef KSAMP_TEST_SUPPORT_SYMBOL_ALIASES_H_
#define KSAMP_TEST_SUPPORT_SYMBOL_ALIASES_H_

#include <map>
#include <string>
#include <utility>

namespace ksamp::testing {

class SymbolAliases {
 public:
  // Commands run in `folder`.
  explicit SymbolAliases(std::string folder) : folder_(std::move(folder)) {}

  // `path`: of the image; one that does not start with '/' is the kernel.
  std::string Canonical(const std::string& path, const std::string& symbol);

 private:
  const std::map<std::string, std::string>& NamesOf(const std::string& path);

  std::string folder_;
  std::map<std::string, std::map<std::string, std::string>> by_path_;
};

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_SUPPORT_SYMBOL_ALIASES_H_
