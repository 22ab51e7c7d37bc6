// SPDX-License-Identifier: Apache-2.0
#include "lib/report/names.h"

#include <algorithm>
#include <string_view>

#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"

namespace ksamp {
namespace {

// "[kvm_intel]" or ".../kvm-intel.ko.xz" -> "kvm_intel": the name the kernel knows it by.
std::string ModuleName(std::string_view path) {
  std::string name(Basename(path));
  if (name.size() > 2 && name.front() == '[' && name.back() == ']') return name.substr(1, name.size() - 2);
  if (const size_t extension = name.find(".ko"); extension != std::string::npos && extension > 0)
    name.resize(extension);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string AnonymousName(const Image& image) {
  // [heap], [stack] and memfds have a name of their own.
  if (!image.path.empty() && !image.path.starts_with("//anon")) return std::string(Basename(image.path));
  return StrCat("anon (tgid:", image.pid, " range:", Hex(image.start.value), "-", Hex(image.end.value), ")");
}

}  // namespace

std::string ShortImageName(const Image& image) {
  switch (image.kind) {
    case ImageKind::kModule:
      return ModuleName(image.path);
    case ImageKind::kAnonymous:
      return AnonymousName(image);
    case ImageKind::kKernel:
      return image.path.empty() ? "vmlinux" : std::string(Basename(image.path));
    case ImageKind::kUnknown:
      return image.path.empty() ? "[unknown]" : image.path;
    default:
      return std::string(Basename(image.path));
  }
}

std::string LongImageName(const Image& image) {
  if (image.kind == ImageKind::kModule && !image.path.starts_with('/')) return "/" + ModuleName(image.path);
  if (image.kind == ImageKind::kAnonymous || image.path.empty()) return ShortImageName(image);
  return image.path;
}

std::string PlaceText(const SourcePlace& place, bool long_name) {
  if (place.file.empty()) return "(no location information)";
  const std::string_view file = long_name ? place.file : Basename(place.file);
  return place.line == 0 ? StrCat(file, ":?") : StrCat(file, ":", place.line);
}

std::vector<uint32_t> ShownEvents(const Profile& profile) {
  std::vector<uint32_t> shown;
  for (uint32_t i = 0; i < profile.events.size(); ++i) {
    const uint64_t taken = i < profile.conservation.size() ? profile.conservation[i].taken : 0;
    if (taken > 0 || !profile.events[i].tracking) shown.push_back(i);
  }
  return shown;
}

std::vector<std::string> NoteLines(std::string_view note) {
  std::vector<std::string> lines;
  while (!note.empty()) {
    const size_t end = std::min(note.find('\n'), note.size());
    if (end > 0) lines.push_back(EscapeForTerminal(note.substr(0, end)));
    note.remove_prefix(std::min(end + 1, note.size()));
  }
  return lines;
}

std::string UnresolvedName(const Image& image, UnresolvedReason reason) {
  if (reason == UnresolvedReason::kStackTooDeep) return StrCat("[truncated: ", Text(reason), "]");
  if (reason != UnresolvedReason::kImageHasNoSymbols) return StrCat("[unresolved: ", Text(reason), "]");
  return image.kind == ImageKind::kModule ? "/" + ModuleName(image.path) : LongImageName(image);
}

}  // namespace ksamp
