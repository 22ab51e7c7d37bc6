// SPDX-License-Identifier: Apache-2.0
#include "lib/symbol/module_symbolizer.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "lib/object/debug_file_finder.h"
#include "lib/object/elf_symbols.h"
#include "lib/object/symbol_table.h"
#include "lib/symbol/debug_dirs.h"
#include "lib/symbol/source_lookup.h"

namespace ksamp {
namespace {

std::optional<uint64_t> ParseAddress(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  if (text.starts_with("0x")) text.remove_prefix(2);
  uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() || value == 0) return std::nullopt;
  return value;
}

void SortByAddress(std::vector<SectionAnchor>* anchors) {
  std::sort(anchors->begin(), anchors->end(),
            [](const SectionAnchor& a, const SectionAnchor& b) { return a.address < b.address; });
}

// The section loaded last at or before the address.
const SectionAnchor* AnchorOf(std::span<const SectionAnchor> anchors, uint64_t address) {
  const auto after =
      std::upper_bound(anchors.begin(), anchors.end(), address,
                       [](uint64_t a, const SectionAnchor& anchor) { return a < anchor.address; });
  return after == anchors.begin() ? nullptr : &*(after - 1);
}

// "[nf_tables]", "/lib/modules/…/nf-tables.ko.xz" -> "nf_tables".
std::string ModuleName(const Image& image) {
  if (const std::string name = ModuleNameOfFile(Basename(image.path)); !name.empty()) return name;
  std::string_view name = image.path;
  if (name.size() > 2 && name.front() == '[' && name.back() == ']') name = name.substr(1, name.size() - 2);
  return std::string(Basename(name));
}

uint64_t BaseOf(const Image& image) {
  return image.module_base.value != 0 ? image.module_base.value : image.start.value;
}

// Addresses of an ET_REL file for runtime addresses; ~0 where no section of the file holds one.
std::vector<uint64_t> ToRelocatable(const ElfImage& elf, std::span<const SectionAnchor> anchors,
                                    std::span<const uint64_t> addresses) {
  std::vector<uint64_t> found;
  for (uint64_t address : addresses) {
    found.push_back(~uint64_t{0});
    const SectionAnchor* anchor = AnchorOf(anchors, address);
    const ElfSection* section = anchor == nullptr ? nullptr : elf.FindSection(anchor->section);
    if (section == nullptr || address - anchor->address >= section->size) continue;
    found.back() =
        RelocatableAddress(static_cast<uint64_t>(section - elf.sections().data()), address - anchor->address);
  }
  return found;
}

}  // namespace

std::vector<SectionAnchor> ParseSectionAnchors(std::string_view text, std::string_view module) {
  std::vector<SectionAnchor> anchors;
  while (!text.empty()) {
    const size_t newline = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, newline);
    text.remove_prefix(std::min(newline + 1, text.size()));
    const size_t first = line.find(' '), second = line.find(' ', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    if (!SameModuleName(line.substr(0, first), module)) continue;
    const std::optional<uint64_t> address = ParseAddress(line.substr(second + 1));
    if (address) anchors.push_back({std::string(line.substr(first + 1, second - first - 1)), *address});
  }
  SortByAddress(&anchors);
  return anchors;
}

std::vector<SectionAnchor> ModuleSymbolizer::Anchors(const std::string& module, uint64_t base) {
  std::vector<SectionAnchor> anchors = ParseSectionAnchors(options_.kernel.module_sections, module);
  if (!anchors.empty() || !kernel_->recorded_kernel_is_live()) return anchors;
  // The module may have been loaded anew, elsewhere, since.
  const std::string live = ReadFile(StrCat(options_.proc_root, "/modules"), 1 << 20).value_or(std::string());
  const std::vector<ModuleRange> loaded = ParseModuleRanges(live);
  const bool in_place = std::any_of(loaded.begin(), loaded.end(), [&](const ModuleRange& range) {
    return SameModuleName(range.name, module) && range.start == base;
  });
  if (!in_place) return {};
  std::error_code error;
  const std::string folder = StrCat(options_.sys_root, "/module/", module, "/sections");
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const absl::StatusOr<std::string> text = ReadFile(it->path().string(), 64);
    const std::optional<uint64_t> address = text.ok() ? ParseAddress(*text) : std::nullopt;
    if (address) anchors.push_back({it->path().filename().string(), *address});
  }
  SortByAddress(&anchors);
  return anchors;
}

std::vector<std::string> ModuleSymbolizer::ModuleFiles(const Image& image, const std::string& module) {
  std::vector<std::string> paths;
  if (image.path.starts_with('/')) {
    if (!options_.root.empty()) paths.push_back(options_.root + image.path);
    paths.push_back(image.path);
  }
  for (std::string& path : index_->FindModule(module)) paths.push_back(std::move(path));
  if (options_.live_machine && !options_.kernel.os_release.empty()) {
    std::call_once(installed_made_, [this] {
      installed_ = std::make_unique<ImageIndex>(
          std::vector<std::string>{StrCat(options_.modules_root, "/", options_.kernel.os_release)});
    });
    for (std::string& path : installed_->FindModule(module)) paths.push_back(std::move(path));
  }
  return paths;
}

