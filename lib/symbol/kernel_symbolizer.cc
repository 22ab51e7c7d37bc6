// SPDX-License-Identifier: Apache-2.0
#include "lib/symbol/kernel_symbolizer.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "lib/base/byte_reader.h"
#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "lib/object/debug_file_finder.h"
#include "lib/object/elf_symbols.h"
#include "lib/object/symbol_table.h"
#include "lib/symbol/debug_dirs.h"
#include "lib/symbol/recorded_machine.h"
#include "lib/symbol/source_lookup.h"
#include "lib/symbol/symbol_collector.h"
#include "lib/symbol/vmlinux_finder.h"

namespace ksamp {
namespace {

bool SameBytes(std::span<const std::byte> a, std::span<const uint8_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](std::byte x, uint8_t y) { return static_cast<uint8_t>(x) == y; });
}

// The address of a symbol in a vmlinux.
std::optional<uint64_t> AddressInElf(const ElfImage& elf, std::string_view name) {
  for (const ElfSection& section : elf.sections()) {
    if (section.type != SHT_SYMTAB || section.link >= elf.sections().size()) continue;
    const std::span<const std::byte> symbols = elf.RawBytes(section);
    const std::span<const std::byte> strings = elf.RawBytes(elf.sections()[section.link]);
    for (size_t i = 0; i < symbols.size() / elf.symbol_entry_size(); ++i) {
      const Elf64_Sym symbol = elf.SymbolAt(symbols, i);
      if (StringAt(strings, symbol.st_name) == name) return symbol.st_value;
    }
  }
  return std::nullopt;
}

}  // namespace

const KernelSymbolSource& KernelSymbolizer::source() {
  std::call_once(loaded_, [this] { Load(); });
  return source_;
}

const std::vector<ModuleRange>& KernelSymbolizer::modules() {
  source();
  return modules_;
}

bool KernelSymbolizer::recorded_kernel_is_live() {
  source();
  return live_;
}

void KernelSymbolizer::Load() {
  DecideWhetherLive();
  modules_text_ = options_.kernel.modules;
  if (modules_text_.empty() && live_) {
    modules_text_ = ReadFile(StrCat(options_.proc_root, "/modules")).value_or(std::string());
  }
  modules_ = ParseModuleRanges(modules_text_);
  LoadVmlinux();
  if (LoadKallsymsFile()) return;
  LoadRecorded();
  if (source_.kallsyms.empty()) LoadLive();
}

void KernelSymbolizer::DecideWhetherLive() {
  if (!options_.live_machine) return;
  const KernelTables& recorded = options_.kernel;
  if (!recorded.build_id.empty()) {
    const absl::StatusOr<std::string> notes = ReadFile(StrCat(options_.sys_root, "/kernel/notes"), 1 << 20);
    live_ = notes.ok() && BuildIdOfNotes(AsBytes(*notes)) == recorded.build_id;
    return;
  }
  live_ = IsRecordedMachine(options_);
}

// Takes text_ as the table, unless it shows only zeros.
void KernelSymbolizer::Use(std::string label) {
  Kallsyms table = Kallsyms::Parse(text_, modules_);
  if (table.hidden()) {
    source_.reason = UnresolvedReason::kKernelSymbolsHidden;
    source_.notes.push_back(StrCat(label, ": all addresses are hidden (kptr_restrict)"));
    return;
  }
  if (table.empty()) return;
  source_.kallsyms = std::move(table);
  source_.label = std::move(label);
  source_.modules_usable = true;
}

// How far the recorded kernel lay from where the table has it.
uint64_t KernelSymbolizer::SlideOf(std::optional<uint64_t> address_in_table, const std::string& label,
                                   std::vector<std::string>* notes) {
  const KernelTables& recorded = options_.kernel;
  if (recorded.reference_symbol.empty() || recorded.reference_address == 0) {
    notes->push_back(StrCat(
        label,
        ": the recording does not say where its kernel was loaded; taken to be where the table has it"));
    return 0;
  }
  if (!address_in_table) {
    notes->push_back(
        StrCat(label, ": has no symbol ", recorded.reference_symbol, "; taken to be where the table has it"));
    return 0;
  }
  return recorded.reference_address - *address_in_table;
}

