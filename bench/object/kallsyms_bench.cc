// SPDX-License-Identifier: Apache-2.0
// What a report pays for the kernel's symbols: parsing a table of a distribution's size (122 000 lines, 5 MB)
// and looking up addresses. Goal: below 30 ms altogether.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "lib/object/kallsyms.h"

namespace ksamp {
namespace {

constexpr uint64_t kText = 0xffffffff81000000;
constexpr int kLines = 122'000;

const std::string& Table() {
  static const std::string table = [] {
    std::string text;
    std::mt19937 random(1);
    uint64_t address = kText;
    for (int i = 0; i < kLines; ++i) {
      char line[96];
      std::snprintf(line, sizeof(line), "%016lx %c some_subsystem_function_%d\n",
                    static_cast<unsigned long>(address), i % 4 == 0 ? 'T' : 't', i);
      text += line;
      address += 16 + random() % 400;
    }
    return text;
  }();
  return table;
}

void BM_KallsymsParse(benchmark::State& state) {
  const std::string& text = Table();
  for (auto _ : state) benchmark::DoNotOptimize(Kallsyms::Parse(text));
  state.SetItemsProcessed(state.iterations() * kLines);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}
BENCHMARK(BM_KallsymsParse)->Unit(benchmark::kMillisecond);

void BM_KallsymsFind(benchmark::State& state) {
  const Kallsyms table = Kallsyms::Parse(Table());
  std::mt19937 random(2);
  std::vector<uint64_t> addresses;
  for (int i = 0; i < 10'000; ++i) addresses.push_back(kText + random() % (kLines * 200));
  for (auto _ : state) {
    for (const uint64_t address : addresses) benchmark::DoNotOptimize(table.Find(address));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(addresses.size()));
}
BENCHMARK(BM_KallsymsFind);

}  // namespace
}  // namespace ksamp
