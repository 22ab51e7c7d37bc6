// SPDX-License-Identifier: Apache-2.0
#include "lib/object/dwarf_split.h"

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/checked_math.h"
#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

// Version 5 has the id in the header, GNU's version 4 in the root entry.
uint64_t IdOf(const DwarfUnitReader& reader) {
  return reader.unit().encoding.version >= 5 ? reader.unit().split_id : reader.root().split_id;
}

std::optional<size_t> UnitWithId(const DwarfFile& file, uint64_t id) {
  for (size_t i = 0; i < file.units().size(); ++i) {
    const DwarfUnit& unit = file.units()[i];
    if (unit.type == kUnitType || unit.type == kUnitSplitType) continue;
    if (unit.encoding.version >= 5) {
      if (unit.split_id == id) return i;
      continue;
    }
    auto abbrevs = std::make_shared<const DwarfAbbrevs>(
        DwarfAbbrevs::Parse(file.Read(file.sections().abbrev, unit.abbrevs), unit.encoding));
    if (DwarfUnitReader(file, unit, std::move(abbrevs)).root().split_id == id) return i;
  }
  return std::nullopt;
}

// The index of a package: a hash table from unit ids to rows, each row where the unit's parts of the sections
// are.
class PackageIndex {
 public:
  explicit PackageIndex(const DwarfSections& package) : package_(package) {
    DwarfCursor at(package.unit_index, 0, package.foreign_byte_order);
    const uint32_t version = at.U32();  // 16 bits and padding in version 5, which comes to the same
    columns_ = at.U32();
    rows_ = at.U32();
    slots_ = at.U32();
    const uint32_t old = 2, current = package.foreign_byte_order ? 5u << 16 : 5;
    ok_ =
        at.ok() && (version == old || version == current || version == 5) && columns_ != 0 && columns_ <= 16;
    old_ = version == old;
    // All tables lie inside the section.
    const uint64_t cells = (uint64_t{rows_} + rows_ + 1) * columns_;
    ok_ = ok_ && RangeFits(kHeader, uint64_t{slots_} * 12 + cells * 4, package.unit_index.size());
  }

  // The sections with nothing but the unit's parts.
  std::optional<DwarfSections> Find(uint64_t id) const {
    const std::optional<uint32_t> row = RowOf(id);
    if (!row) return std::nullopt;
    DwarfSections parts;
    parts.foreign_byte_order = package_.foreign_byte_order;
    parts.str = package_.str;
    parts.line_str = package_.line_str;
    const uint64_t names = kHeader + uint64_t{slots_} * 12, offsets = names + uint64_t{columns_} * 4;
    const uint64_t sizes = offsets + uint64_t{rows_} * columns_ * 4;
    for (uint32_t column = 0; column < columns_; ++column) {
      std::span<const std::byte> DwarfSections::*member = MemberOf(Word(names + column * 4));
      if (member == nullptr) continue;
      const uint64_t cell = (uint64_t{*row - 1} * columns_ + column) * 4;
      const uint64_t offset = Word(offsets + cell), size = Word(sizes + cell);
      const std::span<const std::byte> whole = package_.*member;
      if (RangeFits(offset, size, whole.size())) parts.*member = whole.subspan(offset, size);
    }
    return parts;
  }

 private:
  static constexpr uint64_t kHeader = 16;

  uint32_t Word(uint64_t at) const {
    return DwarfCursor(package_.unit_index, at, package_.foreign_byte_order).U32();
  }

  // Rows count from 1. The table's size is a power of two, and a lookup steps on by an odd number.
  std::optional<uint32_t> RowOf(uint64_t id) const {
    if (!ok_ || slots_ == 0 || (slots_ & (slots_ - 1)) != 0) return std::nullopt;
    const uint32_t mask = slots_ - 1;
    uint32_t slot = static_cast<uint32_t>(id) & mask;
    const uint32_t step = (static_cast<uint32_t>(id >> 32) & mask) | 1;
    for (uint32_t tried = 0; tried < slots_; ++tried, slot = (slot + step) & mask) {
      const uint32_t row = Word(kHeader + uint64_t{slots_} * 8 + uint64_t{slot} * 4);
      if (row == 0) return std::nullopt;
      const uint64_t found =
          DwarfCursor(package_.unit_index, kHeader + uint64_t{slot} * 8, package_.foreign_byte_order).U64();
      if (found == id) return row <= rows_ ? std::optional(row) : std::nullopt;
    }
    return std::nullopt;
  }

  std::span<const std::byte> DwarfSections::*MemberOf(uint32_t section) const {
    switch (section) {
      case 1:
        return &DwarfSections::info;
      case 3:
        return &DwarfSections::abbrev;
      case 4:
        return &DwarfSections::line;
      case 6:
        return &DwarfSections::str_offsets;
      case 8:
        return old_ ? nullptr : &DwarfSections::rnglists;
      default:
        return nullptr;
    }
  }

  const DwarfSections& package_;
  uint32_t columns_ = 0, rows_ = 0, slots_ = 0;
  bool ok_ = false, old_ = false;
};

}  // namespace

DwarfSplitFiles::DwarfSplitFiles(std::string program) : program_(std::move(program)) {
  absl::StatusOr<ElfImage> elf = ElfImage::Open(StrCat(program_, ".dwp"));
  if (!elf.ok()) return;
  package_elf_ = *std::move(elf);
  absl::StatusOr<DwarfSections> sections = DwarfSections::Load(*package_elf_, DwarfSections::Kind::kSplit);
  if (sections.ok()) package_ = *std::move(sections);
}

std::optional<DwarfSplitUnit> DwarfSplitFiles::FindInPackage(uint64_t id) const {
  if (!package_) return std::nullopt;
  std::optional<DwarfSections> parts = PackageIndex(*package_).Find(id);
  if (!parts) return std::nullopt;
  DwarfSplitUnit found{.elf = {}, .file = DwarfFile::Over(*std::move(parts))};
  const std::optional<size_t> index = UnitWithId(found.file, id);
  if (!index) return std::nullopt;
  found.index = *index;
  return found;
}

std::optional<DwarfSplitUnit> DwarfSplitFiles::Open(const std::string& path, uint64_t id) const {
  absl::StatusOr<ElfImage> elf = ElfImage::Open(path);
  if (!elf.ok()) return std::nullopt;
  DwarfSplitUnit found{.elf = *std::move(elf), .file = {}};
  absl::StatusOr<DwarfFile> file = DwarfFile::Load(*found.elf, DwarfSections::Kind::kSplit);
  if (!file.ok()) return std::nullopt;
  found.file = *std::move(file);
  const std::optional<size_t> index = UnitWithId(found.file, id);
  if (!index) return std::nullopt;
  found.index = *index;
  return found;
}

std::optional<DwarfSplitUnit> DwarfSplitFiles::Find(const DwarfUnitReader& skeleton) const {
  const uint64_t id = IdOf(skeleton);
  if (std::optional<DwarfSplitUnit> found = FindInPackage(id)) return found;
  const std::string_view name = skeleton.root().split_name, built_in = skeleton.root().directory;
  const std::string folder(Dirname(program_));
  const std::string written =
      name.starts_with('/') || built_in.empty() ? std::string(name) : StrCat(built_in, "/", name);
  for (const std::string& path : {written, StrCat(folder, "/", name), StrCat(folder, "/", Basename(name))}) {
    if (std::optional<DwarfSplitUnit> found = Open(path, id)) return found;
  }
  return std::nullopt;
}

}  // namespace ksamp
