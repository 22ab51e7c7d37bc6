// SPDX-License-Identifier: Apache-2.0
#include "lib/symbol/user_symbolizer.h"

#include <sys/auxv.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
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

bool SameBuildId(std::span<const std::byte> file, const std::vector<uint8_t>& recorded) {
  return std::equal(file.begin(), file.end(), recorded.begin(), recorded.end(),
                    [](std::byte a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
}

UnresolvedReason ReasonOf(const absl::Status& status) {
  const int error = StatusErrno(status);
  if (error == ENOENT || error == ENOTDIR) return UnresolvedReason::kFileNotFound;
  if (error != 0) return UnresolvedReason::kFileNotReadable;
  if (MessageOf(status).ends_with("not a regular file")) return UnresolvedReason::kFileNotReadable;
  return UnresolvedReason::kNotAnElfFile;
}

// A later candidate's failure says more only where the earlier ones said less.
bool SaysMore(UnresolvedReason reason, UnresolvedReason than) {
  const auto weight = [](UnresolvedReason r) {
    switch (r) {
      case UnresolvedReason::kFileReplaced:
        return 3;
      case UnresolvedReason::kNotAnElfFile:
        return 2;
      case UnresolvedReason::kFileNotReadable:
        return 1;
      default:
        return 0;
    }
  };
  return weight(reason) > weight(than);
}

std::string MapFilesEntry(const Image& image) {
  const std::string start = StrCat(Hex(image.start.value)), end = StrCat(Hex(image.end.value));
  return StrCat("map_files/", start.substr(2), "-", end.substr(2));
}

// The kernel's link from a mapping to its file still names the recorded path.
bool IsLinkTo(const std::string& link, const std::string& path) {
  std::error_code error;
  const std::string target = std::filesystem::read_symlink(link, error).string();
  return !error && (target == path || target == path + " (deleted)");
}

// Our own vdso, as the kernel mapped it: the same for all processes of this kernel and class.
std::vector<std::byte> OwnVdso() {
  const auto* base =
      reinterpret_cast<const std::byte*>(getauxval(AT_SYSINFO_EHDR));  // NOLINT: an address by contract
  if (base == nullptr) return {};
  Elf64_Ehdr header;
  std::memcpy(&header, base, sizeof(header));
  // Its section headers come last; the mapping is whole pages.
  uint64_t size = header.e_shoff + uint64_t{header.e_shnum} * header.e_shentsize;
  constexpr uint64_t kMaxVdso = 1 << 20;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || size > kMaxVdso) return {};
  for (uint16_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, base + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (segment.p_type == PT_LOAD) size = std::max(size, segment.p_offset + segment.p_filesz);
  }
  return {base, base + size};
}

}  // namespace

// One note per image: of the reason that will stand in the report.
void UserSymbolizer::Refuse(UnresolvedReason reason, std::string note, Opened* opened) {
  if (!SaysMore(reason, opened->reason)) return;
  opened->reason = reason;
  opened->notes.assign(1, std::move(note));
}

bool UserSymbolizer::Try(const std::string& path, const Image& image, Opened* opened) {
  absl::StatusOr<ElfImage> elf = ElfImage::Open(path);
  if (!elf.ok()) {
    Refuse(ReasonOf(elf.status()), MessageOf(elf.status()), opened);
    return false;
  }
  if (!image.build_id.empty() && !SameBuildId(elf->build_id(), image.build_id)) {
    Refuse(UnresolvedReason::kFileReplaced,
           elf->build_id().empty() ? StrCat(path, " has no build-id, the recorded file had one; not used")
                                   : StrCat(path,
                                            recorded_here_ ? " was replaced since the recording"
                                                           : " is another build than the recorded file",
                                            " (other build-id); not used"),
           opened);
    return false;
  }
  opened->elf = *std::move(elf);
  opened->path = path;
  opened->notes.clear();  // What did not work before does not matter any more.
  return true;
}

void UserSymbolizer::TryProcess(const Image& image, Opened* opened) {
  if (!recorded_here_ || image.pid == 0) return;
  const std::string process = StrCat(options_.proc_root, "/", image.pid, "/");
  const std::string entry = StrCat(process, MapFilesEntry(image));
  if (IsLinkTo(entry, image.path) && Try(entry, image, opened)) return;
  // A pid may be another process by now: its root is believed only where a build-id proves the file.
  if (!image.build_id.empty()) Try(StrCat(process, "root", image.path), image, opened);
}

void UserSymbolizer::TryIndex(const Image& image, Opened* opened) {
  const std::vector<std::string> paths = index_->Find(Basename(image.path));
  if (image.build_id.empty() && paths.size() > 1) {
    opened->notes.push_back(StrCat(image.path, " matches more than one file below the image paths (",
                                   paths[0], ", ", paths[1], "); none used"));
    return;
  }
  for (const std::string& path : paths) {
    if (Try(path, image, opened)) return;
  }
}

