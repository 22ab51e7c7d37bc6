// SPDX-License-Identifier: Apache-2.0
// KernelSymbolizer: runtime addresses of the kernel and of BPF programs -> symbols, and the choice of the
// table they come from.
//
//   KernelSymbolizer kernel(options);
//   ImageSymbols found = kernel.Resolve(image, addresses);
//
// In this order: --kallsyms FILE, --vmlinux FILE (kernel proper only; its build-id must be the recorded one),
// the table in the recording, this machine's /proc/kallsyms. The last only where this kernel is the recorded
// one, by build-id, or for want of one by release and host name (told in a note): another kernel's table
// gives names that look right and are wrong.
//
// KASLR: a table from another boot is moved by (reference address of the recording - address of the same
// symbol in the table). Modules of such a table are left out: they move each on their own.
//
// Lines and inlined calls, where asked for, come from --vmlinux or the file that vmlinux_finder.h finds.
//
// The table is read once, at the first call. Any number of threads may call.
#ifndef KSAMP_LIB_SYMBOL_KERNEL_SYMBOLIZER_H_
#define KSAMP_LIB_SYMBOL_KERNEL_SYMBOLIZER_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ksamp/image.h"
#include "ksamp/symbolizer.h"
#include "lib/object/elf_image.h"
#include "lib/object/kallsyms.h"

namespace ksamp {

// The symbol table of the recorded kernel, as far as one could be had.
struct KernelSymbolSource {
  Kallsyms kallsyms;            // empty(): none
  uint64_t slide = 0;           // to add to its addresses of the kernel proper
  bool modules_usable = false;  // its module part is of the recorded boot
  std::string label;            // "recording's kallsyms", "/proc/kallsyms", the file's path
  UnresolvedReason reason = UnresolvedReason::kNoKernelSymbols;  // where there is none
  std::optional<ElfImage> vmlinux;
  std::string vmlinux_path;
  uint64_t vmlinux_slide = 0;
  std::vector<std::string> notes;
};

// The file with the kernel's debug info.
struct KernelDebugInfo {
  std::optional<ElfImage> found;  // none where it is KernelSymbolSource::vmlinux, or where there is none
  const ElfImage* elf = nullptr;  // the one to use
  std::string path;
  uint64_t slide = 0;
  std::vector<std::string> notes;
};

class KernelSymbolizer {
 public:
  // `options` must outlive the symbolizer.
  explicit KernelSymbolizer(const SymbolizerOptions& options) : options_(options) {}

  ImageSymbols Resolve(const Image& image, std::span<const uint64_t> addresses);
  // For module symbols.
  const KernelSymbolSource& source();
  // /proc/modules as recorded, or live where this is the recorded kernel.
  const std::vector<ModuleRange>& modules();
  // This machine runs the recorded kernel.
  bool recorded_kernel_is_live();

 private:
  void Load();
  bool LoadKallsymsFile();
  void LoadVmlinux();
  void LoadRecorded();
  void LoadLive();
  void Use(std::string label);
  void DecideWhetherLive();
  uint64_t SlideOf(std::optional<uint64_t> address_in_table, const std::string& label,
                   std::vector<std::string>* notes);
  ImageSymbols ResolveByVmlinux(std::span<const uint64_t> addresses);
  ImageSymbols ResolveByKallsyms(const Image& image, std::span<const uint64_t> addresses);
  void LoadDebugInfo();
  void AddSource(std::span<const uint64_t> addresses, ImageSymbols* found);

  const SymbolizerOptions& options_;
  std::once_flag loaded_, debug_info_loaded_;
  std::string text_, modules_text_;  // what the table's names point into
  KernelSymbolSource source_;
  KernelDebugInfo debug_info_;
  std::vector<ModuleRange> modules_;
  bool live_ = false;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_SYMBOL_KERNEL_SYMBOLIZER_H_
