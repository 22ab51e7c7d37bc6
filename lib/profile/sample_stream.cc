// SPDX-License-Identifier: Apache-2.0
#include "ksamp/sample_stream.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "lib/base/parallel.h"
#include "lib/base/status_macros.h"
#include "lib/profile/counting_plan.h"
#include "lib/profile/recording_sweep.h"
#include "lib/profile/sample_attributor.h"
#include "lib/profile/time_order.h"

namespace ksamp {
namespace {

constexpr uint32_t kFinishedRound = 68;

using LocationKey = std::pair<uint32_t /*image*/, uint64_t /*address*/>;
using LocationNumbers = absl::flat_hash_map<LocationKey, uint32_t>;

// The first sweep's share of one thread.
struct LocationSweep {
  explicit LocationSweep(const CountingPlan& plan) : attributor(plan) {}
  SampleAttributor attributor;
  LocationNumbers found;
};

// A sample on its way through the order of time.
struct WaitingSample {
  const std::byte* record = nullptr;
  uint64_t offset = 0;
};

}  // namespace

struct SampleStream::State {
  State(const Recording& read, const ProfileOptions& asked) : recording(read), options(asked) {}

  const Recording& recording;
  const ProfileOptions options;
  CountingPlan plan;
  std::unique_ptr<ProcessTable> table;
  Profile profile;  // images, locations, symbols, conservation, notes
  LocationNumbers numbers;

