// SPDX-License-Identifier: Apache-2.0
// DwarfAbbrevs: the abbreviations of one unit: what each kind of its entries (DIEs) is made of.
//
//   const DwarfAbbrevs abbrevs = DwarfAbbrevs::Parse(at, {.version = 5, .address_size = 8, .offset_size =
//   4}); const DwarfAbbrev* kind = abbrevs.Find(code); for (const DwarfAttributeSpec& spec :
//   abbrevs.AttributesOf(*kind)) …
//
// Nearly all entries are only stepped over on the way to the few that matter. So the size of an entry is
// worked out once per kind where its forms allow that, and so is where its DW_AT_sibling stands, which leads
// past its children.
//
// Immutable after Parse.
#ifndef KSAMP_LIB_OBJECT_DWARF_ABBREVS_H_
#define KSAMP_LIB_OBJECT_DWARF_ABBREVS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/object/dwarf_cursor.h"

namespace ksamp {

// What the size of a form depends on.
struct DwarfEncoding {
  uint16_t version = 0;
  uint8_t address_size = 0, offset_size = 0;
  friend bool operator==(const DwarfEncoding&, const DwarfEncoding&) = default;
};

struct DwarfAttributeSpec {
  uint16_t name = 0, form = 0;
  uint16_t size = 0;     // of its value, or DwarfAbbrev::kVariable
  int64_t constant = 0;  // of DW_FORM_implicit_const
};

struct DwarfAbbrev {
  static constexpr uint16_t kVariable = 0xffff;

  uint64_t code = 0;
  uint32_t first_attribute = 0, attribute_count = 0;
  uint16_t tag = 0;
  bool has_children = false;
  uint16_t size = kVariable;        // of the entry behind its code
  uint16_t sibling_at = kVariable;  // where its DW_AT_sibling stands behind the code …
  DwarfAttributeSpec sibling;       // … and what it is
};

class DwarfAbbrevs {
 public:
  // Reads up to the table's end or its first damage; entries with codes beyond that are not found.
  static DwarfAbbrevs Parse(DwarfCursor at, const DwarfEncoding& encoding);
  // Only the abbreviation of that code, steps over those before it: for the root entry of a unit, whose
  // abbreviation may stand anywhere in the table.
  static DwarfAbbrevs ParseOnly(uint64_t code, DwarfCursor at, const DwarfEncoding& encoding);

  const DwarfAbbrev* Find(uint64_t code) const {
    // Compilers number them 1, 2, 3 …
    if (code - 1 < abbrevs_.size() && abbrevs_[code - 1].code == code) return &abbrevs_[code - 1];
    return sequential_ ? nullptr : FindSorted(code);
  }
  std::span<const DwarfAttributeSpec> AttributesOf(const DwarfAbbrev& abbrev) const {
    return std::span(attributes_).subspan(abbrev.first_attribute, abbrev.attribute_count);
  }
  uint64_t bytes_read() const { return bytes_read_; }
  // Some function reaches the variables of one around it, so functions are nested.
  bool has_nested_functions() const { return has_nested_functions_; }

 private:
  const DwarfAbbrev* FindSorted(uint64_t code) const;
  void ReadAttributes(DwarfCursor* at, std::span<const uint16_t> sizes, DwarfAbbrev* abbrev);
  void Measure(DwarfAbbrev* abbrev) const;

  std::vector<DwarfAbbrev> abbrevs_;
  std::vector<DwarfAttributeSpec> attributes_;
  uint64_t bytes_read_ = 0;
  bool sequential_ = true, has_nested_functions_ = false;
};

// Bytes of a form that is always as long; DwarfAbbrev::kVariable: it says so itself.
uint16_t FixedSizeOf(uint16_t form, const DwarfEncoding& encoding);

// Steps over one value. A form nobody knows fails the cursor: what follows cannot be found.
void SkipForm(DwarfCursor* at, uint16_t form, const DwarfEncoding& encoding);

// Steps over all attributes of an entry.
inline void SkipEntry(DwarfCursor* at, const DwarfAbbrevs& abbrevs, const DwarfAbbrev& abbrev,
                      const DwarfEncoding& encoding) {
  if (abbrev.size != DwarfAbbrev::kVariable) return at->Skip(abbrev.size);
  for (const DwarfAttributeSpec& spec : abbrevs.AttributesOf(abbrev)) {
    if (spec.size != DwarfAbbrev::kVariable) {
      at->Skip(spec.size);
    } else {
      SkipForm(at, spec.form, encoding);
    }
  }
}

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_DWARF_ABBREVS_H_
