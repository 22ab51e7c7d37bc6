// SPDX-License-Identifier: Apache-2.0
#include "lib/object/dwarf_line_program.h"

#include <algorithm>

#include "lib/base/str_cat.h"
#include "lib/object/dwarf_constants.h"

namespace ksamp {
namespace {

// Gives wanted addresses the row they belong to, while the rows stream by.
class RowMatcher {
 public:
  RowMatcher(std::span<const uint64_t> wanted, const DwarfSections& sections, DwarfWork* work,
             std::span<DwarfPlace> places)
      : wanted_(wanted), sections_(sections), work_(*work), places_(places) {}

  void Row(uint64_t address, uint64_t file, uint64_t line) {
    if (!inside_) {
      inside_ = true;
      dead_ = !sections_.IsCode(address);
      Rewind(address);
    } else if (address < address_) {
      Rewind(address);  // not allowed; the assembler does it where code was written back and forth
    } else if (address > next_wanted_) {
      Assign(address);
    }
    address_ = address;
    file_ = file;
    line_ = line;
  }

  void EndSequence(uint64_t address) {
    if (inside_ && address > next_wanted_) Assign(address);
    inside_ = false;
  }

 private:
  void Rewind(uint64_t address) {
    next_ = static_cast<size_t>(std::lower_bound(wanted_.begin(), wanted_.end(), address) - wanted_.begin());
    SetNext();
  }
  void SetNext() { next_wanted_ = next_ < wanted_.size() && !dead_ ? wanted_[next_] : ~uint64_t{0}; }
  void Assign(uint64_t end) {
    const size_t first = next_;
    for (; next_ < wanted_.size() && wanted_[next_] < end; ++next_) {
      DwarfPlace& place = places_[next_];
      if (place.known) continue;
      place = {.file = static_cast<uint32_t>(file_), .line = static_cast<uint32_t>(line_), .known = true};
    }
    work_.Spend(next_ - first);
    SetNext();
  }

  std::span<const uint64_t> wanted_;
  const DwarfSections& sections_;
  DwarfWork& work_;
  std::span<DwarfPlace> places_;
  bool inside_ = false, dead_ = false;
  size_t next_ = 0;  // the first wanted address not before the row
  uint64_t next_wanted_ = 0;
  uint64_t address_ = 0, file_ = 1, line_ = 1;
};

// The state that the opcodes change.
class LineMachine {
 public:
  LineMachine(const DwarfLineSettings& settings, RowMatcher* rows) : settings_(settings), rows_(*rows) {}

  // One opcode.
  void Step(DwarfCursor* at) {
    const uint8_t opcode = at->U8();
    if (opcode >= settings_.opcode_base) {
      const unsigned special = static_cast<unsigned>(opcode) - settings_.opcode_base;
      Advance(special / settings_.line_range);
      line_ += static_cast<uint64_t>(int64_t{settings_.line_base} + special % settings_.line_range);
      return rows_.Row(address_, file_, line_);
    }
    switch (opcode) {
      case kLineExtended:
        return Extended(at);
      case kLineCopy:
        return rows_.Row(address_, file_, line_);
      case kLineAdvancePc:
        return Advance(at->Uleb());
      case kLineAdvanceLine:
        line_ += static_cast<uint64_t>(at->Sleb());
        return;
      case kLineSetFile:
        file_ = at->Uleb();
        return;
      case kLineConstAddPc:
        return Advance((255u - settings_.opcode_base) / settings_.line_range);
      case kLineFixedAdvancePc:
        address_ += at->U16();
        operation_ = 0;
        return;
      default:  // nothing that matters here
        for (unsigned i = settings_.operand_counts[opcode]; i != 0; --i) at->SkipLeb();
    }
  }

 private:
  void Advance(uint64_t by) {
    if (settings_.max_operations == 1) {
      address_ += by * settings_.min_instruction;
      return;
    }
    // VLIW: an address holds several operations.
    address_ += (operation_ + by) / settings_.max_operations * settings_.min_instruction;
    operation_ = (operation_ + by) % settings_.max_operations;
  }

  void Extended(DwarfCursor* at) {
    const uint64_t length = at->Uleb();
    if (length == 0 || length > at->remaining()) return at->Skip(~uint64_t{0});  // fails it
    const uint64_t next = at->position() + length;
    const uint8_t opcode = at->U8();
    if (opcode == kLineEndSequence) {
      rows_.EndSequence(address_);
      address_ = operation_ = 0;
      file_ = line_ = 1;
    } else if (opcode == kLineSetAddress) {
      address_ = at->Number(static_cast<size_t>(length - 1));
      operation_ = 0;
    }
    at->Seek(next);
  }