  void Sweep(unsigned threads);
  void NumberLocations();
  uint32_t ImageOf(uint32_t image);
  bool Deliver(const WaitingSample& waiting, SampleAttributor& attributor, std::vector<SampleFrame>& frames,
               const std::function<bool(const AttributedSample&)>& fn) const;
};

void SampleStream::State::Sweep(unsigned threads) {
  const size_t chunks = recording.chunks().size();
  const size_t workers = std::max<size_t>(1, std::min<size_t>(threads, chunks));
  std::vector<std::unique_ptr<LocationSweep>> sweeps;
  for (size_t i = 0; i < workers; ++i) sweeps.push_back(std::make_unique<LocationSweep>(plan));
  ParallelFor(chunks, static_cast<unsigned>(workers), [&](size_t chunk, unsigned worker) {
    LocationSweep& sweep = *sweeps[worker];
    ForEachSample(recording.chunks()[chunk],
                  [&](const std::byte* record, uint16_t size, uint16_t misc, uint64_t offset) {
                    if (!sweep.attributor.Attribute(record, size, misc, offset)) return;
                    for (const PlacedFrame& frame : sweep.attributor.frames())
                      sweep.found.try_emplace({frame.image, frame.address}, 0);
                  });
  });
  profile.conservation.resize(plan.events.size());
  for (const auto& sweep : sweeps) {
    for (const auto& [key, number] : sweep->found) numbers.try_emplace(key, 0);
    for (size_t event = 0; event < plan.events.size(); ++event)
      sweep->attributor.tallies()[event].AddTo(profile.conservation[event]);
  }
}

// The profile's number of an image that an attributor named.
uint32_t SampleStream::State::ImageOf(uint32_t image) {
  if (image < table->images().size()) return image;
  if (image != kKernelWithoutMap) return kNone32;
  if (profile.images.size() == table->images().size())
    profile.images.push_back({.kind = ImageKind::kKernel, .path = "vmlinux", .build_id = {}});
  return static_cast<uint32_t>(table->images().size());
}

// Numbers by (image, address), whatever thread found them first.
void SampleStream::State::NumberLocations() {
  std::vector<LocationKey> keys;
  keys.reserve(numbers.size());
  for (const auto& [key, number] : numbers) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  profile.images = table->images();
  profile.locations.reserve(keys.size());
  for (const LocationKey& key : keys) {
    numbers[key] = static_cast<uint32_t>(profile.locations.size());
    ProfileLocation location{.image = ImageOf(key.first), .address = key.second};
    if (key.first >= kFirstReasonImage)
      location.reason = static_cast<UnresolvedReason>(key.first - kFirstReasonImage);
    profile.locations.push_back(location);
  }
  AddBuildIds(recording, profile.images);
}

bool SampleStream::State::Deliver(const WaitingSample& waiting, SampleAttributor& attributor,
                                  std::vector<SampleFrame>& frames,
                                  const std::function<bool(const AttributedSample&)>& fn) const {
  const auto header = LoadAt<perf_event_header>(waiting.record);
  if (!attributor.Attribute(waiting.record, header.size, header.misc, waiting.offset)) return true;
  frames.clear();
  for (const PlacedFrame& frame : attributor.frames())
    frames.push_back({.ip = frame.ip,
                      .location = numbers.find({frame.image, frame.address})->second,
                      .mode = frame.mode,
                      .is_return_address = frame.is_return_address});
  const CountedEvent& event = attributor.event_plan();
  const FixedSampleFields& fields = attributor.fields();
  AttributedSample sample{.event = attributor.event(),
                          .comm = attributor.comm(),
                          .pid = {},
                          .tid = {},
                          .cpu = {},
                          .time = {},
                          .period = attributor.period(),
                          .has_callchain = (event.layout.sample_type() & PERF_SAMPLE_CALLCHAIN) != 0,
                          .frames = frames,
                          .record = {.type = header.type,
                                     .misc = header.misc,
                                     .bytes = {waiting.record, header.size},
                                     .offset = waiting.offset}};
  if (event.has_thread) {
    sample.pid = fields.pid;
    sample.tid = fields.tid;
  }
  if (event.has_cpu) sample.cpu = fields.cpu;
  if (event.layout.has_time()) sample.time = fields.time;
  return fn(sample);
}

SampleStream::SampleStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
SampleStream::SampleStream(SampleStream&&) noexcept = default;
SampleStream& SampleStream::operator=(SampleStream&&) noexcept = default;
SampleStream::~SampleStream() = default;

absl::StatusOr<SampleStream> SampleStream::Create(const Recording& recording, const ProfileOptions& options) {
  auto state = std::make_unique<State>(recording, options);
  const unsigned threads = options.threads != 0 ? options.threads : AvailableCpus();
  KSAMP_ASSIGN_OR_RETURN(state->plan, PlanCounting(recording, state->options, threads));
  SideRecordSweep side = SweepSideRecords(recording, state->plan.timeless, state->plan.ReadFormats(),
                                          JitDumpsFor(recording, state->options));
  state->table = std::make_unique<ProcessTable>(std::move(side.table));
  state->plan.table = state->table.get();
  state->Sweep(threads);
  state->NumberLocations();
  state->profile.losses = std::move(side.losses);
  state->profile.facts = FactsOf(recording, std::nullopt);
  std::vector<std::string>& notes = state->profile.facts.notes;
  notes.insert(notes.end(), side.notes.begin(), side.notes.end());
  return SampleStream(std::move(state));
}

void SampleStream::Symbolize(Symbolizer& symbolizer) {
  ksamp::Symbolize(state_->profile, symbolizer, {.count_idle = true, .threads = state_->options.threads});
}

const std::vector<Image>& SampleStream::images() const {
  return state_->profile.images;
}
const std::vector<ProfileLocation>& SampleStream::locations() const {
  return state_->profile.locations;
}
const std::vector<ProfileSymbol>& SampleStream::symbols() const {
  return state_->profile.symbols;
}
std::optional<std::string_view> SampleStream::SymbolName(const SampleFrame& frame) const {
  const uint32_t symbol = state_->profile.locations[frame.location].symbol;
  if (symbol == kNone32) return std::nullopt;
  return state_->profile.symbols[symbol].name;
}
const std::vector<Conservation>& SampleStream::conservation() const {
  return state_->profile.conservation;
}
const std::vector<std::string>& SampleStream::notes() const {
  return state_->profile.facts.notes;
}
const Recording& SampleStream::recording() const {
  return state_->recording;
}

void SampleStream::ForEach(const std::function<bool(const AttributedSample&)>& fn) const {
  const State& state = *state_;
  SampleAttributor attributor(state.plan);
  std::vector<SampleFrame> frames;
  TimeOrder<WaitingSample> order;
  const auto deliver = [&](const WaitingSample& waiting) {
    return state.Deliver(waiting, attributor, frames, fn);
  };
  bool more = true;
  const auto add = [&](const perf_event_header& header, const std::byte* record, uint64_t offset) {
    if (!more) return;
    if (header.type == kFinishedRound) more = order.FinishRound(deliver);
    if (header.type != PERF_RECORD_SAMPLE) return;
    const uint32_t event = state.plan.EventOf(record, header.size);
    if (event == kNone32) return;
    const SampleLayout& layout = state.plan.events[event].layout;
    if (header.size < layout.fixed_size()) return;
    if (!layout.has_time()) {
      more = deliver({record, offset});
    } else {
      order.Add(layout.ReadFixed(record).time, {record, offset});
    }
  };
  for (const Recording::Chunk& chunk : state.recording.chunks()) {
    WalkRecords(chunk, add);
    if (!more) return;
  }
  order.Finish(deliver);
}

}  // namespace ksamp
