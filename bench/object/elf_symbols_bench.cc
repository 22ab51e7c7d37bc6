// SPDX-License-Identifier: Apache-2.0
// Symbols of a real file: this program, which is statically linked with the rooms and has its .symtab.
// Building for the addresses asked for against building for all.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "lib/object/elf_image.h"
#include "lib/object/elf_symbols.h"

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

void BM_OpenBuildAndFind(benchmark::State& state) {
  const bool filtered = state.range(1) != 0;
  size_t symbols = 0, found = 0, asked = 0;
  for (auto _ : state) {
    auto elf = ElfImage::Open("/proc/self/exe");
    if (!elf.ok()) return state.SkipWithError("cannot open this program");
    const std::vector<uint64_t> addresses = AddressesIn(*elf, state.range(0));
    SymbolTableBuilder builder(filtered ? std::span<const uint64_t>(addresses) : std::span<const uint64_t>());
    AddElfSymbols(*elf, &builder);
    symbols = builder.added();
    const SymbolTable table = std::move(builder).Build();
    asked = addresses.size();
    found = 0;
    for (const uint64_t address : addresses) found += table.Find(address).has_value() ? 1 : 0;
  }
  if (found * 2 < asked) return state.SkipWithError("most addresses have no symbol");
  state.counters["symbols"] = static_cast<double>(symbols);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(symbols));
}
BENCHMARK(BM_OpenBuildAndFind)
    ->ArgNames({"addresses", "filtered"})
    ->ArgsProduct({{50, 10'000}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ksamp
