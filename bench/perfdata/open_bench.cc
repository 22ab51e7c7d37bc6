// SPDX-License-Identifier: Apache-2.0
// Recording::Open beside the least that any reader must do, a walk over the headers of all records; and the
// opening of our own compressed recordings by one thread and by several.
//
// KSAMP_BENCH_SAMPLES: samples in the recording, 4 000 000 (224 MB) for figures, fewer by default.
#include <benchmark/benchmark.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "ksamp/perf_data.h"
#include "lib/base/byte_writer.h"
#include "lib/base/file_io.h"
#include "lib/base/mapped_region.h"
#include "lib/event/record_encoder.h"
#include "lib/perfdata/file_head.h"
#include "lib/perfdata/writer.h"

namespace ksamp {
namespace {

constexpr uint64_t kDefaultSamples = 200'000;
constexpr uint64_t kSamplesPerSideRecord = 500;  // as in recordings of a whole machine that compiles

uint64_t SampleCount() {
  const char* text = std::getenv("KSAMP_BENCH_SAMPLES");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : kDefaultSamples;
}

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

void Require(const absl::Status& status) {
  if (!status.ok()) Fail(std::string(status.message()));
}

void WriteRecords(const SampleLayout& layout, PerfDataWriter& writer) {
  ByteWriter out;
  for (uint64_t i = 0, count = SampleCount(); i < count; ++i) {
    SampleRecord sample;
    sample.ip = 0x400000 + i * 2654435761 % 65536;
    sample.pid = sample.tid = static_cast<uint32_t>(1000 + i / 4096);
    sample.time = i * 20'000;
    sample.cpu = static_cast<uint32_t>(i % 8);
    sample.period = 20'000;
    Require(EncodeRecord({{}, sample}, layout, out));
    if (i % kSamplesPerSideRecord == 0)
      Require(EncodeRecord({{}, CommRecord{1, 1, false, "cc1plus"}}, layout, out));
    if (out.size() < (1 << 16)) continue;
    Require(writer.Append(out.bytes()));
    out.Clear();
  }
  Require(writer.Append(out.bytes()));
}

// A recording in a file that goes with the process.
class File {
 public:
  explicit File(int zstd_level) {
    std::string path = "/var/tmp/ksamp-bench-XXXXXX";
    UniqueFd fd(mkstemp(path.data()));
    if (!fd) Fail("cannot create " + path);
    unlink(path.c_str());
    path_ = "/proc/self/fd/" + std::to_string(kept_ = dup(fd.get()));
    WriterOptions options;
    options.name = path;
    options.zstd_level = zstd_level;
    options.events.resize(1);
    options.events[0].name = "cpu-clock";
    perf_event_attr& attr = options.events[0].attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.size = sizeof(attr);
    attr.sample_type =
        PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
    attr.sample_id_all = 1;
    absl::StatusOr<SampleLayout> layout = SampleLayout::FromAttr(std::as_bytes(std::span(&attr, 1)));
    absl::StatusOr<PerfDataWriter> writer = PerfDataWriter::Create(std::move(fd), options);
    Require(writer.status());
    WriteRecords(*layout, *writer);
    Require(writer->Close({}));
  }
  ~File() { close(kept_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int kept_ = -1;
};

const File& PlainFile() {
  static const File file(0);
  return file;
}
const File& CompressedFile() {
  static const File file(1);
  return file;
}

uint64_t WalkHeaders(const std::string& path) {
  absl::StatusOr<MappedRegion> file = MappedRegion::MapFile(path);
  Require(file.status());
  absl::StatusOr<perfdata::FileHead> head = perfdata::ReadFileHead(file->bytes(), path);
  Require(head.status());
  const std::byte* at = file->bytes().data() + head->data.offset;
  const std::byte* const end = at + head->data.size;
  uint64_t counts[128] = {};
  for (perf_event_header header; at < end; at += header.size) {
    std::memcpy(&header, at, sizeof(header));
    ++counts[header.type % 128];
  }
  return counts[PERF_RECORD_SAMPLE];
}

uint64_t OpenAndCount(const std::string& path, unsigned threads) {
  OpenOptions options;
  options.threads = threads;
  absl::StatusOr<Recording> recording = Recording::Open(path, options);
  Require(recording.status());
  return recording->counts().samples;
}

template <typename Count>
void Measure(benchmark::State& state, const Count& count) {
  if (count() != SampleCount()) Fail("wrong number of samples");
  for (auto _ : state) benchmark::DoNotOptimize(count());
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(SampleCount()));
}

void BM_WalkHeaders(benchmark::State& state) {
  Measure(state, [] { return WalkHeaders(PlainFile().path()); });
}
BENCHMARK(BM_WalkHeaders)->Unit(benchmark::kMillisecond);

void BM_Open(benchmark::State& state) {
  Measure(state, [] { return OpenAndCount(PlainFile().path(), 1); });
}
BENCHMARK(BM_Open)->Unit(benchmark::kMillisecond);

void BM_OpenCompressed(benchmark::State& state) {
  const auto threads = static_cast<unsigned>(state.range(0));
  Measure(state, [threads] { return OpenAndCount(CompressedFile().path(), threads); });
}
BENCHMARK(BM_OpenCompressed)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ksamp
