// SPDX-License-Identifier: Apache-2.0
// DwarfFile: the debug info of one file, its units found, and the reading of their entries (DIEs).
//
//   KSAMP_ASSIGN_OR_RETURN(DwarfFile file, DwarfFile::Load(elf));
//   for (const DwarfUnit& unit : file.units()) {
//     const DwarfUnitReader reader(file, unit, abbrevs, nullptr);
//     std::cout << reader.root().name;
//   }
//
// A unit's header is read at Load, its root entry when a reader is made, the rest by whoever walks it.
// References lead to other units of the file, or of the file that dwz moved shared entries to
// (`set_alternate`).
//
// Immutable after Load (and set_alternate), so any number of threads may read; a DwarfUnitReader is for one
// thread.
#ifndef KSAMP_LIB_OBJECT_DWARF_FILE_H_
#define KSAMP_LIB_OBJECT_DWARF_FILE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "lib/object/dwarf_abbrevs.h"
#include "lib/object/dwarf_constants.h"
#include "lib/object/dwarf_cursor.h"
#include "lib/object/dwarf_sections.h"

namespace ksamp {

// How much may be read for one answer. Honest debug info needs its own size a few times; made-up one that has
// everything read again and again ends here instead of never. One per thread.
class DwarfWork {
 public:
  explicit DwarfWork(uint64_t bytes) : left_(bytes) {}
  // False once all is spent.
  bool Spend(uint64_t amount) {
    left_ -= std::min(left_, amount);
    return left_ != 0;
  }
  bool spent() const { return left_ == 0; }
  void Allow(uint64_t bytes) { left_ += bytes; }

 private:
  uint64_t left_;
};

struct DwarfUnit {
  uint64_t begin = 0, end = 0;  // of the whole unit in .debug_info
  uint64_t first_entry = 0;
  uint64_t abbrevs = 0;  // offset in .debug_abbrev
  uint64_t split_id = 0;
  DwarfEncoding encoding;
  uint8_t type = kUnitCompile;
};

// A value as it stands in an entry: which form, and its number or the text that stands there.
struct DwarfValue {
  uint16_t form = 0;
  uint64_t number = 0;
  std::string_view text;
  explicit operator bool() const { return form != 0; }
};

class DwarfFile {
 public:
  static absl::StatusOr<DwarfFile> Load(const ElfImage& elf,
                                        DwarfSections::Kind kind = DwarfSections::Kind::kMain);
  static DwarfFile Over(DwarfSections sections);

  const DwarfSections& sections() const { return sections_; }
  const std::vector<DwarfUnit>& units() const { return units_; }  // by offset
  const DwarfUnit* UnitAt(uint64_t offset) const;                 // the one that holds it
  // What DW_FORM_GNU_ref_alt and the like refer to. `file` must outlive this one.
  void set_alternate(const DwarfFile* file) { alternate_ = file; }
  const DwarfFile* alternate() const { return alternate_; }

  DwarfCursor Info(uint64_t at) const { return {sections_.info, at, sections_.foreign_byte_order}; }
  DwarfCursor Read(std::span<const std::byte> section, uint64_t at) const {
    return {section, at, sections_.foreign_byte_order};
  }

 private:
  void FindUnits();
  bool ReadUnit(DwarfCursor* at);

  DwarfSections sections_;
  std::vector<DwarfUnit> units_;
  const DwarfFile* alternate_ = nullptr;
};

// Abbreviation tables, each parsed once while it stays. One per thread.
class DwarfAbbrevCache {
 public:
  explicit DwarfAbbrevCache(DwarfWork* work) : work_(*work) {}
  std::shared_ptr<const DwarfAbbrevs> Get(const DwarfFile& file, const DwarfUnit& unit);
  // To be called before a file goes: another one may come to lie at its place.
  void Forget() { tables_.clear(); }

 private:
  DwarfWork& work_;
  absl::flat_hash_map<std::pair<const DwarfFile*, uint64_t>,
                      std::pair<DwarfEncoding, std::shared_ptr<const DwarfAbbrevs>>>
      tables_;
};

// Where an entry is.
struct DwarfReference {
  const DwarfFile* file = nullptr;
  uint64_t offset = 0;
  friend bool operator==(const DwarfReference&, const DwarfReference&) = default;
};

// What the root entry of a unit says.
struct DwarfUnitRoot {
  std::string_view name, directory, split_name;
  std::optional<uint64_t> line_table;
  uint64_t low_pc = 0, language = 0, split_id = 0;
  DwarfValue low, high, ranges;
  uint64_t str_offsets_base = 0;
  std::optional<uint64_t> addr_base, rnglists_base;
  uint64_t ranges_base = 0;  // GNU's, for the entries of the split unit
  uint16_t tag = 0;
};

// The attributes by which an entry says which code is its.
struct DwarfCodeAttributes {
  DwarfValue low, high, ranges;
};

class DwarfUnitReader {
 public:
  // `skeleton`: the unit in the main file that this one, of a .dwo, belongs to; it has the addresses.
  DwarfUnitReader(const DwarfFile& file, const DwarfUnit& unit, std::shared_ptr<const DwarfAbbrevs> abbrevs,
                  const DwarfUnitReader* skeleton = nullptr);

