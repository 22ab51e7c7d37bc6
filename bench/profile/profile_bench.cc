// SPDX-License-Identifier: Apache-2.0
// Counting against the floor: the same walk over the same bytes, touching every header and nothing else.
// Each benchmark reports samples per second; KSAMP_BENCH_SAMPLES sets the size of the recording.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "bench/support/recording_generator.h"
#include "ksamp/profile.h"
#include "lib/profile/recording_sweep.h"
#include "lib/profile/sample_walk.h"

namespace ksamp {
namespace {

const Recording& Generated() {
  static const Recording* const recording = [] {
    GeneratorOptions options;
    const char* samples = std::getenv("KSAMP_BENCH_SAMPLES");
    options.samples = samples != nullptr ? std::strtoull(samples, nullptr, 10) : 200'000;
    const char* directory = std::getenv("TMPDIR");
    const std::string path =
        std::string(directory != nullptr ? directory : "/tmp") + "/ksamp-profile-bench.data";
    if (const absl::Status status = GenerateRecording(path, options); !status.ok()) {
      std::cerr << status << "\n";
      std::exit(2);
    }
    absl::StatusOr<Recording> opened = Recording::Open(path);
    if (!opened.ok()) {
      std::cerr << opened.status() << "\n";
      std::exit(2);
    }
    return new Recording(*std::move(opened));
  }();
  return *recording;
}

void SetRate(benchmark::State& state) {
  state.SetItemsProcessed(static_cast<int64_t>(Generated().counts().samples) *
                          static_cast<int64_t>(state.iterations()));
}

void BM_WalkHeaders(benchmark::State& state) {
  const Recording& recording = Generated();
  for (auto _ : state) {
    uint64_t bytes = 0;
    for (const Recording::Chunk& chunk : recording.chunks())
      ForEachSample(chunk, [&](const std::byte*, uint16_t size, uint16_t, uint64_t) { bytes += size; });
    benchmark::DoNotOptimize(bytes);
  }
  SetRate(state);
}
BENCHMARK(BM_WalkHeaders)->Unit(benchmark::kMillisecond);

void BM_SweepSideRecords(benchmark::State& state) {
  const Recording& recording = Generated();
  for (auto _ : state) benchmark::DoNotOptimize(SweepSideRecords(recording, false, {0}));
  state.SetItemsProcessed(static_cast<int64_t>(recording.side_records().size()) *
                          static_cast<int64_t>(state.iterations()));
}
BENCHMARK(BM_SweepSideRecords)->Unit(benchmark::kMillisecond);

void BM_BuildProfile(benchmark::State& state) {
  const Recording& recording = Generated();
  ProfileOptions options;
  options.threads = static_cast<unsigned>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(BuildProfile(recording, options));
  SetRate(state);
}
BENCHMARK(BM_BuildProfile)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ksamp
