// SPDX-License-Identifier: Apache-2.0
// ModuleSymbolizer: runtime addresses in a kernel module -> symbols, and the addresses `objdump -d` shows for
// its .ko.
//
//   ModuleSymbolizer modules(options, &index, &kernel);
//   ImageSymbols found = modules.Resolve(image, addresses);
//
// A .ko is relocatable: each of its sections begins at 0 and is loaded somewhere of its own, often with other
// executable sections before .text. So an address is anchored at its section, by the "module section address"
// lines of the recording (or /sys/module/NAME/sections of this machine, where it still runs that kernel with
// that module at that place), never at the module's begin. Without anchors ResolvedAddress::elf is the
// distance to the module's begin, and a note says so.
//
// Symbols come from the kernel's table; where it has none of this module, from the .ko: at the image's path,
// below the -p directories, or below modules_root/RELEASE, uncompressed or not, verified by build-id; of a
// stripped .ko, from its debug file.
//
// Lines and inlined calls, where asked for, come from the .ko or its debug file, by the same anchors.
//
// Any number of threads may call for different images.
#ifndef KSAMP_LIB_SYMBOL_MODULE_SYMBOLIZER_H_
#define KSAMP_LIB_SYMBOL_MODULE_SYMBOLIZER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ksamp/image.h"
#include "ksamp/symbolizer.h"
#include "lib/object/elf_image.h"
#include "lib/symbol/image_index.h"
#include "lib/symbol/kernel_symbolizer.h"
#include "lib/symbol/symbol_collector.h"

namespace ksamp {

// Where a section of a module was loaded.
struct SectionAnchor {
  std::string section;
  uint64_t address = 0;
};

// The lines of one module, by address. Lines that are damaged, and zeros (kptr_restrict), are left out.
std::vector<SectionAnchor> ParseSectionAnchors(std::string_view module_sections, std::string_view module);

class ModuleSymbolizer {
 public:
  // All must outlive the symbolizer.
  ModuleSymbolizer(const SymbolizerOptions& options, ImageIndex* index, KernelSymbolizer* kernel)
      : options_(options), index_(index), kernel_(kernel) {}

  ImageSymbols Resolve(const Image& image, std::span<const uint64_t> addresses);

 private:
  std::vector<SectionAnchor> Anchors(const std::string& module, uint64_t base);
  std::optional<ElfImage> OpenModule(const Image& image, const std::string& module, std::string* path,
                                     SymbolCollector* collect);
  std::vector<std::string> ModuleFiles(const Image& image, const std::string& module);
  void ResolveByFile(const Image& image, const std::string& module, std::span<const SectionAnchor> anchors,
                     std::span<const uint64_t> addresses, SymbolCollector* collect);
  void AddSource(const Image& image, const std::string& module, std::span<const SectionAnchor> anchors,
                 std::span<const uint64_t> addresses, ImageSymbols* found);

  const SymbolizerOptions& options_;
  ImageIndex* index_;
  KernelSymbolizer* kernel_;
  std::once_flag installed_made_;
  std::unique_ptr<ImageIndex> installed_;  // modules_root/RELEASE
};

}  // namespace ksamp

#endif  // KSAMP_LIB_SYMBOL_MODULE_SYMBOLIZER_H_
