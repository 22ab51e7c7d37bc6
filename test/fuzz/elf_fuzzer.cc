// SPDX-License-Identifier: Apache-2.0
// Any bytes as an ELF file: headers, segments, symbols, PLT names, debug link, .gnu_debugdata.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "lib/object/debug_file_finder.h"
#include "lib/object/elf_image.h"
#include "lib/object/elf_symbols.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  auto elf = ksamp::ElfImage::FromBytes({bytes, bytes + size}, "fuzzed");
  if (!elf.ok()) return 0;
  const std::vector<uint64_t> wanted = {0, 0x40, 0x1000, 0x401000, uint64_t{1} << 40, ~uint64_t{0}};
  ksamp::SymbolTableBuilder all, some(wanted);
  ksamp::AddElfSymbols(*elf, &all);
  ksamp::AddPltSymbols(*elf, &all);
  ksamp::AddElfSymbols(*elf, &some);
  ksamp::AddPltSymbols(*elf, &some);
  const ksamp::SymbolTable every = std::move(all).Build(), few = std::move(some).Build();
  for (const uint64_t address : wanted) {
    elf->ToElfAddress(ksamp::FileOffset(address));
    const auto a = every.Find(address), b = few.Find(address);
    if (b && (b->start > address || b->size == 0)) std::abort();
    if (a && (a->start > address || a->size == 0)) std::abort();
  }
  for (const ksamp::ElfSection& section : elf->sections()) {
    if (section.size > 4096) continue;
    std::vector<std::byte> storage;
    elf->Contents(section, &storage).status().IgnoreError();
  }
  ksamp::ReadDebugLink(*elf);
  ksamp::ReadMiniDebugInfo(*elf);
  return 0;
}
