// SPDX-License-Identifier: Apache-2.0
#include "lib/object/dwarf_file.h"

#include <algorithm>

#include "lib/base/status_macros.h"

namespace ksamp {
namespace {

// Room that `size` bytes at an index of a table have, and where.
std::optional<uint64_t> Slot(uint64_t base, uint64_t index, uint64_t size, uint64_t limit) {
  if (index > limit / size || base > limit) return std::nullopt;
  const uint64_t at = base + index * size;
  return at + size <= limit ? std::optional(at) : std::nullopt;
}

}  // namespace

absl::StatusOr<DwarfFile> DwarfFile::Load(const ElfImage& elf, DwarfSections::Kind kind) {
  DwarfFile file;
  KSAMP_ASSIGN_OR_RETURN(file.sections_, DwarfSections::Load(elf, kind));
  file.FindUnits();
  return file;
}

DwarfFile DwarfFile::Over(DwarfSections sections) {
  DwarfFile file;
  file.sections_ = std::move(sections);
  file.FindUnits();
  return file;
}

void DwarfFile::FindUnits() {
  DwarfCursor at = Info(0);
  while (at.ok() && !at.at_end()) {
    if (!ReadUnit(&at)) return;  // where the next unit begins is not known
  }
}

bool DwarfFile::ReadUnit(DwarfCursor* at) {
  DwarfUnit unit;
  unit.begin = at->position();
  uint64_t length = at->U32();
  unit.encoding.offset_size = length == 0xffffffff ? 8 : 4;
  if (unit.encoding.offset_size == 8) length = at->U64();
  if (!at->ok() || length > at->remaining()) return false;
  unit.end = at->position() + length;
  unit.encoding.version = at->U16();
  if (unit.encoding.version >= 5) {
    unit.type = at->U8();
    unit.encoding.address_size = at->U8();
    unit.abbrevs = at->Number(unit.encoding.offset_size);
    if (unit.type == kUnitSkeleton || unit.type == kUnitSplitCompile) unit.split_id = at->U64();
    if (unit.type == kUnitType || unit.type == kUnitSplitType) at->Skip(8u + unit.encoding.offset_size);
  } else {
    unit.abbrevs = at->Number(unit.encoding.offset_size);
    unit.encoding.address_size = at->U8();
  }
  unit.first_entry = at->position();
  const bool known = unit.encoding.version >= 2 && unit.encoding.version <= 5 &&
                     (unit.encoding.address_size == 4 || unit.encoding.address_size == 8);
  if (at->ok() && known && unit.first_entry <= unit.end) units_.push_back(unit);
  at->Seek(unit.end);
  return at->ok();
}

const DwarfUnit* DwarfFile::UnitAt(uint64_t offset) const {
  const auto after = std::upper_bound(units_.begin(), units_.end(), offset,
                                      [](uint64_t o, const DwarfUnit& unit) { return o < unit.begin; });
  if (after == units_.begin()) return nullptr;
  const DwarfUnit& unit = *(after - 1);
  return offset >= unit.first_entry && offset < unit.end ? &unit : nullptr;
}

std::shared_ptr<const DwarfAbbrevs> DwarfAbbrevCache::Get(const DwarfFile& file, const DwarfUnit& unit) {
  constexpr size_t kMaxTables = 64;
  auto& [encoding, table] = tables_[{&file, unit.abbrevs}];
  if (table != nullptr && encoding == unit.encoding) return table;
  auto parsed = std::make_shared<const DwarfAbbrevs>(
      DwarfAbbrevs::Parse(file.Read(file.sections().abbrev, unit.abbrevs), unit.encoding));
  work_.Spend(parsed->bytes_read());
  encoding = unit.encoding;
  table = parsed;
  if (tables_.size() > kMaxTables) tables_.clear();
  return parsed;
}

DwarfUnitReader::DwarfUnitReader(const DwarfFile& file, const DwarfUnit& unit,
                                 std::shared_ptr<const DwarfAbbrevs> abbrevs, const DwarfUnitReader* skeleton)
    : file_(file), unit_(unit), abbrevs_(std::move(abbrevs)), skeleton_(skeleton) {
  if (skeleton_ != nullptr) root_.low_pc = skeleton_->root_.low_pc;
  ReadRoot();
}

void DwarfUnitReader::ReadRoot() {
  DwarfCursor at = file_.Info(unit_.first_entry);
  const DwarfAbbrev* abbrev = abbrevs_->Find(at.Uleb());
  if (abbrev == nullptr) return;
  // A split unit's texts are counted from the first behind the table's header; it does not say so itself.
  const bool split = skeleton_ != nullptr && unit_.encoding.version >= 5;
  if (split) root_.str_offsets_base = unit_.encoding.offset_size == 8 ? 16 : 8;
  // Bases first: what they are needed for may stand before them.
  for (const bool bases : {true, false}) {
    DwarfCursor again = at;
    for (const DwarfAttributeSpec& spec : abbrevs_->AttributesOf(*abbrev)) {
      const bool is_base = spec.name == kAtStrOffsetsBase || spec.name == kAtAddrBase ||
                           spec.name == kAtRnglistsBase || spec.name == kAtGnuAddrBase ||
                           spec.name == kAtGnuRangesBase;
      if (is_base != bases) {
        Skip(&again, spec);
        continue;
      }
      const DwarfValue value = Read(&again, spec);
      if (again.ok()) ReadRootAttribute(spec.name, value);
    }
  }
  root_.tag = abbrev->tag;
}

void DwarfUnitReader::ReadRootAttribute(uint16_t name, const DwarfValue& value) {
  switch (name) {
    case kAtName:
      root_.name = TextOf(value);
      break;
    case kAtCompDir:
      root_.directory = TextOf(value);
      break;
    case kAtDwoName:
    case kAtGnuDwoName:
      root_.split_name = TextOf(value);
      break;
    case kAtGnuDwoId:
      root_.split_id = value.number;
      break;
    case kAtStmtList:
      root_.line_table = value.number;
      break;
    case kAtLanguage:
      root_.language = value.number;
      break;
    case kAtLowPc:
      root_.low = value;
      root_.low_pc = AddressOf(value).value_or(0);
      break;
    case kAtHighPc:
      root_.high = value;
      break;
    case kAtRanges:
      root_.ranges = value;
      break;
    case kAtStrOffsetsBase:
      root_.str_offsets_base = value.number;
      break;
    case kAtAddrBase:
    case kAtGnuAddrBase:
      root_.addr_base = value.number;
      break;
    case kAtRnglistsBase:
      root_.rnglists_base = value.number;
      break;
    case kAtGnuRangesBase:
      root_.ranges_base = value.number;
      break;
    default:
      break;
  }
}

DwarfValue DwarfUnitReader::Read(DwarfCursor* at, const DwarfAttributeSpec& spec) const {
  DwarfValue value{.form = spec.form, .number = 0, .text = {}};
  constexpr int kMaxIndirections = 4;
  for (int i = 0; i < kMaxIndirections && value.form == kFormIndirect; ++i) {
    value.form = static_cast<uint16_t>(at->Uleb());
  }
  switch (value.form) {
    case kFormImplicitConst:
      value.number = static_cast<uint64_t>(spec.constant);
      return value;
    case kFormString:
      value.text = at->Text();
      return value;
    case kFormSdata:
      value.number = static_cast<uint64_t>(at->Sleb());
      return value;
    case kFormUdata:
    case kFormRefUdata:
    case kFormStrx:
    case kFormAddrx:
    case kFormRnglistx:
    case kFormGnuAddrIndex:
    case kFormGnuStrIndex:
      value.number = at->Uleb();
      return value;
    default:
      break;
  }
  const uint16_t size = spec.form == kFormIndirect ? FixedSizeOf(value.form, unit_.encoding) : spec.size;
  if (size == 0) {
    value.number = 1;  // DW_FORM_flag_present
  } else if (size <= 8) {
    value.number = at->Number(size);
  } else {
    SkipForm(at, value.form, unit_.encoding);
  }
  return value;
}

std::string_view DwarfUnitReader::IndexedText(uint64_t index) const {
  const auto& sections = file_.sections();
  const uint64_t size = unit_.encoding.offset_size;
  const auto at = Slot(root_.str_offsets_base, index, size, sections.str_offsets.size());
  if (!at) return {};
  const uint64_t offset = file_.Read(sections.str_offsets, *at).Number(size);
  return file_.Read(sections.str, offset).Text();
}

std::string_view DwarfUnitReader::TextOf(const DwarfValue& value) const {
  const auto& sections = file_.sections();
  switch (value.form) {
    case kFormString:
      return value.text;
    case kFormStrp:
      return file_.Read(sections.str, value.number).Text();
    case kFormLineStrp:
      return file_.Read(sections.line_str, value.number).Text();
    case kFormStrx:
    case kFormStrx1:
    case kFormStrx2:
    case kFormStrx3:
    case kFormStrx4:
    case kFormGnuStrIndex:
      return IndexedText(value.number);
    case kFormStrpSup:
    case kFormGnuStrpAlt:
      if (file_.alternate() == nullptr) return {};
      return file_.alternate()->Read(file_.alternate()->sections().str, value.number).Text();
    default:
      return {};
  }
}

std::optional<uint64_t> DwarfUnitReader::IndexedAddress(uint64_t index) const {
  if (skeleton_ != nullptr) return skeleton_->IndexedAddress(index);
  const std::span<const std::byte> table = file_.sections().addr;
  const uint64_t size = unit_.encoding.address_size;
  const auto at = Slot(root_.addr_base.value_or(0), index, size, table.size());
  if (!at) return std::nullopt;
  return file_.Read(table, *at).Number(size);
}

std::optional<uint64_t> DwarfUnitReader::AddressOf(const DwarfValue& value) const {
  switch (value.form) {
    case kFormAddr:
      return value.number;
    case kFormAddrx:
    case kFormAddrx1:
    case kFormAddrx2:
    case kFormAddrx3:
    case kFormAddrx4:
    case kFormGnuAddrIndex:
      return IndexedAddress(value.number);
    default:
      return std::nullopt;
  }
}

std::optional<DwarfReference> DwarfUnitReader::ReferenceOf(const DwarfValue& value) const {
  switch (value.form) {
    case kFormRef1:
    case kFormRef2:
    case kFormRef4:
    case kFormRef8:
    case kFormRefUdata:
      return DwarfReference{&file_, unit_.begin + value.number};
    case kFormRefAddr:
      return DwarfReference{&file_, value.number};
    case kFormRefSup4:
    case kFormRefSup8:
    case kFormGnuRefAlt:
      if (file_.alternate() == nullptr) return std::nullopt;
      return DwarfReference{file_.alternate(), value.number};
    default:
      return std::nullopt;
  }
}

// Where in .debug_rnglists or .debug_ranges a list begins.
uint64_t DwarfUnitReader::ListOffset(const DwarfValue& ranges) const {
  if (unit_.encoding.version < 5) {
    return ranges.number + (skeleton_ != nullptr ? skeleton_->root_.ranges_base : 0);
  }
  if (ranges.form != kFormRnglistx) return ranges.number;
  const uint64_t size = unit_.encoding.offset_size;
  // Without a base the first table of the section is meant, behind its header.
  const uint64_t base = root_.rnglists_base.value_or(size == 8 ? 20 : 12);
  const std::span<const std::byte> lists = file_.sections().rnglists;
  const auto at = Slot(base, ranges.number, size, lists.size());
  return at ? base + file_.Read(lists, *at).Number(size) : ~uint64_t{0};
}

}  // namespace ksamp
