// SPDX-License-Identifier: Apache-2.0
#include "lib/symbol/image_index.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

// Modules are kept under a key no basename can have.
std::string ModuleKey(std::string_view plain_name) {
  return StrCat("/", plain_name);
}

std::string PlainModuleName(std::string_view name) {
  std::string plain(name);
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return c == '-' || c == ','; }, '_');
  return plain;
}

}  // namespace

std::string ModuleNameOfFile(std::string_view basename) {
  for (std::string_view suffix : {".ko", ".ko.xz", ".ko.zst", ".ko.gz", ".ko.debug"}) {
    if (basename.size() > suffix.size() && basename.ends_with(suffix)) {
      return PlainModuleName(basename.substr(0, basename.size() - suffix.size()));
    }
  }
  return {};
}

void ImageIndex::Walk() {
  namespace fs = std::filesystem;
  size_t files = 0;
  for (const std::string& directory : directories_) {
    std::error_code error;
    std::vector<std::string> paths;
    auto it =
        fs::recursive_directory_iterator(directory, fs::directory_options::skip_permission_denied, error);
    for (; !error && it != fs::recursive_directory_iterator() && files < kMaxFiles; it.increment(error)) {
      std::error_code ignored;
      if (!it->is_directory(ignored)) {
        paths.push_back(it->path().string());
        ++files;
      }
    }
    std::sort(paths.begin(), paths.end());
    for (std::string& path : paths) {
      const std::string name(Basename(path));
      if (const std::string module = ModuleNameOfFile(name); !module.empty()) {
        by_name_[ModuleKey(module)].push_back(path);
      }
      by_name_[name].push_back(std::move(path));
    }
  }
}

std::vector<std::string> ImageIndex::Lookup(const std::string& key) {
  std::call_once(walked_, [this] { Walk(); });
  const auto it = by_name_.find(key);
  return it == by_name_.end() ? std::vector<std::string>() : it->second;
}

std::vector<std::string> ImageIndex::Find(std::string_view basename) {
  return Lookup(std::string(basename));
}

std::vector<std::string> ImageIndex::FindModule(std::string_view name) {
  return Lookup(ModuleKey(PlainModuleName(name)));
}

}  // namespace ksamp
