// SPDX-License-Identifier: Apache-2.0
// Writing reports of a profile as large as a day on a big machine makes: half a million addresses in fifty
// thousand symbols of a thousand images, for two hundred applications.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ostream>
#include <random>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

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

constexpr uint32_t kStacks = 1'000'000, kDepth = 20;

// A million stacks, no two alike: what a week of a busy machine with deep call chains makes.
Profile ProfileOfStacks() {
  Profile profile = LargeProfile();
  profile.events[0].has_stacks = true;
  std::minstd_rand random(1);
  std::vector<uint32_t> level(1, kNone32);
  for (uint32_t depth = 0; depth < kDepth; ++depth) {
    std::vector<uint32_t> next;
    const size_t width = std::min<size_t>(kStacks, 4 + level.size() * 2);
    for (size_t i = 0; i < width; ++i) {
      next.push_back(static_cast<uint32_t>(profile.stack_nodes.size()));
      profile.stack_nodes.push_back({level[i % level.size()], static_cast<uint32_t>(random() % kLocations)});
    }
    level = std::move(next);
  }
  for (const uint32_t node : level) profile.stacks.push_back({0, node, {1 + random() % 9, 250'689}});
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

void BM_WriteStacks(benchmark::State& state, ReportForm form, OutputFormat format) {
  static const Profile profile = ProfileOfStacks();
  NullBuffer buffer;
  for (auto _ : state) {
    std::ostream out(&buffer);
    const absl::Status status = WriteReport(profile, {.form = form, .format = format, .threshold = 0.5}, out);
    if (!status.ok()) state.SkipWithError("WriteReport failed");
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) *
                          static_cast<int64_t>(profile.stacks.size()));
}
BENCHMARK_CAPTURE(BM_WriteStacks, flame_graph, ReportForm::kImages, OutputFormat::kFlameGraph)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_WriteStacks, folded, ReportForm::kImages, OutputFormat::kFolded)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_WriteStacks, callgraph, ReportForm::kCallGraph, OutputFormat::kText)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_WriteStacks, caller_tree, ReportForm::kCallerTree, OutputFormat::kText)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ksamp
