// SPDX-License-Identifier: Apache-2.0
// Which images of a profile are found below some directories, as globs for SymbolFilters::images.
//
// An image is found there by its path, or by its basename (a module also by its name: kvm_intel is
// kvm-intel.ko.xz), as opreport's -p finds images.
#ifndef KSAMP_TOOLS_IMAGE_SELECTION_H_
#define KSAMP_TOOLS_IMAGE_SELECTION_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ksamp/image.h"

namespace ksamp {

// One glob per image found, matching exactly its path; one that matches nothing where none is.
std::vector<std::string> ImagesBelow(std::span<const Image> images, std::span<const std::string> directories);

// The glob that matches exactly `text`.
std::string GlobOf(std::string_view text);

}  // namespace ksamp

#endif  // KSAMP_TOOLS_IMAGE_SELECTION_H_
