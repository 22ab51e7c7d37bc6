// SPDX-License-Identifier: Apache-2.0
// Lines and inlined calls of a real file: this program's own debug info, for few and many of its addresses.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "lib/object/debug_lines.h"
#include "lib/object/elf_image.h"

namespace ksamp {
namespace {

std::vector<uint64_t> AddressesIn(const ElfImage& elf, int64_t count) {
  std::mt19937 random(3);
  std::vector<uint64_t> addresses;
  const ElfSection* text = elf.FindSection(".text");
  for (int64_t i = 0; i < count; ++i) addresses.push_back(text->addr + random() % text->size);
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return addresses;
}

void BM_OpenAndFind(benchmark::State& state) {
  const bool inlined = state.range(1) != 0;
  size_t frames = 0, asked = 0;
  for (auto _ : state) {
    auto elf = ElfImage::Open("/proc/self/exe");
    if (!elf.ok()) return state.SkipWithError("cannot open this program");
    auto lines = DebugLines::Open(*elf, "/proc/self/exe", {});
    if (!lines.ok()) return state.SkipWithError("this program was built without -g");
    const std::vector<uint64_t> addresses = AddressesIn(*elf, state.range(0));
    asked = addresses.size();
    frames = lines->Find(addresses, {.inlined = inlined}).frames.size();
  }
  state.counters["frames"] = static_cast<double>(frames);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(asked));
}
BENCHMARK(BM_OpenAndFind)
    ->ArgNames({"addresses", "inlined"})
    ->ArgsProduct({{50, 10'000}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ksamp
