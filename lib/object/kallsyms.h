// SPDX-License-Identifier: Apache-2.0
// Kallsyms: the text of /proc/kallsyms, searched by address. Pure: texts in, answers out.
//
//   ffffffffba200000 T _stext
//   ffffffffc067b000 t lo_open<TAB>[loop]
//
//   Kallsyms symbols = Kallsyms::Parse(kallsyms_text, ParseModuleRanges(modules_text));
//   if (auto match = symbols.Find(0xffffffffba200075)) std::cout << match->name;
//
// Parsing makes one entry of 16 bytes per line: the address and where in the text the line stands. Types,
// names and modules are read when asked for, so a report pays for what it prints (100 000 lines, 5 MB: a few
// ms).
//
// A symbol is a line of type t T w W. It reaches to the next line of any type (data ends code), and never
// beyond: its module's end, _etext and _einittext, or, where nothing follows, the end of the next page. Lines
// may come in any order; one with other addresses than zero makes the table usable (kptr_restrict shows only
// zeros). At one address the better name wins, as in symbol_table.h.
//
// The text must outlive the table. Immutable.
#ifndef KSAMP_LIB_OBJECT_KALLSYMS_H_
#define KSAMP_LIB_OBJECT_KALLSYMS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ksamp {

// A line of /proc/modules.
struct ModuleRange {
  std::string_view name;
  uint64_t start = 0, end = 0;
};

// Lines that are damaged are left out; addresses hidden by kptr_restrict give start 0.
std::vector<ModuleRange> ParseModuleRanges(std::string_view modules_text);

class Kallsyms {
 public:
  struct Match {
    std::string_view name, module;  // module: "" for the kernel; "bpf", "__builtin__ftrace", … as printed
    uint64_t start = 0, size = 0;
    uint32_t id = 0;  // the same for each address of this symbol
  };

  static Kallsyms Parse(std::string_view text, std::vector<ModuleRange> modules = {});

  bool empty() const { return entries_.empty(); }
  bool hidden() const { return hidden_; }  // there are lines, and all addresses are zero
  size_t size() const { return entries_.size(); }

  std::optional<Match> Find(uint64_t address) const;
  // The first symbol of that name, of any type; modules' only where `module` is given.
  std::optional<uint64_t> AddressOf(std::string_view name, std::string_view module = {}) const;
  bool HasModule(std::string_view module) const;
  const ModuleRange* ModuleAt(uint64_t address) const;

 private:
  struct Entry {
    uint64_t address;
    uint32_t position;  // of the type character in the text
    uint32_t is_text;
  };
  struct Line {
    char type;
    std::string_view name, module;
  };
  Line LineAt(const Entry& entry) const;
  bool OwnsCode(const Entry& entry, const Line& line) const;
  void Sort();
  uint64_t EndOf(size_t group_end, uint64_t start, const Line& line) const;

  std::string_view text_;
  std::vector<Entry> entries_;
  std::vector<ModuleRange> modules_;  // by start
  uint64_t etext_ = 0, einittext_ = 0;
  bool hidden_ = false;
};

// "nf-tables" and "nf_tables" are one module.
bool SameModuleName(std::string_view a, std::string_view b);

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_KALLSYMS_H_
