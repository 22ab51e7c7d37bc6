// SPDX-License-Identifier: Apache-2.0
#include "ksamp/symbolizer.h"

#include <utility>

#include "lib/object/demangle.h"
#include "lib/symbol/image_index.h"
#include "lib/symbol/jit_dump_symbolizer.h"
#include "lib/symbol/kernel_symbolizer.h"
#include "lib/symbol/module_symbolizer.h"
#include "lib/symbol/perf_map_symbolizer.h"
#include "lib/symbol/user_symbolizer.h"

namespace ksamp {
namespace {

ImageSymbols Unresolved(size_t count, UnresolvedReason reason) {
  SymbolCollector collect(count);
  collect.NoneFound(reason);
  return std::move(collect).Take();
}

class SymbolizerOfAll : public Symbolizer {
 public:
  explicit SymbolizerOfAll(SymbolizerOptions options)
      : options_(std::move(options)),
        index_(options_.image_paths),
        kernel_(options_),
        modules_(options_, &index_, &kernel_),
        perf_maps_(options_),
        jit_dumps_(options_),
        user_(options_, &index_) {}

  ImageSymbols Resolve(const Image& image, std::span<const uint64_t> addresses) override {
    switch (image.kind) {
      case ImageKind::kFile:
      case ImageKind::kVdso:
        return user_.Resolve(image, addresses);
      case ImageKind::kKernel:
      case ImageKind::kBpf:
        return kernel_.Resolve(image, addresses);
      case ImageKind::kModule:
        return modules_.Resolve(image, addresses);
      case ImageKind::kAnonymous:
        return perf_maps_.Resolve(image, addresses);
      case ImageKind::kJitDump:
        return jit_dumps_.Resolve(image, addresses);
      case ImageKind::kUnknown:
        break;
    }
    return Unresolved(addresses.size(), UnresolvedReason::kNoMapping);
  }

 private:
  const SymbolizerOptions options_;
  ImageIndex index_;
  KernelSymbolizer kernel_;
  ModuleSymbolizer modules_;
  PerfMapSymbolizer perf_maps_;
  JitDumpSymbolizer jit_dumps_;
  UserSymbolizer user_;
};

}  // namespace

std::unique_ptr<Symbolizer> Symbolizer::Create(SymbolizerOptions options) {
  return std::make_unique<SymbolizerOfAll>(std::move(options));
}

std::string_view Text(UnresolvedReason reason) {
  switch (reason) {
    case UnresolvedReason::kNone:
      return "resolved";
    case UnresolvedReason::kImageHasNoSymbols:
      return "no symbols in image";
    case UnresolvedReason::kBetweenSymbols:
      return "no symbol covers the address";
    case UnresolvedReason::kNotExported:
      return "stripped, not covered by .dynsym";
    case UnresolvedReason::kFileNotFound:
      return "file not found";
    case UnresolvedReason::kFileNotReadable:
      return "file not readable";
    case UnresolvedReason::kFileReplaced:
      return "another build of the file is there";
    case UnresolvedReason::kNotAnElfFile:
      return "not an ELF file";
    case UnresolvedReason::kKernelSymbolsHidden:
      return "kernel symbols hidden by kptr_restrict";
    case UnresolvedReason::kNoKernelSymbols:
      return "no symbols of the recorded kernel";
    case UnresolvedReason::kNoMapping:
      return "no mapping covers the address";
    case UnresolvedReason::kUnknownProcess:
      return "unknown process";
    case UnresolvedReason::kAnonymousMemory:
      return "anonymous memory without a perf-PID.map";
    case UnresolvedReason::kHypervisor:
      return "hypervisor";
    case UnresolvedReason::kGuest:
      return "guest";
    case UnresolvedReason::kStackTooDeep:
      return "deeper than recorded";
  }
  return "unknown reason";
}

std::string Demangle(std::string_view name, DemangleStyle style) {
  if (style == DemangleStyle::kNone) return std::string(name);
  std::optional<std::string> demangled = DemangleSymbol(name);
  if (!demangled) return std::string(name);
  return style == DemangleStyle::kSmart ? ShortenCxxName(*std::move(demangled)) : *std::move(demangled);
}

}  // namespace ksamp
