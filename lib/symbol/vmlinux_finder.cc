// SPDX-License-Identifier: Apache-2.0
#include "lib/symbol/vmlinux_finder.h"

#include <algorithm>
#include <utility>

#include "lib/base/str_cat.h"
#include "lib/symbol/debug_dirs.h"

namespace ksamp {
namespace {

std::string HexText(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

bool HasBuildId(const ElfImage& elf, const std::vector<uint8_t>& wanted) {
  return std::equal(elf.build_id().begin(), elf.build_id().end(), wanted.begin(), wanted.end(),
                    [](std::byte a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
}

}  // namespace

std::vector<std::string> VmlinuxCandidates(const SymbolizerOptions& options) {
  std::vector<std::string> paths;
  const std::string id = HexText(options.kernel.build_id);
  const std::vector<std::string> debug_dirs = DebugDirs(options);
  if (id.size() > 2) {
    for (const std::string& directory : debug_dirs) {
      paths.push_back(StrCat(directory, "/.build-id/", id.substr(0, 2), "/", id.substr(2), ".debug"));
    }
  }
  const std::string& release = options.kernel.os_release;
  // A release is one word; what else stands there must not lead out of the folders.
  if (release.empty() || release.find('/') != std::string::npos) return paths;
  for (const std::string& directory : debug_dirs) {
    paths.push_back(StrCat(directory, "/boot/vmlinux-", release));
    paths.push_back(StrCat(directory, "/lib/modules/", release, "/vmlinux"));
    paths.push_back(StrCat(directory, "/lib/modules/", release, "/vmlinux.debug"));
    paths.push_back(StrCat(directory, "/boot/vmlinux-", release, ".debug"));
    paths.push_back(StrCat(directory, "/usr/lib/modules/", release, "/vmlinux"));
  }
  std::vector<std::string> roots;
  if (!options.root.empty()) roots.push_back(options.root);
  if (options.live_machine || options.root.empty()) roots.emplace_back();
  for (const std::string& root : roots) {
    paths.push_back(StrCat(root, options.modules_root, "/", release, "/build/vmlinux"));
    paths.push_back(StrCat(root, options.modules_root, "/", release, "/vmlinux"));
    paths.push_back(StrCat(root, "/boot/vmlinux-", release));
  }
  return paths;
}

VmlinuxFile FindVmlinux(const SymbolizerOptions& options) {
  VmlinuxFile found;
  for (const std::string& path : VmlinuxCandidates(options)) {
    absl::StatusOr<ElfImage> elf = ElfImage::Open(path);
    if (!elf.ok()) continue;
    const bool known = !options.kernel.build_id.empty();
    if (known && !HasBuildId(*elf, options.kernel.build_id)) {
      found.note = StrCat(path, " is another build than the recorded kernel; not used");
      continue;
    }
    found.note = known ? "" : StrCat(path, ": taken by its path alone, the recording has no build-id");
    found.elf = *std::move(elf);
    found.path = path;
    return found;
  }
  if (found.note.empty()) {
    found.note =
        "no vmlinux with debug info of the recorded kernel: its lines are not known (--vmlinux, or the "
        "distribution's debug package of the kernel)";
  }
  return found;
}

}  // namespace ksamp
