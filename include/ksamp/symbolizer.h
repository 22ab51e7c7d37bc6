// SPDX-License-Identifier: Apache-2.0
// Symbolizer: addresses of an image -> symbols, or the reason why not.
//
//   std::unique_ptr<Symbolizer> symbolizer = Symbolizer::Create(options);
//   ImageSymbols found = symbolizer->Resolve(image, addresses);     // addresses sorted, unique
//   for (size_t i = 0; i < addresses.size(); ++i)
//     std::cout << (found.addresses[i].symbol ? found.symbols[*found.addresses[i].symbol].name
//                                             : Text(found.addresses[i].reason));
//
// A batch never fails for one address, nor for an image that cannot be read: each address carries its reason,
// and `notes` tells people what was tried. Every image is opened once per call; nothing is kept that was not
// asked for.
//
// With SymbolizerOptions::source, file:line and inlined calls come along, from DWARF in the file itself or in
// its debug file (ksamp/source_lines.h).
//
// What an address is depends on the image: a file offset for files and the vdso; the runtime address for the
// kernel, modules, BPF and anonymous memory (those symbols come at runtime addresses); the place in the dump
// for generated code with a jitdump.
//
// Resolve may be called from several threads at once for different images.
#ifndef KSAMP_SYMBOLIZER_H_
#define KSAMP_SYMBOLIZER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ksamp/address.h"
#include "ksamp/export.h"
#include "ksamp/image.h"
#include "ksamp/source_lines.h"

namespace ksamp {

enum class UnresolvedReason : uint8_t {
  kNone,               // resolved
  kImageHasNoSymbols,  // opened, but neither .symtab nor .dynsym nor a debug file: opreport's "/image" row
  kBetweenSymbols,     // the image has symbols; none covers this address
  kNotExported,        // the image is stripped and without a debug file; .dynsym does not cover this address
  kFileNotFound,
  kFileNotReadable,      // permission, or not a regular file
  kFileReplaced,         // the file at that path has another build-id than the one that ran
  kNotAnElfFile,         // or a damaged one
  kKernelSymbolsHidden,  // kptr_restrict: kallsyms was all zeros
  kNoKernelSymbols,      // the recording has none and this kernel is another one
  kNoMapping,            // no mapping of the process covers the address
  kUnknownProcess,       // no record ever named the process
  kAnonymousMemory,      // memory without a file, and nobody wrote a perf-PID.map or jitdump that names it
  kHypervisor,
  kGuest,
  kStackTooDeep,  // no address: a stack that reached the recorded depth goes on here
};
// "no symbols in image", "no mapping covers the address", …: what stands in "[unresolved: …]".
KSAMP_EXPORT std::string_view Text(UnresolvedReason reason);

struct Symbol {
  std::string name;    // as in the symbol table, not demangled
  uint64_t start = 0;  // ElfAddress for files; runtime address for kernel and modules
  uint64_t size = 0;
  std::string file;   // where its code begins, by SourceDetail; empty: not known
  uint32_t line = 0;  // of that file; 0: not known
};

struct ResolvedAddress {
  std::optional<uint32_t> symbol;  // index into ImageSymbols::symbols
  UnresolvedReason reason = UnresolvedReason::kNone;
  ElfAddress elf{0};  // what nm and objdump print for this address; runtime address for the kernel
};

struct ImageSymbols {
  std::vector<Symbol> symbols;             // only those hit
  std::vector<ResolvedAddress> addresses;  // one per address asked for, same order
  std::string file;     // where the symbols came from ("/usr/lib/debug/…", "recording's kallsyms")
  SourceFrames source;  // of the addresses, by SourceDetail
  std::vector<std::string> notes;  // for people: "libfoo.so was replaced since the recording", …
};

// The kernel's symbols as recorded. Texts may be empty.
struct KernelTables {
  std::string kallsyms;         // text of /proc/kallsyms at recording time
  std::string modules;          // text of /proc/modules
  std::string module_sections;  // "module section 0xaddress" lines
  std::string os_release;       // of the recorded machine
  std::string hostname;
  std::vector<uint8_t> build_id;   // of the recorded kernel
  std::string reference_symbol;    // "_text" …
  uint64_t reference_address = 0;  // … and where it was: KASLR
};

// What to read of the debug info. It is the larger part of the work, and nobody pays for what was not asked.
enum class SourceDetail : uint8_t {
  kNone,     // symbols alone
  kSymbols,  // Symbol::file and line
  kLines,    // and the line of each address, as one frame without a function
  kInlined,  // and the calls inlined there
};

// The functions of a process's jit-PID.dump, with their times; the code itself is left out.
struct JitDumpText {
  uint32_t pid = 0;       // of the recording
  std::string path;       // as the process called it
  std::string functions;  // a line each
};

// When each of them got its memory, and the place of its code in the dump, which no other function has.
struct GeneratedFunction {
  uint64_t time = 0, start = 0, size = 0, place = 0;
};
struct GeneratedFunctions {
  uint64_t opened = 0;   // when the dump was opened, and mapped
  bool has_time = true;  // times are CLOCK_MONOTONIC; else only their order counts
  std::vector<GeneratedFunction> functions;
};
KSAMP_EXPORT absl::StatusOr<GeneratedFunctions> FunctionsOf(const JitDumpText& dump);

struct SymbolizerOptions {
  std::vector<std::string>
      image_paths;   // -p: searched recursively for missing images and for modules, by basename
  std::string root;  // -R: prefix of every image path
  std::vector<std::string> debug_dirs = {"/usr/lib/debug"};
  std::string vmlinux, kallsyms;  // --vmlinux, --kallsyms
  KernelTables kernel;
  SourceDetail source = SourceDetail::kNone;
  std::map<uint32_t, std::string> perf_maps;  // by pid: texts of the recording's perf-PID.map files
  std::vector<JitDumpText> jit_dumps;
  bool live_machine = true;  // may look at this machine's /proc, /sys and /lib/modules
  std::string proc_root = "/proc", sys_root = "/sys", modules_root = "/lib/modules";
  unsigned threads = 0;  // 0: one per CPU
};

class KSAMP_EXPORT Symbolizer {
 public:
  static std::unique_ptr<Symbolizer> Create(SymbolizerOptions options);
  virtual ~Symbolizer() = default;
  // Requires: `addresses` ascending and unique.
  virtual ImageSymbols Resolve(const Image& image, std::span<const uint64_t> addresses) = 0;
};

// The jitdump a process wrote, from its file system while it runs, from ours where it has ended. `mapped`: as
// the process mapped it. NotFound: not there, or not of this machine; else why it is not believed.
KSAMP_EXPORT absl::StatusOr<JitDumpText> ReadJitDump(const Image& mapped, const SymbolizerOptions& options);

// kNone: as it is. kNormal: demangled. kSmart: demangled, then template arguments and std:: spelled short, as
// opreport.
enum class DemangleStyle { kNone, kNormal, kSmart };
// C++ (Itanium), Rust legacy and v0; anything else comes back unchanged.
KSAMP_EXPORT std::string Demangle(std::string_view name, DemangleStyle style = DemangleStyle::kNormal);

}  // namespace ksamp

#endif  // KSAMP_SYMBOLIZER_H_
