// SPDX-License-Identifier: Apache-2.0
// What a report pays to name the addresses of one large image: this program's libc, which distributions
// strip; with the debug directories of this machine (used where its debug file is installed) and without.
#include <benchmark/benchmark.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ksamp/symbolizer.h"
#include "lib/object/elf_image.h"

namespace ksamp {
namespace {

std::string PathOfLibc() {
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* image, size_t, void* found) {
        const std::string_view name = image->dlpi_name;
        if (name.find("/libc.so") == std::string_view::npos) return 0;
        *static_cast<std::string*>(found) = name;
        return 1;
      },
      &path);
  return path;
}

// File offsets all over .text, sorted and unique.
std::vector<uint64_t> OffsetsIn(const ElfImage& elf, int64_t count) {
  std::vector<uint64_t> offsets;
  const ElfSection* text = elf.FindSection(".text");
  if (text == nullptr || text->size == 0) return offsets;
  std::mt19937_64 random(5);
  for (int64_t i = 0; i < count; ++i) offsets.push_back(text->offset + random() % text->size);
  std::sort(offsets.begin(), offsets.end());
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  return offsets;
}

void BM_ResolveInLibc(benchmark::State& state) {
  Image image;
  image.path = PathOfLibc();
  const auto elf = ElfImage::Open(image.path);
  if (!elf.ok()) return state.SkipWithError("cannot open the libc of this program");
  const std::vector<uint64_t> offsets = OffsetsIn(*elf, state.range(0));
  SymbolizerOptions options;
  if (state.range(1) == 0) options.debug_dirs.clear();
  size_t named = 0, symbols = 0;
  std::string file;
  for (auto _ : state) {
    const ImageSymbols found = Symbolizer::Create(options)->Resolve(image, offsets);
    named = static_cast<size_t>(
        std::count_if(found.addresses.begin(), found.addresses.end(),
                      [](const ResolvedAddress& address) { return address.symbol.has_value(); }));
    symbols = found.symbols.size();
    file = found.file;
  }
  state.SetLabel(file);
  state.counters["symbols"] = static_cast<double>(symbols);
  state.counters["named"] = static_cast<double>(named) / static_cast<double>(offsets.size());
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(offsets.size()));
}
BENCHMARK(BM_ResolveInLibc)
    ->ArgNames({"addresses", "debug_dirs"})
    ->ArgsProduct({{100, 10'000}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ksamp
