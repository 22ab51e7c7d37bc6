// SPDX-License-Identifier: Apache-2.0
// SampleStream: the samples of a recording one by one, each with its thread's name and its frames.
//
//   absl::StatusOr<SampleStream> stream = SampleStream::Create(*recording, {.comms = {"nginx"}});
//   stream->Symbolize(*Symbolizer::Create(SymbolizerOptionsFor(*recording)));
//   stream->ForEach([&](const AttributedSample& sample) {
//     std::cout << sample.comm << " ran " << stream->SymbolName(sample.frames[0]).value_or("?") << "\n";
//     return true;                                                       // false stops
//   });
//
// For counts use BuildProfile (ksamp/profile.h): it needs no order. A stream is for what looks at samples in
// the order of time: printing them, finding the gap between two of them, following one thread.
//
// Two sweeps: Create attributes all samples and keeps each unique (image, address) once, so that Symbolize
// opens every image once; ForEach attributes again, in order of time, with names at hand. Memory grows with
// unique addresses, and with the samples that one round of the recorder left unordered (all of them in
// recordings without FINISHED_ROUND records, 24 bytes each). Samples of events without times come in file
// order.
//
// The recording must outlive the stream. ForEach may run several times, and in several threads at once.
#ifndef KSAMP_SAMPLE_STREAM_H_
#define KSAMP_SAMPLE_STREAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ksamp/export.h"
#include "ksamp/image.h"
#include "ksamp/perf_data.h"
#include "ksamp/profile.h"
#include "ksamp/record.h"
#include "ksamp/symbolizer.h"

namespace ksamp {

// One address of a stack.
struct SampleFrame {
  uint64_t ip = 0;        // as recorded
  uint32_t location = 0;  // index into SampleStream::locations()
  CpuMode mode = CpuMode::kUnknown;
  // A return address: the call is what stands before it, and the location is that of ip - 1.
  bool is_return_address = false;
};

// Lives until the call that received it returns.
struct AttributedSample {
  uint32_t event = 0;     // index into Recording::events()
  std::string_view comm;  // of the thread at that time; ":TID" where no record named it
  // Nothing: the event does not record it. pid and tid -1: an exiting task.
  std::optional<uint32_t> pid, tid, cpu;
  std::optional<uint64_t> time;
  uint64_t period = 0;                  // recorded, or the event's fixed one
  bool has_callchain = false;           // of the event; a chain that came out empty leaves the leaf alone
  std::span<const SampleFrame> frames;  // leaf first, never empty
  RawRecord record;                     // for Recording::Decode: everything else
};

class KSAMP_EXPORT SampleStream {
 public:
  // Of `options`, what selects samples counts: time, cpus, pids, tids, comms, events; and threads.
  // InvalidArgument as BuildProfile.
  static absl::StatusOr<SampleStream> Create(const Recording& recording, const ProfileOptions& options = {});
  SampleStream(SampleStream&&) noexcept;
  SampleStream& operator=(SampleStream&&) noexcept;
  ~SampleStream();

  // Fills in locations() and symbols(), images in parallel.
  void Symbolize(Symbolizer& symbolizer);

  const std::vector<Image>& images() const;
  const std::vector<ProfileLocation>& locations() const;
  const std::vector<ProfileSymbol>& symbols() const;
  // Not demangled; nothing: locations()[frame.location].reason says why.
  std::optional<std::string_view> SymbolName(const SampleFrame& frame) const;

  // Where the samples of each event went: filtered and dropped ones do not come. Same order as events().
  const std::vector<Conservation>& conservation() const;
  // For people: damage, images that were replaced, symbols that are hidden, …
  const std::vector<std::string>& notes() const;
  const Recording& recording() const;

  // Calls `fn` for every selected sample in order of time; stops where it returns false.
  void ForEach(const std::function<bool(const AttributedSample&)>& fn) const;

 private:
  struct State;
  explicit SampleStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ksamp

#endif  // KSAMP_SAMPLE_STREAM_H_
