// SPDX-License-Identifier: Apache-2.0
// FindVmlinux: the vmlinux with the debug info of the recorded kernel, where distributions and people put it.
//
//   VmlinuxFile found = FindVmlinux(options);
//   if (found.elf) …                       // else found.note says why not
//
// By build-id in the debug directories; then, by the release, boot/, lib/modules/RELEASE/ and their like
// below the debug directories, the build tree that lib/modules/RELEASE/build leads to, and /boot. A recorded
// build-id must be the file's. Without one only a path with the release in it is believed, and told.
#ifndef KSAMP_LIB_SYMBOL_VMLINUX_FINDER_H_
#define KSAMP_LIB_SYMBOL_VMLINUX_FINDER_H_

#include <optional>
#include <string>
#include <vector>

#include "ksamp/symbolizer.h"
#include "lib/object/elf_image.h"

namespace ksamp {

struct VmlinuxFile {
  std::optional<ElfImage> elf;
  std::string path;
  std::string note;  // for people; may be empty
};

// In the order they are tried.
std::vector<std::string> VmlinuxCandidates(const SymbolizerOptions& options);
VmlinuxFile FindVmlinux(const SymbolizerOptions& options);

}  // namespace ksamp

#endif  // KSAMP_LIB_SYMBOL_VMLINUX_FINDER_H_