UserSymbolizer::Opened UserSymbolizer::OpenFile(const Image& image) {
  Opened opened;
  // A deleted file's path is somebody else's now, and below another root everything is, unless a build-id
  // says otherwise.
  const bool path_is_its_own = !image.build_id.empty() || (!image.deleted && options_.root.empty());
  if (!options_.root.empty() && Try(StrCat(options_.root, image.path), image, &opened)) return opened;
  if (path_is_its_own && Try(image.path, image, &opened)) return opened;
  TryProcess(image, &opened);
  if (!opened.elf) TryIndex(image, &opened);
  if (!opened.elf && image.deleted && opened.reason == UnresolvedReason::kFileNotFound) {
    opened.notes.push_back(StrCat(image.path, " was deleted before the end of the recording"));
  }
  return opened;
}

UserSymbolizer::Opened UserSymbolizer::OpenVdso(const Image& image) {
  Opened opened;
  opened.path = "[vdso]";
  if (!options_.live_machine) return opened;
  absl::StatusOr<ElfImage> elf = ElfImage::FromBytes(OwnVdso(), "[vdso]");
  if (!elf.ok()) return opened;
  if (!image.build_id.empty() && !SameBuildId(elf->build_id(), image.build_id)) {
    opened.reason = UnresolvedReason::kFileReplaced;
    opened.notes.push_back("the recorded [vdso] is another kernel's; not used");
    return opened;
  }
  opened.elf = *std::move(elf);
  return opened;
}

namespace {

// Elf addresses of file offsets; kNowhere where no segment has one.
std::vector<uint64_t> Translated(const ElfImage& elf, std::span<const uint64_t> file_offsets) {
  std::vector<uint64_t> addresses;
  addresses.reserve(file_offsets.size());
  for (const uint64_t offset : file_offsets) {
    const std::optional<ElfAddress> address = elf.ToElfAddress(FileOffset(offset));
    addresses.push_back(address ? address->value : SourceLookup::kNowhere);
  }
  return addresses;
}

}  // namespace

// Returns the addresses that the debug info counts in.
std::vector<uint64_t> UserSymbolizer::ResolveIn(const Opened& opened, std::span<const uint64_t> file_offsets,
                                                SymbolCollector* collect) {
  const ElfImage& elf = *opened.elf;
  std::vector<uint64_t> addresses = Translated(elf, file_offsets);
  std::vector<uint64_t> wanted = addresses;
  std::erase(wanted, SourceLookup::kNowhere);
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  SymbolTableBuilder builder(wanted);
  size_t symbols = AddElfSymbols(elf, &builder);
  symbols += AddPltSymbols(elf, &builder);
  collect->SetFile(opened.path);
  // Stripped: the rest of the symbols is elsewhere. The table's names point into these two.
  DebugFile debug;
  std::optional<ElfImage> mini;
  if (!HasSymtab(elf)) {
    debug = FindDebugFile(elf, opened.path, DebugDirs(options_));
    if (debug.elf) {
      symbols += AddElfSymbols(*debug.elf, &builder);
      collect->SetFile(debug.path);
    } else if ((mini = ReadMiniDebugInfo(elf))) {
      symbols += AddElfSymbols(*mini, &builder);
    }
  }
  const SymbolTable table = std::move(builder).Build();
  const bool stripped = !HasSymtab(elf) && !debug.elf && !mini;
  const UnresolvedReason missing = symbols == 0 ? UnresolvedReason::kImageHasNoSymbols
                                   : stripped   ? UnresolvedReason::kNotExported
                                                : UnresolvedReason::kBetweenSymbols;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const bool somewhere = addresses[i] != SourceLookup::kNowhere;
    if (somewhere) collect->SetElf(i, ElfAddress(addresses[i]));
    const auto match = somewhere ? table.Find(addresses[i]) : std::nullopt;
    if (match) {
      collect->Found(i, match->id, match->name, match->start, match->size);
    } else {
      collect->NotFound(i, missing);
    }
  }
  return addresses;
}

ImageSymbols UserSymbolizer::Resolve(const Image& image, std::span<const uint64_t> file_offsets) {
  SymbolCollector collect(file_offsets.size());
  const Opened opened = image.kind == ImageKind::kVdso ? OpenVdso(image) : OpenFile(image);
  for (const std::string& note : opened.notes) collect.Note(note);
  if (!opened.elf) {
    collect.NoneFound(opened.reason);
    return std::move(collect).Take();
  }
  const std::vector<uint64_t> addresses = ResolveIn(opened, file_offsets, &collect);
  ImageSymbols found = std::move(collect).Take();
  const SourceLookup lookup(options_);
  if (lookup.wanted() && image.kind == ImageKind::kFile) {
    std::vector<uint64_t> starts;
    for (const Symbol& symbol : found.symbols) starts.push_back(symbol.start);
    lookup.AddTo(*opened.elf, opened.path, addresses, starts, &found);
  }
  return found;
}

}  // namespace ksamp
