// SPDX-License-Identifier: Apache-2.0
// Any bytes as an ELF file with DWARF: sections inflated and relocated, units, line programs, entries, names.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "lib/object/debug_lines.h"
#include "lib/object/elf_image.h"
#include "lib/object/elf_symbols.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  auto elf = ksamp::ElfImage::FromBytes({bytes, bytes + size}, "fuzzed");
  if (!elf.ok()) return 0;
  auto lines = ksamp::DebugLines::Open(*elf, "/nonexistent/fuzzed", {.debug_dirs = {}});
  if (!lines.ok()) return 0;
  std::vector<uint64_t> addresses = {0, 1};
  for (uint64_t at = 0x1000; at < 0x1300; at += 7) addresses.push_back(at);
  for (uint64_t at = 0; at < 0x100; at += 5) addresses.push_back(ksamp::RelocatableAddress(1, at));
  for (const bool inlined : {true, false}) {
    const ksamp::SourceFrames found = lines->Find(addresses, {.inlined = inlined, .threads = 1});
    if (found.first.size() != addresses.size() + 1) std::abort();
    for (const ksamp::SourceFrame& frame : found.frames) {
      constexpr uint32_t kNone = ksamp::SourceFrame::kNone;
      if (frame.function != kNone && frame.function >= found.functions.size()) std::abort();
      if (frame.file != kNone && frame.file >= found.files.size()) std::abort();
    }
  }
  return 0;
}
