// SPDX-License-Identifier: Apache-2.0
#include "test/support/temp_tree.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace ksamp::testing {

namespace fs = std::filesystem;

TempTree::TempTree() {
  std::string pattern = (fs::temp_directory_path() / "ksamp-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
  root_ = pattern;
}

TempTree::~TempTree() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

std::string TempTree::Path(std::string_view relative) const {
  return root_ + "/" + std::string(relative);
}

std::string TempTree::Write(std::string_view relative, std::string_view content) const {
  const std::string path = Path(relative);
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!out.flush()) throw std::runtime_error("write " + path);
  return path;
}

std::string TempTree::MakeDirectory(std::string_view relative) const {
  fs::create_directories(Path(relative));
  return Path(relative);
}

std::string TempTree::Symlink(std::string_view relative, std::string_view target) const {
  const std::string path = Path(relative);
  fs::create_directories(fs::path(path).parent_path());
  fs::create_symlink(target, path);
  return path;
}

}  // namespace ksamp::testing
