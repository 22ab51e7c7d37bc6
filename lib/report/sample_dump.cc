// SPDX-License-Identifier: Apache-2.0
#include <linux/perf_event.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksamp/dump.h"
#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "lib/event/trace_format.h"
#include "lib/report/line_buffer.h"

namespace ksamp {
namespace {

constexpr size_t kCommWidth = 16, kThreadWidth = 5, kCpuDigits = 3, kTimeWidth = 12, kPeriodWidth = 10,
                 kAddressWidth = 16;
constexpr uint64_t kNanoseconds = 1'000'000'000;
constexpr std::string_view kUnknown = "[unknown]";

// "/lib/modules/…/kvm-intel.ko.xz" -> "[kvm_intel]"
std::string ModuleName(std::string_view path) {
  if (path.starts_with('[')) return std::string(path);
  std::string_view name = Basename(path);
  name = name.substr(0, name.find(".ko"));
  std::string text = StrCat("[", name, "]");
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

// Memory whose name in the recording says no more than that it is memory. Heaps, stacks, memfds have their
// own.
bool HasNoName(std::string_view path) {
  return path.empty() || path.starts_with("//anon") || path.starts_with("/dev/zero") ||
         path.starts_with("/anon_hugepage");
}

// perf script's names of images.
std::string ImageName(const Image& image) {
  switch (image.kind) {
    case ImageKind::kKernel:
      return "[kernel.kallsyms]";
    case ImageKind::kModule:
      return ModuleName(image.path);
    case ImageKind::kAnonymous:
      if (!HasNoName(image.path)) break;
      return StrCat("/tmp/perf-", image.pid, ".map");  // where the names of generated code would be
    case ImageKind::kUnknown:
      return std::string(kUnknown);
    case ImageKind::kFile:
    case ImageKind::kJitDump:
    case ImageKind::kVdso:
    case ImageKind::kBpf:
      break;
  }
  return StrCat(image.path, image.deleted ? " (deleted)" : "");
}

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
}

class SampleWriter {
 public:
  SampleWriter(const SampleStream& stream, const DumpOptions& options, std::ostream& out)
      : stream_(stream), options_(options), line_(out), suffixes_(stream.locations().size() * 2) {
    for (const EventDescription& event : stream.recording().events()) {
      events_.push_back(EscapeForTerminal(event.name));
      event_width_ = std::max(event_width_, events_.back().size());
    }
    FindTraceFormats();
    for (const Image& image : stream.images()) images_.push_back(EscapeForTerminal(ImageName(image)));
  }

  bool Write(const AttributedSample& sample) {
    const bool traced = trace_formats_[sample.event].has_value();
    WriteStart(sample, !traced);
    if (traced) WriteTraceFields(sample);
    if (traced && !sample.has_callchain) {
      line_.Char('\n');
      return line_.EndLine();
    }
    if (sample.has_callchain) {
      line_.Char('\n');
      for (const SampleFrame& frame : sample.frames) WriteFrame(frame);
      line_.Char('\n');
      return line_.EndLine();
    }
    line_.Char(' ');
    const SampleFrame& leaf = sample.frames.front();
    line_.Hex(leaf.ip, kAddressWidth).Text(Suffix(leaf)).Char('\n');
    return line_.EndLine();
  }
  absl::Status Finish() { return line_.Finish(); }

 private:
  // Of the tracepoints among the events, by event.
  void FindTraceFormats() {
    const Recording& recording = stream_.recording();
    std::map<uint64_t, TraceFormat> by_id;
    for (const std::string_view text : recording.TracepointFormats()) {
      std::optional<TraceFormat> format = TraceFormat::Parse(text, recording.facts().foreign_byte_order);
      if (format) by_id.emplace(format->id(), *std::move(format));
    }
    trace_formats_.resize(recording.events().size());
    for (size_t i = 0; i < trace_formats_.size(); ++i) {
      const EventDescription& event = recording.events()[i];
      const auto found = by_id.find(event.config);
      if (event.type == PERF_TYPE_TRACEPOINT && found != by_id.end()) trace_formats_[i] = found->second;
    }
  }