bool KernelSymbolizer::LoadKallsymsFile() {
  if (options_.kallsyms.empty()) return false;
  absl::StatusOr<std::string> text = ReadFile(options_.kallsyms);
  if (!text.ok()) {
    source_.notes.push_back(MessageOf(text.status()));
    return false;
  }
  text_ = *std::move(text);
  Use(options_.kallsyms);
  if (source_.kallsyms.empty()) return false;
  source_.slide = SlideOf(source_.kallsyms.AddressOf(options_.kernel.reference_symbol), options_.kallsyms,
                          &source_.notes);
  source_.modules_usable = source_.slide == 0;
  return true;
}

void KernelSymbolizer::LoadVmlinux() {
  if (options_.vmlinux.empty()) return;
  absl::StatusOr<ElfImage> elf = ElfImage::Open(options_.vmlinux);
  if (!elf.ok()) {
    source_.notes.push_back(MessageOf(elf.status()));
    return;
  }
  const std::vector<uint8_t>& recorded = options_.kernel.build_id;
  if (!recorded.empty() && !elf->build_id().empty() && !SameBytes(elf->build_id(), recorded)) {
    source_.notes.push_back(StrCat(options_.vmlinux, ": not the recorded kernel (other build-id), not used"));
    return;
  }
  source_.vmlinux_path = options_.vmlinux;
  if (!HasSymtab(*elf)) {  // stripped, as distributions install it
    DebugFile debug = FindDebugFile(*elf, options_.vmlinux, DebugDirs(options_));
    if (debug.elf) {
      elf = *std::move(debug.elf);
      source_.vmlinux_path = debug.path;
    }
  }
  source_.vmlinux_slide =
      SlideOf(AddressInElf(*elf, options_.kernel.reference_symbol), source_.vmlinux_path, &source_.notes);
  source_.vmlinux = *std::move(elf);
}

void KernelSymbolizer::LoadRecorded() {
  if (options_.kernel.kallsyms.empty()) return;
  text_ = options_.kernel.kallsyms;
  Use("recording's kallsyms");
}

void KernelSymbolizer::LoadLive() {
  if (!live_) {
    if (options_.kernel.kallsyms.empty()) {
      source_.notes.push_back(
          "the recording has no kernel symbols, and this machine does not run its kernel");
    }
    return;
  }
  const std::string path = StrCat(options_.proc_root, "/kallsyms");
  absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) {
    source_.notes.push_back(MessageOf(text.status()));
    return;
  }
  text_ = *std::move(text);
  Use(path);
  if (source_.kallsyms.empty()) return;
  if (options_.kernel.build_id.empty()) {
    source_.notes.push_back(
        "kernel symbols are this machine's: same release and host name, no build-id to be sure");
  }
  source_.slide = SlideOf(source_.kallsyms.AddressOf(options_.kernel.reference_symbol), path, &source_.notes);
  if (source_.slide != 0) {
    source_.modules_usable = false;
    source_.notes.push_back("the machine was rebooted since the recording; its modules' symbols are gone");
  }
}

