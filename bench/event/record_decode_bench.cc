// SPDX-License-Identifier: Apache-2.0
// What one record costs: decoded whole, its fixed fields only (the hot loop of a report), turned from the
// other byte order, and encoded.
#include <benchmark/benchmark.h>
#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "lib/base/byte_writer.h"
#include "lib/event/record_decoder.h"
#include "lib/event/record_encoder.h"
#include "lib/event/sample_layout.h"

namespace ksamp {
namespace {

constexpr size_t kRecords = 4096;

SampleLayout Layout(bool with_chain) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                     PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
  if (with_chain) attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
  attr.sample_id_all = 1;
  return SampleLayout::FromAttr(std::as_bytes(std::span(&attr, 1))).value_or(SampleLayout());
}

// Records one behind the other, at multiples of 8 as in a ring.
struct Stream {
  std::vector<std::byte> bytes;
  std::vector<size_t> starts;

  std::span<const std::byte> RecordAt(size_t i) const {
    const size_t end = i + 1 < starts.size() ? starts[i + 1] : bytes.size();
    return std::span(bytes).subspan(starts[i], end - starts[i]);
  }
};

Stream Samples(const SampleLayout& layout, size_t frames) {
  const std::vector<uint64_t> chain(frames, 0xffffffff81000123);
  ByteWriter out;
  Stream stream;
  for (size_t i = 0; i < kRecords; ++i) {
    Record record;
    SampleRecord sample;
    sample.ip = 0xffffffff81000000 + i * 16;
    sample.pid = sample.tid = 100;
    sample.period = 250'689;
    sample.callchain = chain;
    record.body = sample;
    stream.starts.push_back(out.bytes().size());
    if (!EncodeRecord(record, layout, out).ok()) return {};
  }
  stream.bytes.assign(out.bytes().begin(), out.bytes().end());
  return stream;
}

RawRecord RawAt(const Stream& stream, size_t i) {
  RawRecord raw;
  raw.type = PERF_RECORD_SAMPLE;
  raw.bytes = stream.RecordAt(i);
  return raw;
}

void Report(benchmark::State& state, const Stream& stream) {
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(stream.starts.size()));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(stream.bytes.size()));
}

void BM_DecodeSample(benchmark::State& state) {
  const auto frames = static_cast<size_t>(state.range(0));
  const SampleLayout layout = Layout(frames > 0);
  const Stream stream = Samples(layout, frames);
  if (stream.starts.empty() || !DecodeRecord(RawAt(stream, 0), layout).ok())
    return state.SkipWithError("cannot decode what was encoded");
  for (auto _ : state) {
    for (size_t i = 0; i < stream.starts.size(); ++i)
      benchmark::DoNotOptimize(DecodeRecord(RawAt(stream, i), layout));
  }
  Report(state, stream);
}
BENCHMARK(BM_DecodeSample)->ArgName("frames")->Arg(0)->Arg(20)->Arg(127);

void BM_ReadFixedFields(benchmark::State& state) {
  const SampleLayout layout = Layout(true);
  const Stream stream = Samples(layout, 20);
  for (auto _ : state) {
    for (const size_t start : stream.starts)
      benchmark::DoNotOptimize(layout.ReadFixed(stream.bytes.data() + start));
  }
  Report(state, stream);
}
BENCHMARK(BM_ReadFixedFields);

void BM_EncodeSample(benchmark::State& state) {
  const SampleLayout layout = Layout(true);
  const Stream stream = Samples(layout, 20);
  const auto record = DecodeRecord(RawAt(stream, 0), layout);
  if (!record.ok()) return state.SkipWithError("cannot decode what was encoded");
  for (auto _ : state) {
    ByteWriter out;
    for (size_t i = 0; i < kRecords; ++i) benchmark::DoNotOptimize(EncodeRecord(*record, layout, out));
  }
  Report(state, stream);
}
BENCHMARK(BM_EncodeSample);

// One pass turns the fields to the other order, the next one back; headers stay in host order.
void BM_SwapSample(benchmark::State& state) {
  const SampleLayout layout = Layout(false);
  Stream stream = Samples(layout, 0);
  for (auto _ : state) {
    for (const size_t start : stream.starts)
      benchmark::DoNotOptimize(
          SwapRecord(std::span(stream.bytes).subspan(start, layout.fixed_size()), layout));
  }
  Report(state, stream);
}
BENCHMARK(BM_SwapSample);

}  // namespace
}  // namespace ksamp