std::optional<ElfImage> ModuleSymbolizer::OpenModule(const Image& image, const std::string& module,
                                                     std::string* path, SymbolCollector* collect) {
  for (const std::string& candidate : ModuleFiles(image, module)) {
    absl::StatusOr<ElfImage> elf = ElfImage::Open(candidate);
    if (!elf.ok() || elf->type() != ET_REL) continue;
    const std::span<const std::byte> id = elf->build_id();
    const bool same = std::equal(id.begin(), id.end(), image.build_id.begin(), image.build_id.end(),
                                 [](std::byte a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
    if (!image.build_id.empty() && !same) {
      collect->Note(StrCat(candidate, " is another build of the module; not used"));
      continue;
    }
    *path = candidate;
    return *std::move(elf);
  }
  return std::nullopt;
}

void ModuleSymbolizer::ResolveByFile(const Image& image, const std::string& module,
                                     std::span<const SectionAnchor> anchors,
                                     std::span<const uint64_t> addresses, SymbolCollector* collect) {
  std::string path;
  const std::optional<ElfImage> elf = OpenModule(image, module, &path, collect);
  if (!elf || anchors.empty()) return;
  // A stripped module's debug file has the same sections by name, not always by number.
  DebugFile debug;
  const ElfImage* source = &*elf;
  if (!HasSymtab(*elf)) {
    debug = FindDebugFile(*elf, path, DebugDirs(options_));
    if (debug.elf) {
      source = &*debug.elf;
      path = debug.path;
    }
  }
  const std::vector<uint64_t> places = ToRelocatable(*source, anchors, addresses);
  std::vector<uint64_t> wanted = places;
  std::sort(wanted.begin(), wanted.end());
  SymbolTableBuilder builder(wanted);
  if (AddElfSymbols(*source, &builder) == 0) return;
  const SymbolTable table = std::move(builder).Build();
  collect->SetFile(path);
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (const auto match = table.Find(places[i])) {
      collect->Found(i, match->id, match->name, addresses[i] - (places[i] - match->start), match->size);
    } else {
      collect->NotFound(i, UnresolvedReason::kBetweenSymbols);
    }
  }
}

void ModuleSymbolizer::AddSource(const Image& image, const std::string& module,
                                 std::span<const SectionAnchor> anchors, std::span<const uint64_t> addresses,
                                 ImageSymbols* found) {
  const SourceLookup lookup(options_);
  if (!lookup.wanted() || anchors.empty()) return;
  std::string path;
  SymbolCollector notes(0);
  const std::optional<ElfImage> elf = OpenModule(image, module, &path, &notes);
  ImageSymbols said = std::move(notes).Take();
  found->notes.insert(found->notes.end(), said.notes.begin(), said.notes.end());
  if (!elf) {
    found->notes.push_back(StrCat("no file of module ", module, ": its lines are not known"));
    return;
  }
  DebugFile debug;
  const ElfImage* source = &*elf;
  if (elf->FindSection(".debug_info") == nullptr) {
    debug = FindDebugFile(*elf, path, DebugDirs(options_));
    if (debug.elf) {
      source = &*debug.elf;
      path = debug.path;
    }
  }
  std::vector<uint64_t> starts;
  for (const Symbol& symbol : found->symbols) starts.push_back(symbol.start);
  lookup.AddTo(*source, path, ToRelocatable(*source, anchors, addresses),
               ToRelocatable(*source, anchors, starts), found);
}

ImageSymbols ModuleSymbolizer::Resolve(const Image& image, std::span<const uint64_t> addresses) {
  SymbolCollector collect(addresses.size());
  const std::string module = ModuleName(image);
  const KernelSymbolSource& from = kernel_->source();
  for (const std::string& note : from.notes) collect.Note(note);
  const std::vector<SectionAnchor> anchors = Anchors(module, BaseOf(image));
  if (anchors.empty()) {
    collect.Note(StrCat("where the sections of ", module,
                        " were loaded was not recorded: its addresses count from the module's begin"));
  }
  const bool in_table = from.modules_usable && from.kallsyms.HasModule(module);
  for (size_t i = 0; i < addresses.size(); ++i) {
    const SectionAnchor* anchor = AnchorOf(anchors, addresses[i]);
    collect.SetElf(i, ElfAddress(addresses[i] - (anchor != nullptr ? anchor->address : BaseOf(image))));
    const auto match = in_table ? from.kallsyms.Find(addresses[i]) : std::nullopt;
    if (match) {
      collect.Found(i, match->id, match->name, match->start, match->size);
    } else if (in_table) {
      collect.NotFound(i, UnresolvedReason::kBetweenSymbols);
    } else {
      // A table without this module: opreport's row "/kvm_intel".
      collect.NotFound(i, from.kallsyms.empty() ? from.reason : UnresolvedReason::kImageHasNoSymbols);
    }
  }
  collect.SetFile(from.label);
  if (!in_table) ResolveByFile(image, module, anchors, addresses, &collect);
  ImageSymbols found = std::move(collect).Take();
  AddSource(image, module, anchors, addresses, &found);
  return found;
}

}  // namespace ksamp
