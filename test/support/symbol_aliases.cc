// SPDX-License-Identifier: Apache-2.0
#include "test/support/symbol_aliases.h"

#include <iterator>
#include <set>

#include "test/support/run_command.h"

namespace ksamp::testing {

std::string SymbolAliases::Canonical(const std::string& path, const std::string& symbol) {
  const std::string name = symbol.substr(0, symbol.find('@'));  // perf prints the version of some
  if (path == "[vdso]" && name.starts_with("__vdso_")) return name.substr(std::size("__vdso_") - 1);
  const auto& names = NamesOf(path);
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

const std::map<std::string, std::string>& SymbolAliases::NamesOf(const std::string& path) {
  const auto [it, is_new] = by_path_.try_emplace(path);
  if (!is_new) return it->second;
  const bool kernel = path.empty() || path.front() != '/';
  const std::string command =
      kernel ? "cut -f1 /proc/kallsyms"
             : "f=" + ShellQuoted(path) +
                   "; id=$(readelf -n $f 2>/dev/null | sed -n 's/.*Build ID: //p')"
                   "; d=/usr/lib/debug/.build-id/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-).debug"
                   "; { nm $f; nm -D $f; nm $d; } 2>/dev/null";
  std::map<std::string, std::set<std::string>> by_address;
  for (const std::string& line : Lines(RunCommand(folder_, command).out)) {
    const size_t type = line.find(' '), name = line.rfind(' ');
    if (type == std::string::npos || name <= type) continue;
    std::string text = line.substr(name + 1);
    if (!kernel) text = text.substr(0, text.find('@'));  // version of a dynamic symbol
    by_address[line.substr(0, type)].insert(text);
  }
  for (const auto& [address, names] : by_address)
    for (const std::string& name : names) it->second.try_emplace(name, *names.begin());
  return it->second;
}

}  // namespace ksamp::testing
