// SPDX-License-Identifier: Apache-2.0
// ImageIndex: which files lie below some directories, by basename. What `-p` searches.
//
//   ImageIndex index({"/srv/symbols", "/lib/modules/6.1.0"});
//   for (const std::string& path : index.Find("libfoo.so.1")) …
//   for (const std::string& path : index.FindModule("nf_tables")) …   // nf-tables.ko.xz
//
// The walk happens once, at the first question, follows no symbolic links to directories and stops at
// kMaxFiles. Safe to ask from several threads.
#ifndef KSAMP_LIB_SYMBOL_IMAGE_INDEX_H_
#define KSAMP_LIB_SYMBOL_IMAGE_INDEX_H_

#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace ksamp {

class ImageIndex {
 public:
  static constexpr size_t kMaxFiles = 4'000'000;

  explicit ImageIndex(std::vector<std::string> directories) : directories_(std::move(directories)) {}

  // Paths of the files with that basename, in the order of the directories, then alphabetical.
  std::vector<std::string> Find(std::string_view basename);
  // Modules: NAME.ko, .ko.xz, .ko.zst, .ko.gz, .ko.debug; '_' of `name` also matches '-' and ','.
  std::vector<std::string> FindModule(std::string_view name);

 private:
  void Walk();
  std::vector<std::string> Lookup(const std::string& key);

  std::vector<std::string> directories_;
  std::once_flag walked_;
  absl::flat_hash_map<std::string, std::vector<std::string>> by_name_;
};

// "nf-tables.ko.xz" -> "nf_tables"; "" where the file is no module.
std::string ModuleNameOfFile(std::string_view basename);

}  // namespace ksamp

#endif  // KSAMP_LIB_SYMBOL_IMAGE_INDEX_H_
