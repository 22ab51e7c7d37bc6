// SPDX-License-Identifier: Apache-2.0
#include "lib/object/debug_file_finder.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "lib/base/compression.h"
#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

constexpr size_t kMaxMiniDebugBytes = size_t{256} << 20;

std::string HexText(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::byte byte : bytes) {
    text.push_back(kDigits[static_cast<unsigned>(byte) >> 4]);
    text.push_back(kDigits[static_cast<unsigned>(byte) & 15]);
  }
  return text;
}

bool SameBytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// Tries one candidate and keeps it where it proves itself.
class Search {
 public:
  explicit Search(const ElfImage& elf) : elf_(elf) {}
  bool done() const { return found_.elf.has_value(); }
  DebugFile Take() && { return std::move(found_); }

  void TryBuildId(const std::string& path) {
    Try(path, [this](const ElfImage& file) -> std::string_view {
      return SameBytes(file.build_id(), elf_.build_id()) ? "" : "other build-id";
    });
  }

  void TryLink(const std::string& path, uint32_t crc) {
    Try(path, [this, crc](const ElfImage& file) -> std::string_view {
      if (!file.build_id().empty() && !elf_.build_id().empty() &&
          !SameBytes(file.build_id(), elf_.build_id())) {
        return "other build-id";
      }
      return Crc32(file.bytes()) == crc ? "" : "other CRC";
    });
  }

 private:
  template <typename Refuse>
  void Try(const std::string& path, const Refuse& refuse) {
    if (done()) return;
    absl::StatusOr<ElfImage> file = ElfImage::Open(path);
    if (!file.ok()) {
      found_.tried.push_back(
          {path, StatusErrno(file.status()) == ENOENT ? "not found" : MessageOf(file.status())});
      return;
    }
    std::string_view verdict = refuse(*file);
    if (verdict.empty() && (file->machine() != elf_.machine() || file->is_64() != elf_.is_64())) {
      verdict = "for another machine";
    }
    found_.tried.push_back({path, verdict.empty() ? "used" : std::string(verdict)});
    if (!verdict.empty()) return;
    found_.elf = *std::move(file);
    found_.path = path;
  }

  const ElfImage& elf_;
  DebugFile found_;
};

}  // namespace

std::optional<DebugLink> ReadDebugLink(const ElfImage& elf) {
  const ElfSection* section = elf.FindSection(".gnu_debuglink");
  if (section == nullptr) return std::nullopt;
  const std::span<const std::byte> bytes = elf.RawBytes(*section);
  const std::string_view name = StringAt(bytes, 0);
  const size_t crc_at = (name.size() + 4) / 4 * 4;  // behind the NUL, aligned
  // A name with a folder in it would lead out of the places searched.
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string_view::npos ||
      crc_at + 4 > bytes.size()) {
    return std::nullopt;
  }
  return DebugLink{std::string(name), static_cast<uint32_t>(elf.Number(bytes.data() + crc_at, 4))};
}

DebugFile FindDebugFile(const ElfImage& elf, const std::string& path,
                        std::span<const std::string> debug_dirs) {
  Search search(elf);
  const std::string id = HexText(elf.build_id());
  if (id.size() > 2) {
    for (const std::string& directory : debug_dirs) {
      search.TryBuildId(StrCat(directory, "/.build-id/", id.substr(0, 2), "/", id.substr(2), ".debug"));
    }
  }
  const std::optional<DebugLink> link = search.done() ? std::nullopt : ReadDebugLink(elf);
  if (link) {
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(path, error);
    const std::string folder = error ? std::string(Dirname(path)) : real.parent_path().string();
    const std::string self = error ? path : real.string();
    std::vector<std::string> candidates = {StrCat(folder, "/", link->name),
                                           StrCat(folder, "/.debug/", link->name)};
    for (const std::string& directory : debug_dirs) {
      candidates.push_back(StrCat(directory, folder.starts_with('/') ? "" : "/", folder, "/", link->name));
    }
    for (const std::string& candidate : candidates) {
      if (candidate != self) search.TryLink(candidate, link->crc);
    }
  }
  return std::move(search).Take();
}

DebugFile FindAlternateFile(const ElfImage& elf, const std::string& path,
                            std::span<const std::string> debug_dirs) {
  DebugFile found;
  const ElfSection* section = elf.FindSection(".gnu_debugaltlink");
  if (section == nullptr) return found;
  const std::span<const std::byte> bytes = elf.RawBytes(*section);
  const std::string name(StringAt(bytes, 0));
  if (name.empty() || name.size() + 1 >= bytes.size()) return found;
  const std::span<const std::byte> build_id = bytes.subspan(name.size() + 1);
  std::vector<std::string> candidates;
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  const std::string folder = error ? std::string(Dirname(path)) : real.parent_path().string();
  candidates.push_back(name.starts_with('/') ? name : StrCat(folder, "/", name));
  const std::string id = HexText(build_id);
  for (const std::string& directory : debug_dirs) {
    if (id.size() > 2) {
      candidates.push_back(StrCat(directory, "/.build-id/", id.substr(0, 2), "/", id.substr(2), ".debug"));
    }
    candidates.push_back(StrCat(directory, "/.dwz/", Basename(name)));
  }
  for (const std::string& candidate : candidates) {
    absl::StatusOr<ElfImage> file = ElfImage::Open(candidate);
    const bool same = file.ok() && SameBytes(file->build_id(), build_id);
    found.tried.push_back({candidate, same                                   ? "used"
                                      : file.ok()                            ? "other build-id"
                                      : StatusErrno(file.status()) == ENOENT ? "not found"
                                                                             : MessageOf(file.status())});
    if (!same) continue;
    found.elf = *std::move(file);
    found.path = candidate;
    break;
  }
  return found;
}

std::optional<ElfImage> ReadMiniDebugInfo(const ElfImage& elf) {
  const ElfSection* section = elf.FindSection(".gnu_debugdata");
  if (section == nullptr) return std::nullopt;
  absl::StatusOr<std::vector<std::byte>> bytes =
      Decompress(Compression::kXz, elf.RawBytes(*section), kMaxMiniDebugBytes);
  if (!bytes.ok()) return std::nullopt;
  absl::StatusOr<ElfImage> mini = ElfImage::FromBytes(*std::move(bytes), ".gnu_debugdata");
  if (!mini.ok() || mini->machine() != elf.machine() || mini->is_64() != elf.is_64()) return std::nullopt;
  return *std::move(mini);
}

}  // namespace ksamp