ImageSymbols KernelSymbolizer::ResolveByVmlinux(std::span<const uint64_t> addresses) {
  std::vector<uint64_t> wanted;
  wanted.reserve(addresses.size());
  for (uint64_t address : addresses) wanted.push_back(address - source_.vmlinux_slide);
  std::sort(wanted.begin(), wanted.end());  // a slide may wrap
  SymbolTableBuilder builder(wanted);
  AddElfSymbols(*source_.vmlinux, &builder);
  const bool no_symbols = builder.added() == 0;
  const SymbolTable table = std::move(builder).Build();
  SymbolCollector collect(addresses.size());
  collect.SetFile(source_.vmlinux_path);
  constexpr uint64_t kKallsymsIds = uint64_t{1} << 32;
  for (size_t i = 0; i < addresses.size(); ++i) {
    collect.SetElf(i, ElfAddress(addresses[i]));
    if (const auto match = table.Find(addresses[i] - source_.vmlinux_slide)) {
      collect.Found(i, match->id, match->name, match->start + source_.vmlinux_slide, match->size);
    } else if (const auto other = source_.kallsyms.Find(addresses[i] - source_.slide)) {
      collect.Found(i, kKallsymsIds + other->id, other->name, other->start + source_.slide, other->size);
    } else {
      collect.NotFound(i,
                       no_symbols ? UnresolvedReason::kImageHasNoSymbols : UnresolvedReason::kBetweenSymbols);
    }
  }
  return std::move(collect).Take();
}

ImageSymbols KernelSymbolizer::ResolveByKallsyms(const Image& image, std::span<const uint64_t> addresses) {
  const KernelSymbolSource& from = source_;
  SymbolCollector collect(addresses.size());
  collect.SetFile(from.label);
  for (size_t i = 0; i < addresses.size(); ++i) {
    collect.SetElf(i, ElfAddress(addresses[i]));
    const std::optional<Kallsyms::Match> match = from.kallsyms.Find(addresses[i] - from.slide);
    if (match && (match->module.empty() || from.modules_usable)) {
      collect.Found(i, match->id, match->name, match->start + from.slide, match->size);
    } else if (image.kind == ImageKind::kBpf && addresses[i] >= image.start.value &&
               addresses[i] < image.end.value) {
      // A BPF program is one function, and KSYMBOL records name it.
      collect.Found(i, ~uint64_t{0}, image.path, image.start.value, image.end - image.start);
    } else {
      collect.NotFound(i, from.kallsyms.empty() ? from.reason : UnresolvedReason::kBetweenSymbols);
    }
  }
  return std::move(collect).Take();
}

void KernelSymbolizer::LoadDebugInfo() {
  debug_info_.path = source_.vmlinux_path;
  debug_info_.slide = source_.vmlinux_slide;
  if (source_.vmlinux) {
    debug_info_.elf = &*source_.vmlinux;
    return;
  }
  VmlinuxFile file = FindVmlinux(options_);
  if (!file.note.empty()) debug_info_.notes.push_back(file.note);
  if (!file.elf) return;
  debug_info_.found = *std::move(file.elf);
  debug_info_.elf = &*debug_info_.found;
  debug_info_.path = file.path;
  debug_info_.slide = SlideOf(AddressInElf(*debug_info_.elf, options_.kernel.reference_symbol), file.path,
                              &debug_info_.notes);
}

void KernelSymbolizer::AddSource(std::span<const uint64_t> addresses, ImageSymbols* found) {
  const SourceLookup lookup(options_);
  if (!lookup.wanted()) return;
  std::call_once(debug_info_loaded_, [this] { LoadDebugInfo(); });
  found->notes.insert(found->notes.end(), debug_info_.notes.begin(), debug_info_.notes.end());
  if (debug_info_.elf == nullptr) return;
  std::vector<uint64_t> asked, starts;
  for (const uint64_t address : addresses) asked.push_back(address - debug_info_.slide);
  for (const Symbol& symbol : found->symbols) starts.push_back(symbol.start - debug_info_.slide);
  lookup.AddTo(*debug_info_.elf, debug_info_.path, asked, starts, found);
}

ImageSymbols KernelSymbolizer::Resolve(const Image& image, std::span<const uint64_t> addresses) {
  const KernelSymbolSource& from = source();
  const bool kernel = image.kind == ImageKind::kKernel;
  ImageSymbols found =
      from.vmlinux && kernel ? ResolveByVmlinux(addresses) : ResolveByKallsyms(image, addresses);
  found.notes.insert(found.notes.begin(), from.notes.begin(), from.notes.end());
  if (kernel) AddSource(addresses, &found);
  return found;
}

}  // namespace ksamp
