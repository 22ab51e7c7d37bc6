// SPDX-License-Identifier: Apache-2.0
#include "tools/image_selection.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "lib/base/file_io.h"

namespace ksamp {
namespace {

// No image has an empty component in its path.
constexpr const char* kMatchesNothing = "//";

// "kvm-intel.ko.xz", "[kvm_intel]" -> "kvm_intel"
std::string ModuleName(std::string_view basename) {
  std::string name(basename);
  if (name.size() > 2 && name.front() == '[' && name.back() == ']') name = name.substr(1, name.size() - 2);
  if (const size_t extension = name.find(".ko"); extension != std::string::npos) name.resize(extension);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::set<std::string> FilesBelow(std::span<const std::string> directories) {
  std::set<std::string> names;
  for (const std::string& directory : directories) {
    std::error_code error;
    std::filesystem::recursive_directory_iterator at(
        directory, std::filesystem::directory_options::skip_permission_denied, error);
    for (const std::filesystem::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string();
      names.insert(name);
      if (name.find(".ko") != std::string::npos) names.insert("[" + ModuleName(name) + "]");
    }
  }
  return names;
}

}  // namespace

std::string GlobOf(std::string_view text) {
  std::string glob;
  for (char c : text) {
    if (c == '*' || c == '?' || c == '[') {
      glob.append("[").append(1, c).append("]");
    } else {
      glob += c;
    }
  }
  return glob;
}

std::vector<std::string> ImagesBelow(std::span<const Image> images,
                                     std::span<const std::string> directories) {
  const std::set<std::string> files = FilesBelow(directories);
  std::set<std::string> globs;
  for (const Image& image : images) {
    if (image.path.empty()) continue;
    const std::string name(Basename(image.path));
    const std::string module = image.kind == ImageKind::kModule ? "[" + ModuleName(name) + "]" : name;
    if (files.contains(name) || files.contains(module)) globs.insert(GlobOf(image.path));
  }
  if (globs.empty()) return {kMatchesNothing};
  return {globs.begin(), globs.end()};
}

}  // namespace ksamp