  const DwarfLineSettings& settings_;
  RowMatcher& rows_;
  uint64_t address_ = 0, operation_ = 0, file_ = 1, line_ = 1;
};

}  // namespace

DwarfLineProgram::DwarfLineProgram(const DwarfUnitReader& reader, uint64_t offset)
    : reader_(reader), encoding_(reader.unit().encoding) {
  ReadHeader(reader.file().Read(reader.file().sections().line, offset));
}

void DwarfLineProgram::ReadHeader(DwarfCursor at) {
  uint64_t length = at.U32();
  encoding_.offset_size = length == 0xffffffff ? 8 : 4;
  if (encoding_.offset_size == 8) length = at.U64();
  if (!at.ok() || length > at.remaining()) return;
  const uint64_t end = at.position() + length;
  encoding_.version = at.U16();
  if (encoding_.version < 2 || encoding_.version > 5) return;
  if (encoding_.version >= 5) {
    encoding_.address_size = at.U8();
    at.Skip(1);  // segment selectors
  }
  const uint64_t header_length = at.Number(encoding_.offset_size);
  if (!at.ok() || header_length > end - std::min(end, at.position())) return;
  const uint64_t program = at.position() + header_length;
  settings_.min_instruction = at.U8();
  if (encoding_.version >= 4) settings_.max_operations = std::max<uint8_t>(1, at.U8());
  at.Skip(1);  // default_is_stmt
  settings_.line_base = static_cast<int8_t>(at.U8());
  settings_.line_range = at.U8();
  settings_.opcode_base = at.U8();
  if (!at.ok() || settings_.line_range == 0 || settings_.opcode_base == 0) return;
  settings_.operand_counts.push_back(0);
  for (unsigned i = 1; i < settings_.opcode_base; ++i) settings_.operand_counts.push_back(at.U8());
  encoding_.version >= 5 ? ReadTables(&at) : ReadOldTables(&at);
  if (!at.ok()) return;
  program_ = program;
  end_ = end;
}

// Versions 2 to 4: number 1 is the first file, directory 0 the unit's.
void DwarfLineProgram::ReadOldTables(DwarfCursor* at) {
  directories_.push_back(reader_.root().directory);
  while (at->ok()) {
    const std::string_view directory = at->Text();
    if (directory.empty()) break;
    directories_.push_back(directory);
  }
  files_.push_back({.name = reader_.root().name, .directory = 0});
  while (at->ok()) {
    File file{.name = at->Text(), .directory = 0};
    if (file.name.empty()) break;
    file.directory = at->Uleb();
    at->SkipLeb();  // time
    at->SkipLeb();  // size
    files_.push_back(file);
  }
}

std::vector<DwarfLineProgram::EntryFormat> DwarfLineProgram::ReadFormats(DwarfCursor* at) const {
  std::vector<EntryFormat> formats;
  for (unsigned count = at->U8(); count != 0 && at->ok(); --count) {
    const auto content = static_cast<uint16_t>(at->Uleb());
    formats.push_back({.content = content, .form = static_cast<uint16_t>(at->Uleb())});
  }
  return formats;
}

DwarfLineProgram::File DwarfLineProgram::ReadEntry(DwarfCursor* at,
                                                   std::span<const EntryFormat> formats) const {
  File file;
  for (const EntryFormat& format : formats) {
    if (format.content != kLinePath && format.content != kLineDirectoryIndex) {
      SkipForm(at, format.form, encoding_);
      continue;
    }
    // Offsets here are as wide as this table's, whatever the unit's are.
    DwarfValue value{.form = format.form, .number = 0, .text = {}};
    if (format.form == kFormLineStrp || format.form == kFormStrp) {
      value.number = at->Number(encoding_.offset_size);
    } else {
      value = reader_.Read(at, {.form = format.form, .size = FixedSizeOf(format.form, encoding_)});
    }
    if (format.content == kLinePath) {
      file.name = reader_.TextOf(value);
    } else {
      file.directory = value.number;
    }
  }
  return file;
}

// Version 5: both tables count from 0, and say what their entries are made of.
void DwarfLineProgram::ReadTables(DwarfCursor* at) {
  for (const bool directories : {true, false}) {
    const std::vector<EntryFormat> formats = ReadFormats(at);
    const uint64_t count = at->Uleb();
    for (uint64_t i = 0; i < count && at->ok(); ++i) {
      const uint64_t before = at->position();
      const File entry = ReadEntry(at, formats);
      if (at->position() == before) return;  // entries of no bytes: the count could be anything
      if (directories) {
        directories_.push_back(entry.name);
      } else {
        files_.push_back(entry);
      }
    }
  }
}

std::string DwarfLineProgram::PathOf(uint64_t file) const {
  if (file >= files_.size() || files_[file].name.empty()) return {};
  const File& entry = files_[file];
  if (entry.name.starts_with('/')) return std::string(entry.name);
  std::string path;
  const std::string_view base = reader_.root().directory;
  if (entry.directory < directories_.size()) path = directories_[entry.directory];
  if (!path.starts_with('/') && !base.empty())
    path = path.empty() ? std::string(base) : StrCat(base, "/", path);
  if (path.empty()) return std::string(entry.name);
  return StrCat(path, path.ends_with('/') ? "" : "/", entry.name);
}

void DwarfLineProgram::Run(std::span<const uint64_t> addresses, DwarfWork* work,
                           std::span<DwarfPlace> places) const {
  if (program_ == end_ || addresses.empty()) return;
  const DwarfFile& file = reader_.file();
  work->Spend(end_ - program_);
  RowMatcher rows(addresses, file.sections(), work, places);
  LineMachine machine(settings_, &rows);
  DwarfCursor at = file.Read(file.sections().line.first(end_), program_);
  while (at.ok() && !at.at_end() && !work->spent()) machine.Step(&at);
}

}  // namespace ksamp