  const DwarfFile& file() const { return file_; }
  const DwarfUnit& unit() const { return unit_; }
  const DwarfAbbrevs& abbrevs() const { return *abbrevs_; }
  const DwarfUnitRoot& root() const { return root_; }
  bool ok() const { return root_.tag != 0; }  // there is a root entry

  DwarfValue Read(DwarfCursor* at, const DwarfAttributeSpec& spec) const;
  void Skip(DwarfCursor* at, const DwarfAttributeSpec& spec) const {
    spec.size != DwarfAbbrev::kVariable ? at->Skip(spec.size) : SkipForm(at, spec.form, unit_.encoding);
  }
  void SkipEntry(DwarfCursor* at, const DwarfAbbrev& abbrev) const {
    ksamp::SkipEntry(at, *abbrevs_, abbrev, unit_.encoding);
  }

  std::string_view TextOf(const DwarfValue& value) const;  // empty: none
  std::optional<uint64_t> AddressOf(const DwarfValue& value) const;
  std::optional<DwarfReference> ReferenceOf(const DwarfValue& value) const;

  // Calls `visit(low, high)` for each piece of code. Stops where the list is damaged or the work is spent.
  template <typename Visit>
  void ForEachRange(const DwarfCodeAttributes& code, DwarfWork* work, const Visit& visit) const {
    if (code.ranges) {
      unit_.encoding.version >= 5 ? ForEachInList(code.ranges, work, visit)
                                  : ForEachInOldList(code.ranges, work, visit);
      return;
    }
    if (!code.low || !code.high) return;
    const std::optional<uint64_t> low = AddressOf(code.low);
    if (!low) return;
    const std::optional<uint64_t> as_address = AddressOf(code.high);
    visit(*low, as_address ? *as_address : *low + code.high.number);
  }

 private:
  template <typename Visit>
  void ForEachInList(const DwarfValue& ranges, DwarfWork* work, const Visit& visit) const;
  template <typename Visit>
  void ForEachInOldList(const DwarfValue& ranges, DwarfWork* work, const Visit& visit) const;
  void ReadRoot();
  void ReadRootAttribute(uint16_t name, const DwarfValue& value);
  std::string_view IndexedText(uint64_t index) const;
  std::optional<uint64_t> IndexedAddress(uint64_t index) const;
  uint64_t ListOffset(const DwarfValue& ranges) const;

  const DwarfFile& file_;
  const DwarfUnit& unit_;
  const std::shared_ptr<const DwarfAbbrevs> abbrevs_;
  const DwarfUnitReader* const skeleton_;
  DwarfUnitRoot root_;
};

template <typename Visit>
void DwarfUnitReader::ForEachInList(const DwarfValue& ranges, DwarfWork* work, const Visit& visit) const {
  DwarfCursor at = file_.Read(file_.sections().rnglists, ListOffset(ranges));
  const size_t size = unit_.encoding.address_size;
  uint64_t base = root_.low_pc;
  while (at.ok() && work->Spend(1)) {
    const uint8_t kind = at.U8();
    uint64_t low = 0, high = 0;
    if (!at.ok() || kind == kRangeEndOfList) return;
    if (kind == kRangeBaseAddress) {
      base = at.Number(size);
      continue;
    }
    if (kind == kRangeBaseAddressx) {
      base = IndexedAddress(at.Uleb()).value_or(0);
      continue;
    }
    if (kind == kRangeOffsetPair) {
      low = base + at.Uleb();
      high = base + at.Uleb();
    } else if (kind == kRangeStartEnd) {
      low = at.Number(size);
      high = at.Number(size);
    } else if (kind == kRangeStartLength) {
      low = at.Number(size);
      high = low + at.Uleb();
    } else if (kind == kRangeStartxLength || kind == kRangeStartxEndx) {
      const std::optional<uint64_t> start = IndexedAddress(at.Uleb());
      const uint64_t second = at.Uleb();
      if (!start) continue;
      low = *start;
      high = kind == kRangeStartxLength ? low + second : IndexedAddress(second).value_or(0);
    } else {
      return;  // what follows cannot be found
    }
    if (at.ok()) visit(low, high);
  }
}

template <typename Visit>
void DwarfUnitReader::ForEachInOldList(const DwarfValue& ranges, DwarfWork* work, const Visit& visit) const {
  const DwarfFile& file = skeleton_ != nullptr ? skeleton_->file_ : file_;
  DwarfCursor at = file.Read(file.sections().ranges, ListOffset(ranges));
  const size_t size = unit_.encoding.address_size;
  const uint64_t select_base = size == 4 ? 0xffffffff : ~uint64_t{0};
  uint64_t base = root_.low_pc;
  while (at.ok() && work->Spend(1)) {
    const uint64_t low = at.Number(size), high = at.Number(size);
    if (!at.ok() || (low == 0 && high == 0)) return;
    if (low == select_base) {
      base = high;
    } else {
      visit(base + low, base + high);
    }
  }
}

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_DWARF_FILE_H_
