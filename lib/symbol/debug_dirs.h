// SPDX-License-Identifier: Apache-2.0
// Where debug files are looked for: the directories below -R first, then those of this machine.
#ifndef KSAMP_LIB_SYMBOL_DEBUG_DIRS_H_
#define KSAMP_LIB_SYMBOL_DEBUG_DIRS_H_

#include <string>
#include <vector>

#include "ksamp/symbolizer.h"

namespace ksamp {

inline std::vector<std::string> DebugDirs(const SymbolizerOptions& options) {
  std::vector<std::string> directories;
  if (!options.root.empty()) {
    for (const std::string& directory : options.debug_dirs) directories.push_back(options.root + directory);
  }
  directories.insert(directories.end(), options.debug_dirs.begin(), options.debug_dirs.end());
  return directories;
}

}  // namespace ksamp

#endif  // KSAMP_LIB_SYMBOL_DEBUG_DIRS_H_