  void WriteTraceFields(const AttributedSample& sample) {
    const absl::StatusOr<Record> record = stream_.recording().Decode(sample.record);
    if (!record.ok()) return;
    trace_text_.clear();
    trace_formats_[sample.event]->AppendText(std::get<SampleRecord>(record->body).raw, trace_text_);
    if (IsPlain(trace_text_)) {
      line_.Text(trace_text_);
    } else {
      line_.Text(EscapeForTerminal(trace_text_));
    }
  }

  void WriteStart(const AttributedSample& sample, bool with_period) {
    const size_t comm_width = sample.has_callchain ? 0 : kCommWidth;
    if (IsPlain(sample.comm)) [[likely]] {
      line_.Right(sample.comm, comm_width);
    } else {
      line_.Right(EscapeForTerminal(sample.comm), comm_width);
    }
    line_.Char(' ');
    if (sample.tid) line_.Dec(static_cast<int32_t>(*sample.tid), kThreadWidth).Char(' ');
    if (sample.cpu) line_.Char('[').Zeros(*sample.cpu, kCpuDigits).Text("] ");
    if (sample.time) WriteTime(*sample.time);
    if (with_period) line_.Dec(sample.period, kPeriodWidth).Char(' ');
    line_.Right(events_[sample.event], event_width_).Text(": ");
  }

  void WriteTime(uint64_t time) {
    const uint64_t seconds = time / kNanoseconds;
    if (seconds != second_ || second_text_.empty()) {
      second_ = seconds;
      second_text_ = std::to_string(seconds);
      constexpr size_t kBehindSeconds = 7;  // ".123456"
      if (second_text_.size() + kBehindSeconds < kTimeWidth)
        second_text_.insert(0, kTimeWidth - kBehindSeconds - second_text_.size(), ' ');
    }
    line_.Text(second_text_).Char('.').Zeros(time % kNanoseconds / 1000, 6).Text(": ");
  }

  void WriteFrame(const SampleFrame& frame) {
    // Of files perf shows the file offset here, not what the sample held.
    const uint64_t address = stream_.locations()[frame.location].address + (frame.is_return_address ? 1 : 0);
    line_.Char('\t').Hex(address, kAddressWidth).Text(Suffix(frame)).Char('\n');
  }

  // " symbol+0x1f (image)", made at the first use of a location.
  const std::string& Suffix(const SampleFrame& frame) {
    std::string& text = suffixes_[frame.location * size_t{2} + (frame.is_return_address ? 1 : 0)];
    if (text.empty()) [[unlikely]]
      text = MakeSuffix(frame);
    return text;
  }

  std::string MakeSuffix(const SampleFrame& frame) const {
    const ProfileLocation& location = stream_.locations()[frame.location];
    std::string text = " ";
    if (location.symbol != kNone32) {
      const ProfileSymbol& symbol = stream_.symbols()[location.symbol];
      const uint64_t offset = location.elf.value - symbol.start + (frame.is_return_address ? 1 : 0);
      StrAppend(&text, EscapeForTerminal(options_.demangle ? options_.demangle(symbol.name) : symbol.name),
                "+", Hex(offset));
    } else {
      text.append(kUnknown);
    }
    StrAppend(&text, " (", location.image == kNone32 ? kUnknown : images_[location.image], ")");
    return text;
  }

  const SampleStream& stream_;
  const DumpOptions& options_;
  LineBuffer line_;
  std::vector<std::string> events_, images_;
  std::vector<std::string> suffixes_;                      // two per location: leaf, return address
  std::vector<std::optional<TraceFormat>> trace_formats_;  // by event; nothing: its samples have addresses
  std::string trace_text_;
  size_t event_width_ = 0;
  uint64_t second_ = 0;
  std::string second_text_;  // right-aligned
};

}  // namespace

absl::Status WriteSamples(const SampleStream& stream, const DumpOptions& options, std::ostream& out) {
  SampleWriter writer(stream, options, out);
  stream.ForEach([&writer](const AttributedSample& sample) { return writer.Write(sample); });
  return writer.Finish();
}

}  // namespace ksamp
