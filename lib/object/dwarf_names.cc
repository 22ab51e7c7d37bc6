// SPDX-License-Identifier: Apache-2.0
#include "lib/object/dwarf_names.h"

#include <algorithm>

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

// Behind the children of an entry, if it says where that is. `at` is behind the entry's code.
std::optional<uint64_t> SiblingOf(const DwarfUnitReader& reader, const DwarfAbbrev& abbrev, DwarfCursor at) {
  if (abbrev.sibling_at == DwarfAbbrev::kVariable) return std::nullopt;
  const uint64_t from = at.position();
  at.Skip(abbrev.sibling_at);
  const auto target = reader.ReferenceOf(reader.Read(&at, abbrev.sibling));
  if (!target || target->offset <= from || target->offset > reader.unit().end) return std::nullopt;
  return target->offset;
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

std::vector<DwarfNames::Scope> DwarfNames::FindScopes(const DwarfUnitReader& reader) {
  std::vector<Scope> scopes;
  std::vector<std::optional<size_t>> open = {std::nullopt};  // at each depth, the scope that was opened there
  std::optional<size_t> current;
  const DwarfUnit& unit = reader.unit();
  DwarfCursor at = reader.file().Info(unit.first_entry);
  work_.Spend(unit.end - unit.first_entry);
  while (at.ok() && at.position() < unit.end && !work_.spent()) {
    const uint64_t begin = at.position(), code = at.Uleb();
    if (code == 0) {
      if (open.back()) {
        scopes[*open.back()].end = begin;
        current = scopes[*open.back()].outer;
      }
      if (open.size() > 1) open.pop_back();
      continue;
    }
    const DwarfAbbrev* abbrev = reader.abbrevs().Find(code);
    if (abbrev == nullptr) break;
    const bool scope = IsScope(abbrev->tag) && abbrev->has_children;
    if (scope) {
      scopes.push_back({begin, unit.end, current, NameAt(reader, *abbrev, at)});
      current = scopes.size() - 1;
    } else if (abbrev->has_children && begin != unit.first_entry) {
      if (const std::optional<uint64_t> sibling = SiblingOf(reader, *abbrev, at)) {
        at.Seek(*sibling);
        continue;
      }
    }
    reader.SkipEntry(&at, *abbrev);
    if (abbrev->has_children) open.push_back(scope ? current : std::nullopt);
  }
  return scopes;
}

std::string DwarfNames::Qualified(const DwarfUnitReader& reader, uint64_t offset, std::string_view name) {
  const auto [it, added] = scopes_.try_emplace(&reader.unit());
  if (added) it->second = FindScopes(reader);
  const std::vector<Scope>& scopes = it->second;
  const auto after = std::upper_bound(scopes.begin(), scopes.end(), offset,
                                      [](uint64_t o, const Scope& scope) { return o < scope.begin; });
  std::string path(name);
  constexpr int kMaxScopes = 64;
  std::optional<size_t> at;
  if (after != scopes.begin()) at = static_cast<size_t>(after - scopes.begin()) - 1;
  for (int i = 0; at && i < kMaxScopes; at = scopes[*at].outer) {
    const Scope& scope = scopes[*at];
    if (offset >= scope.end) continue;
    path.insert(0, "::").insert(0, scope.name.empty() ? "(anonymous namespace)" : scope.name);
    ++i;
  }
  return path;
}

}  // namespace ksamp
