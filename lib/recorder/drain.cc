// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/drain.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/perfdata/format.h"

namespace ksamp {
namespace {

// Our samples begin IDENTIFIER, IP, TID, TIME (lib/event/attr_builder.h).
constexpr size_t kPidAt = 24, kTimeAt = 32;

// Words of a record that may lie across the ring's end. Everything in a ring is a multiple of 8 bytes, so no
// word is ever cut in two.
uint64_t WordAt(const RingSpans& spans, size_t at) {
  const std::byte* from =
      at < spans.first.size() ? spans.first.data() + at : spans.second.data() + (at - spans.first.size());
  uint64_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

perf_event_header HeaderAt(const RingSpans& spans, size_t at) {
  const uint64_t word = WordAt(spans, at);
  perf_event_header header;
  std::memcpy(&header, &word, sizeof(header));
  return header;
}

}  // namespace

RingDrain::RingDrain(PerfSession& session, RecordSink sink, pid_t exclude_pid, Watch watch_processes)
    : session_(session),
      sink_(std::move(sink)),
      exclude_pid_(static_cast<uint32_t>(exclude_pid)),
      watch_processes_(std::move(watch_processes)) {
  for (WriterEvent& event : session.WriterEvents()) names_.push_back(std::move(event.name));
}

absl::StatusOr<uint64_t> RingDrain::Round() {
  uint64_t moved = 0;
  for (PerfSession::Ring& ring : session_.rings()) {
    const RingSpans spans = ring.reader.Available();
    if (spans.empty()) continue;
    KSAMP_RETURN_IF_ERROR(DrainRing(ring, spans));
    ring.reader.Consume(spans.size());
    moved += spans.size();
  }
  if (moved > 0) {
    const perf_event_header round = {perfdata::kFinishedRound, 0, sizeof(perf_event_header)};
    KSAMP_RETURN_IF_ERROR(sink_(std::as_bytes(std::span(&round, 1))));
  }
  return moved;
}

absl::Status RingDrain::Emit(const RingSpans& spans, size_t from, size_t to) {
  const size_t border = spans.first.size();
  if (from < std::min(to, border))
    KSAMP_RETURN_IF_ERROR(sink_(spans.first.subspan(from, std::min(to, border) - from)));
  if (to > std::max(from, border)) {
    const size_t begin = std::max(from, border) - border;
    KSAMP_RETURN_IF_ERROR(sink_(spans.second.subspan(begin, to - border - begin)));
  }
  return absl::OkStatus();
}

absl::Status RingDrain::DrainRing(PerfSession::Ring& ring, const RingSpans& spans) {
  size_t kept_from = 0, at = 0;
  uint64_t samples = 0;
  std::optional<uint64_t> first_time, last_time;
  while (at < spans.size()) {
    const perf_event_header header = HeaderAt(spans, at);
    if (header.size < sizeof(header) || header.size % 8 != 0 || header.size > spans.size() - at)
      return absl::DataLossError(StrCat("drain ring of CPU ", ring.cpu, ": record of size ", header.size));
    if (header.type == PERF_RECORD_SAMPLE && header.size > kTimeAt) {
      if (exclude_pid_ != 0 && static_cast<uint32_t>(WordAt(spans, at + kPidAt)) == exclude_pid_) {
        KSAMP_RETURN_IF_ERROR(Emit(spans, kept_from, at));
        kept_from = at + header.size;
        ++counts_.own_samples;
      } else {
        last_time = WordAt(spans, at + kTimeAt);
        if (samples++ == 0) first_time = last_time;
      }
    } else {
      CountSide(ring, spans, at, header.type, header.size);
    }
    at += header.size;
  }
  counts_.samples += samples;
  if (first_time) {
    counts_.first_time = std::min(counts_.first_time.value_or(*first_time), *first_time);
    counts_.last_time = std::max(counts_.last_time.value_or(*last_time), *last_time);
  }
  return Emit(spans, kept_from, spans.size());
}

void RingDrain::CountSide(const PerfSession::Ring& ring, const RingSpans& spans, size_t at, uint32_t type,
                          size_t size) {
  if (type == PERF_RECORD_LOST && size >= 24) {
    const uint64_t lost = WordAt(spans, at + 16);
    counts_.lost_records += lost;
    CountPlace("lost.kernel", ring, WordAt(spans, at + 8), lost);
  } else if (type == PERF_RECORD_LOST_SAMPLES && size >= 24) {
    // The trailer ends in the event's id (sample_id_all with IDENTIFIER).
    const uint64_t lost = WordAt(spans, at + 8);
    counts_.lost_samples += lost;
    CountPlace("lost.samples", ring, WordAt(spans, at + size - 8), lost);
  } else if (type == PERF_RECORD_THROTTLE && size >= 32) {
    ++counts_.throttles;
    CountPlace("throttled", ring, WordAt(spans, at + 16), 1);
  } else if (watch_processes_ && (type == PERF_RECORD_MMAP2 || type == PERF_RECORD_EXIT)) {
    ShowWatch(spans, at, size);
  }
}

void RingDrain::ShowWatch(const RingSpans& spans, size_t at, size_t size) {
  const size_t border = spans.first.size();
  if (at + size <= border) return watch_processes_(spans.first.subspan(at, size));
  if (at >= border) return watch_processes_(spans.second.subspan(at - border, size));
  scratch_.assign(spans.first.begin() + static_cast<ptrdiff_t>(at), spans.first.end());
  const std::span<const std::byte> rest = spans.second.first(at + size - border);
  scratch_.insert(scratch_.end(), rest.begin(), rest.end());
  watch_processes_(scratch_);
}

void RingDrain::CountPlace(const char* what, const PerfSession::Ring& ring, uint64_t id, uint64_t amount) {
  counts_.by_place[what] += amount;
  counts_.by_place[StrCat(what, ".cpu", ring.cpu)] += amount;
  const int event = session_.EventOfId(id);
  if (event >= 0) counts_.by_place[StrCat(what, ".", names_[static_cast<size_t>(event)])] += amount;
}

}  // namespace ksamp
