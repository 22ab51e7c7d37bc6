// SPDX-License-Identifier: Apache-2.0
// DwarfNames: what the function of an entry is called.
//
//   DwarfNames names(&abbrevs, &work);
//   DwarfFunction found = names.Describe(reader, offset);
//   std::cout << found.name << " " << found.path << ":" << found.line;      // "_ZN3foo3barEi /src/foo.cc:17"
//
// The name of the symbol table (DW_AT_linkage_name) where there is one; else the plain one, with namespaces
// and classes before it unless the unit is of a language without them. Both may stand at the entry it was
// inlined from or declared at (DW_AT_abstract_origin, DW_AT_specification), in another unit or in the file
// dwz made.
//
// For one thread. Scopes are found by one walk over a unit, when the first plain name asks for them.
#ifndef KSAMP_LIB_OBJECT_DWARF_NAMES_H_
#define KSAMP_LIB_OBJECT_DWARF_NAMES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lib/object/dwarf_file.h"
#include "lib/object/dwarf_line_program.h"

namespace ksamp {

struct DwarfFunction {
  std::string name;  // empty: none
  std::string path;  // where it is declared; empty: not known
  uint32_t line = 0;
};

class DwarfNames {
 public:
  // Both must outlive it.
  DwarfNames(DwarfAbbrevCache* abbrevs, DwarfWork* work) : abbrevs_(*abbrevs), work_(*work) {}

  // `home`: the reader of the unit the entry is in, which saves reading its root again; `home_lines`: its
  // line table.
  DwarfFunction Describe(const DwarfUnitReader& home, const DwarfLineProgram& home_lines, uint64_t entry);

 private:
  struct Entry {
    std::string_view name, linkage_name;
    std::optional<DwarfReference> origin;
    uint64_t file = 0, line = 0;  // of its declaration
  };
  std::string NameOf(const DwarfReference& named, std::string_view name, const DwarfUnitReader& home);
  const DwarfUnitReader* ReaderOf(const DwarfReference& entry, const DwarfUnitReader& home);
  static Entry ReadEntry(const DwarfUnitReader& reader, uint64_t offset);
  std::string Qualified(const DwarfUnitReader& reader, uint64_t offset, std::string_view name);

  // Namespaces and types of a unit, in the order they begin.
  struct Scope {
    uint64_t begin = 0, end = 0;
    std::optional<size_t> outer;
    std::string_view name;
  };
  std::vector<Scope> FindScopes(const DwarfUnitReader& reader);

  DwarfAbbrevCache& abbrevs_;
  DwarfWork& work_;
  std::unique_ptr<DwarfUnitReader> other_;  // of the unit a reference led to last
  absl::flat_hash_map<const DwarfUnit*, std::vector<Scope>> scopes_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_DWARF_NAMES_H_
