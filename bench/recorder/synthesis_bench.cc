// SPDX-License-Identifier: Apache-2.0
// What describing the processes costs that are there when a recording of the whole machine starts. It stands
// between the prompt and the first sample: 5 000 processes of 30 libraries must stay well below a second.
#include <benchmark/benchmark.h>
#include <linux/perf_event.h>

#include <map>
#include <memory>
#include <span>

#include "bench/support/fake_proc_tree.h"
#include "lib/recorder/kernel_snapshot.h"
#include "lib/recorder/synthesizer.h"

namespace ksamp {
namespace {

SampleLayout Layout() {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.sample_type =
      PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  attr.sample_id_all = 1;
  return *SampleLayout::FromAttr(std::as_bytes(std::span(&attr, 1)));
}

void Synthesize(benchmark::State& state, const std::string& root) {
  const absl::StatusOr<ProcFs> proc = ProcFs::Open(root);
  if (!proc.ok()) return state.SkipWithError("no such /proc");
  const SampleLayout layout = Layout();
  uint64_t bytes = 0;
  SynthesisTotals totals;
  for (auto _ : state) {
    bytes = 0;
    BuildIdCache build_ids(&*proc);
    auto made = SynthesizeProcesses(*proc, {}, layout, build_ids, [&](std::span<const std::byte> piece) {
      bytes += piece.size();
      return absl::OkStatus();
    });
    if (!made.ok()) return state.SkipWithError("synthesis failed");
    totals = *std::move(made);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(totals.mappings));
  state.counters["processes"] = static_cast<double>(totals.processes);
  state.counters["mappings"] = static_cast<double>(totals.mappings);
  state.counters["bytes"] = static_cast<double>(bytes);
}

void BM_SynthesizeFakeProcesses(benchmark::State& state) {
  static std::map<int64_t, std::unique_ptr<bench::FakeProcTree>> trees;
  std::unique_ptr<bench::FakeProcTree>& tree = trees[state.range(0)];
  if (!tree)
    tree = std::make_unique<bench::FakeProcTree>(
        bench::FakeProcOptions{.processes = static_cast<int>(state.range(0)), .libraries = 30});
  Synthesize(state, tree->root());
}
BENCHMARK(BM_SynthesizeFakeProcesses)->Arg(100)->Arg(5000)->Unit(benchmark::kMillisecond);

void BM_SynthesizeThisMachine(benchmark::State& state) {
  Synthesize(state, "/proc");
}
BENCHMARK(BM_SynthesizeThisMachine)->Unit(benchmark::kMillisecond);

void BM_SnapshotTheKernel(benchmark::State& state) {
  for (auto _ : state) {
    KernelSnapshot snapshot = TakeKernelSnapshot({});
    benchmark::DoNotOptimize(snapshot);
  }
}
BENCHMARK(BM_SnapshotTheKernel)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ksamp
