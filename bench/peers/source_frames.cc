// SPDX-License-Identifier: Apache-2.0
// source_frames ELF [THREADS] < addresses: what `llvm-symbolizer --inlines --no-demangle` prints of
// hexadecimal addresses, by our reader; for symbols_vs_llvm.py. Functions are those of the debug info,
// columns are 0.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "lib/object/debug_lines.h"
#include "lib/object/elf_image.h"

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  std::vector<uint64_t> asked;
  for (unsigned long address = 0; std::scanf("%lx", &address) == 1;) asked.push_back(address);
  std::vector<uint64_t> sorted = asked;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  const auto elf = ksamp::ElfImage::Open(argv[1]);
  if (!elf.ok()) return 2;
  const auto lines = ksamp::DebugLines::Open(*elf, argv[1], {});
  if (!lines.ok()) return 2;
  const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
  const ksamp::SourceFrames found = lines->Find(sorted, {.inlined = true, .threads = threads});
  for (const uint64_t address : asked) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), address) - sorted.begin();
    for (const ksamp::SourceFrame& frame : found.Of(static_cast<size_t>(at))) {
      constexpr uint32_t kNone = ksamp::SourceFrame::kNone;
      std::printf("%s\n%s:%u:0\n",
                  frame.function == kNone ? "??" : found.functions[frame.function].name.c_str(),
                  frame.file == kNone ? "??" : found.files[frame.file].c_str(), frame.line);
    }
    if (found.Of(static_cast<size_t>(at)).empty()) std::printf("??\n??:0:0\n");
    std::printf("\n");
  }
  return 0;
}
