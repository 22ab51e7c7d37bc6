// SPDX-License-Identifier: Apache-2.0
#include "lib/object/dwarf_abbrevs.h"

#include <algorithm>
#include <array>

#include "lib/object/dwarf_constants.h"

namespace ksamp {

uint16_t FixedSizeOf(uint16_t form, const DwarfEncoding& encoding) {
  switch (form) {
    case kFormFlagPresent:
    case kFormImplicitConst:
      return 0;
    case kFormData1:
    case kFormFlag:
    case kFormRef1:
    case kFormStrx1:
    case kFormAddrx1:
      return 1;
    case kFormData2:
    case kFormRef2:
    case kFormStrx2:
    case kFormAddrx2:
      return 2;
    case kFormStrx3:
    case kFormAddrx3:
      return 3;
    case kFormData4:
    case kFormRef4:
    case kFormRefSup4:
    case kFormStrx4:
    case kFormAddrx4:
      return 4;
    case kFormData8:
    case kFormRef8:
    case kFormRefSup8:
    case kFormRefSig8:
      return 8;
    case kFormData16:
      return 16;
    case kFormAddr:
      return encoding.address_size;
    case kFormStrp:
    case kFormLineStrp:
    case kFormSecOffset:
    case kFormStrpSup:
    case kFormGnuRefAlt:
    case kFormGnuStrpAlt:
      return encoding.offset_size;
    case kFormRefAddr:
      return encoding.version <= 2 ? encoding.address_size : encoding.offset_size;
    default:
      return DwarfAbbrev::kVariable;
  }
}

void SkipForm(DwarfCursor* at, uint16_t form, const DwarfEncoding& encoding) {
  constexpr int kMaxIndirections = 4;
  for (int i = 0; i < kMaxIndirections && form == kFormIndirect; ++i)
    form = static_cast<uint16_t>(at->Uleb());
  const uint16_t size = FixedSizeOf(form, encoding);
  if (size != DwarfAbbrev::kVariable) return at->Skip(size);
  switch (form) {
    case kFormUdata:
    case kFormSdata:
    case kFormRefUdata:
    case kFormStrx:
    case kFormAddrx:
    case kFormLoclistx:
    case kFormRnglistx:
    case kFormGnuAddrIndex:
    case kFormGnuStrIndex:
      return at->SkipLeb();
    case kFormBlock1:
      return at->Skip(at->U8());
    case kFormBlock2:
      return at->Skip(at->U16());
    case kFormBlock4:
      return at->Skip(at->U32());
    case kFormBlock:
    case kFormExprloc:
      return at->Skip(at->Uleb());
    case kFormString:
      at->Text();
      return;
    default:
      at->Skip(~uint64_t{0});
  }
}

namespace {

constexpr size_t kTabledForms = 0x30;  // all but GNU's

// Sizes by form, worked out once per table.
std::array<uint16_t, kTabledForms> FormSizes(const DwarfEncoding& encoding) {
  std::array<uint16_t, kTabledForms> sizes;
  for (uint16_t form = 0; form < kTabledForms; ++form) sizes[form] = FixedSizeOf(form, encoding);
  return sizes;
}

}  // namespace

void DwarfAbbrevs::ReadAttributes(DwarfCursor* at, std::span<const uint16_t> sizes, DwarfAbbrev* abbrev) {
  abbrev->first_attribute = static_cast<uint32_t>(attributes_.size());
  while (at->ok()) {
    DwarfAttributeSpec spec;
    spec.name = static_cast<uint16_t>(at->Uleb());
    spec.form = static_cast<uint16_t>(at->Uleb());
    if (spec.form == kFormImplicitConst) spec.constant = at->Sleb();
    if (spec.name == 0 && spec.form == 0) break;
    const bool gnu_reference = spec.form == kFormGnuRefAlt || spec.form == kFormGnuStrpAlt;
    spec.size = spec.form < sizes.size() ? sizes[spec.form]
                : gnu_reference          ? sizes[kFormSecOffset]
                                         : DwarfAbbrev::kVariable;
    if (spec.name == kAtStaticLink) has_nested_functions_ = true;
    attributes_.push_back(spec);
  }
  abbrev->attribute_count = static_cast<uint32_t>(attributes_.size()) - abbrev->first_attribute;
  Measure(abbrev);
}

DwarfAbbrevs DwarfAbbrevs::Parse(DwarfCursor at, const DwarfEncoding& encoding) {
  DwarfAbbrevs table;
  const std::array<uint16_t, kTabledForms> sizes = FormSizes(encoding);
  const uint64_t begin = at.position();
  while (at.ok()) {
    DwarfAbbrev abbrev;
    abbrev.code = at.Uleb();
    if (abbrev.code == 0) break;
    abbrev.tag = static_cast<uint16_t>(at.Uleb());
    abbrev.has_children = at.U8() != 0;
    table.ReadAttributes(&at, sizes, &abbrev);
    if (!at.ok()) break;
    table.abbrevs_.push_back(abbrev);
    table.sequential_ = table.sequential_ && abbrev.code == table.abbrevs_.size();
  }
  if (!table.sequential_) {
    std::stable_sort(table.abbrevs_.begin(), table.abbrevs_.end(),
                     [](const DwarfAbbrev& a, const DwarfAbbrev& b) { return a.code < b.code; });
  }
  table.bytes_read_ = at.position() - begin;
  return table;
}

DwarfAbbrevs DwarfAbbrevs::ParseOnly(uint64_t code, DwarfCursor at, const DwarfEncoding& encoding) {
  DwarfAbbrevs table;
  table.sequential_ = false;
  const uint64_t begin = at.position();
  while (at.ok()) {
    DwarfAbbrev abbrev;
    abbrev.code = at.Uleb();
    if (abbrev.code == 0) break;
    abbrev.tag = static_cast<uint16_t>(at.Uleb());
    abbrev.has_children = at.U8() != 0;
    if (abbrev.code == code) {
      table.ReadAttributes(&at, FormSizes(encoding), &abbrev);
      if (at.ok()) table.abbrevs_.push_back(abbrev);
      break;
    }
    while (at.ok()) {
      const uint64_t name = at.Uleb(), form = at.Uleb();
      if (form == kFormImplicitConst) at.SkipLeb();
      if (name == 0 && form == 0) break;
    }
  }
  table.bytes_read_ = at.position() - begin;
  return table;
}

const DwarfAbbrev* DwarfAbbrevs::FindSorted(uint64_t code) const {
  const auto it = std::lower_bound(abbrevs_.begin(), abbrevs_.end(), code,
                                   [](const DwarfAbbrev& abbrev, uint64_t c) { return abbrev.code < c; });
  return it != abbrevs_.end() && it->code == code ? &*it : nullptr;
}

void DwarfAbbrevs::Measure(DwarfAbbrev* abbrev) const {
  uint32_t size = 0;
  for (const DwarfAttributeSpec& spec : AttributesOf(*abbrev)) {
    if (spec.name == kAtSibling && size < DwarfAbbrev::kVariable) {
      abbrev->sibling_at = static_cast<uint16_t>(size);
      abbrev->sibling = spec;
    }
    if (spec.size == DwarfAbbrev::kVariable || size + spec.size >= DwarfAbbrev::kVariable) return;
    size += spec.size;
  }
  abbrev->size = static_cast<uint16_t>(size);
}

}  // namespace ksamp
