// SPDX-License-Identifier: Apache-2.0
// Writing reports of a profile as large as a day on a big machine makes: half a million addresses in fifty
// thousand symbols of a thousand images, for two hundred applications.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ostream>
#include <streambuf>
#include <string>
#include <utility>

#include "ksamp/profile.h"
#include "ksamp/report.h"

namespace ksamp {
namespace {

constexpr uint32_t kLocations = 500'000, kSymbols = 50'000, kImages = 1'000, kApps = 200;

Profile LargeProfile() {
  Profile profile;
  profile.events = {{.name = "cpu-clock", .clock = true, .period_or_frequency = 250'689}};
  for (uint32_t i = 0; i < kApps; ++i) {
    profile.names.push_back("app" + std::to_string(i));
    profile.keys.push_back({.app = i});
  }
  for (uint32_t i = 0; i < kImages; ++i)
    profile.images.push_back({.path = "/usr/lib/lib" + std::to_string(i) + ".so"});
  for (uint32_t i = 0; i < kSymbols; ++i)
    profile.symbols.push_back(
        {"_ZN4some9namespaceI" + std::to_string(i) + "EvE", i % kImages, i * 0x1000ull, 0x1000});
  for (uint32_t i = 0; i < kLocations; ++i) {
    const uint32_t symbol = i % kSymbols;
    const uint64_t address = symbol * 0x1000ull + i / kSymbols * 8;
    profile.locations.push_back(
        {.image = symbol % kImages, .address = address, .elf = ElfAddress(address), .symbol = symbol});
    profile.entries.push_back({symbol % kApps, i, {1 + i % 97, 250'689}});
  }
  std::sort(profile.entries.begin(), profile.entries.end(), [](const ProfileEntry& a, const ProfileEntry& b) {
    return std::pair(a.key, a.location) < std::pair(b.key, b.location);
  });
  profile.conservation = {{.taken = kLocations, .counted = kLocations}};
  return profile;
}

class NullBuffer : public std::streambuf {
  std::streamsize xsputn(const char*, std::streamsize size) override { return size; }
  int overflow(int c) override { return c; }
};

void BM_WriteReport(benchmark::State& state, ReportForm form, OutputFormat format) {
  static const Profile profile = LargeProfile();
  NullBuffer buffer;
  for (auto _ : state) {
    std::ostream out(&buffer);
    const absl::Status status = WriteReport(profile, {.form = form, .format = format}, out);
    if (!status.ok()) state.SkipWithError("WriteReport failed");
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * kLocations);
}
BENCHMARK_CAPTURE(BM_WriteReport, images, ReportForm::kImages, OutputFormat::kText)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_WriteReport, symbols, ReportForm::kSymbols, OutputFormat::kText)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_WriteReport, details, ReportForm::kDetails, OutputFormat::kText)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_WriteReport, modules, ReportForm::kModules, OutputFormat::kText)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_WriteReport, csv, ReportForm::kSymbols, OutputFormat::kCsv)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_WriteReport, json, ReportForm::kDetails, OutputFormat::kJson)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_WriteReport, xml, ReportForm::kDetails, OutputFormat::kXml)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ksamp
