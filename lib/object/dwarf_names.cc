// SPDX-License-Identifier: Apache-2.0
#include "lib/object/dwarf_names.h"

namespace ksamp {
namespace {

constexpr int kMaxReferences = 16;  // compilers need three; a circle ends here

bool HasScopes(uint64_t language) {
  return language != kLanguageC && language != kLanguageC89 && language != kLanguageC99 &&
         language != kLanguageC11 && language != kLanguageMipsAssembler;
}

bool IsScope(uint16_t tag) {
  return tag == kTagNamespace || tag == kTagClassType || tag == kTagStructureType || tag == kTagUnionType ||
         tag == kTagInterfaceType || tag == kTagModule || tag == kTagEnumerationType;
}

// Steps past the children of an entry where `offset` lies behind them; else to its first child. `at` is
// behind the entry's code. False: it went to the first child.
bool StepPast(const DwarfUnitReader& reader, const DwarfAbbrev& abbrev, uint64_t offset, DwarfCursor* at) {
  if (abbrev.sibling_at != DwarfAbbrev::kVariable) {
    DwarfCursor sibling = *at;
    sibling.Skip(abbrev.sibling_at);
    const auto target = reader.ReferenceOf(reader.Read(&sibling, abbrev.sibling));
    if (target && target->offset <= offset && target->offset > at->position()) {
      at->Seek(target->offset);
      return true;
    }
  }
  reader.SkipEntry(at, abbrev);
  return !abbrev.has_children;
}

std::string_view NameAt(const DwarfUnitReader& reader, const DwarfAbbrev& abbrev, DwarfCursor at) {
  for (const DwarfAttributeSpec& spec : reader.abbrevs().AttributesOf(abbrev)) {
    if (spec.name == kAtName) return reader.TextOf(reader.Read(&at, spec));
    reader.Skip(&at, spec);
  }
  return {};
}

}  // namespace

const DwarfUnitReader* DwarfNames::ReaderOf(const DwarfReference& entry, const DwarfUnitReader& home) {
  const auto holds = [&](const DwarfUnitReader& reader) {
    return &reader.file() == entry.file && entry.offset >= reader.unit().first_entry &&
           entry.offset < reader.unit().end;
  };
  if (holds(home)) return &home;
  if (other_ != nullptr && holds(*other_)) return other_.get();
  const DwarfUnit* unit = entry.file->UnitAt(entry.offset);
  if (unit == nullptr) return nullptr;
  other_ = std::make_unique<DwarfUnitReader>(*entry.file, *unit, abbrevs_.Get(*entry.file, *unit));
  return other_.get();
}

DwarfNames::Entry DwarfNames::ReadEntry(const DwarfUnitReader& reader, uint64_t offset) {
  Entry entry;
  DwarfCursor at = reader.file().Info(offset);
  const DwarfAbbrev* abbrev = reader.abbrevs().Find(at.Uleb());
  if (abbrev == nullptr) return entry;
  for (const DwarfAttributeSpec& spec : reader.abbrevs().AttributesOf(*abbrev)) {
    const DwarfValue value = reader.Read(&at, spec);
    if (!at.ok()) break;
    switch (spec.name) {
      case kAtName:
        entry.name = reader.TextOf(value);
        break;
      case kAtLinkageName:
      case kAtMipsLinkageName:
        entry.linkage_name = reader.TextOf(value);
        break;
      case kAtAbstractOrigin:
      case kAtSpecification:
        entry.origin = reader.ReferenceOf(value);
        break;
      case kAtDeclFile:
        entry.file = value.number;
        break;
      case kAtDeclLine:
        entry.line = value.number;
        break;
      default:
        break;
    }
  }
  return entry;
}

DwarfFunction DwarfNames::Describe(const DwarfUnitReader& home, const DwarfLineProgram& home_lines,
                                   uint64_t offset) {
  DwarfFunction found;
  DwarfReference at{&home.file(), offset};
  std::optional<DwarfReference> named;
  std::string_view name;
  for (int i = 0; i < kMaxReferences; ++i) {
    const DwarfUnitReader* reader = ReaderOf(at, home);
    if (reader == nullptr) break;
    const Entry entry = ReadEntry(*reader, at.offset);
    if (entry.line != 0 && found.line == 0) {
      found.line = static_cast<uint32_t>(entry.line);
      // Another unit counts its files by its own table. That of a split unit is its skeleton's, which is
      // `home`'s too.
      found.path = reader == &home
                       ? home_lines.PathOf(entry.file)
                       : DwarfLineProgram(*reader, reader->root().line_table.value_or(~uint64_t{0}))
                             .PathOf(entry.file);
    }
    if (!entry.linkage_name.empty() && found.name.empty()) found.name = entry.linkage_name;
    // The last is the declaration, which stands in its class.
    if (!entry.name.empty()) {
      named = at;
      name = entry.name;
    }
    if (!entry.origin || (!found.name.empty() && found.line != 0)) break;
    at = *entry.origin;
  }
  if (found.name.empty() && named) found.name = NameOf(*named, name, home);
  return found;
}

std::string DwarfNames::NameOf(const DwarfReference& named, std::string_view name,
                               const DwarfUnitReader& home) {
  const DwarfUnitReader* reader = ReaderOf(named, home);
  if (reader == nullptr || !HasScopes(reader->root().language)) return std::string(name);
  return Qualified(*reader, named.offset, name);
}

// From the unit's root down to the entry, by the siblings that lie behind it.
std::string DwarfNames::Qualified(const DwarfUnitReader& reader, uint64_t offset, std::string_view name) {
  std::string path;
  std::vector<size_t> lengths = {0};  // of `path`, at each depth
  DwarfCursor at = reader.file().Info(reader.unit().first_entry);
  while (at.ok() && at.position() < offset && work_.Spend(8)) {
    const uint64_t code = at.Uleb();
    if (code == 0) {
      if (lengths.size() > 1) lengths.pop_back();
      path.resize(lengths.back());
      continue;
    }
    const DwarfAbbrev* abbrev = reader.abbrevs().Find(code);
    if (abbrev == nullptr) return std::string(name);
    const DwarfCursor entry = at;
    if (StepPast(reader, *abbrev, offset, &at)) continue;
    if (IsScope(abbrev->tag)) {
      const std::string_view scope = NameAt(reader, *abbrev, entry);
      path.append(scope.empty() ? "(anonymous namespace)" : scope).append("::");
    }
    constexpr size_t kMaxScopes = 256;
    if (lengths.size() > kMaxScopes) return std::string(name);
    lengths.push_back(path.size());
  }
  path += name;
  return path;
}

}  // namespace ksamp
