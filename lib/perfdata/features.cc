// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/features.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "lib/base/byte_writer.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/event/record_decoder.h"
#include "lib/perfdata/field_reader.h"
#include "lib/perfdata/format.h"

namespace ksamp::perfdata {
namespace {

// perf pads every string to a multiple of 64 bytes, NUL included.
constexpr size_t kStringAlignment = 64;
constexpr uint16_t kBuildIdSizeKnown = 1 << 15;  // PERF_RECORD_MISC_BUILD_ID_SIZE
constexpr size_t kBuildIdHeader = 8 + 4 + 24;    // record header, pid, id with its size and padding

absl::Status TooShort(std::string_view feature, const FieldReader& reader) {
  return absl::DataLossError(StrCat("read feature ", feature, ": ends early, at ", reader.position()));
}

void PutString(std::string_view text, ByteWriter& out) {
  const size_t padded = (text.size() + kStringAlignment) / kStringAlignment * kStringAlignment;
  out.Put(static_cast<uint32_t>(padded));
  out.PutPaddedCString(text, kStringAlignment);
}

void AppendEscaped(std::string_view text, std::string& out) {
  for (char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
}

std::string Unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
    } else {
      out += text[++i] == 'n' ? '\n' : text[i];
    }
  }
  return out;
}

// Calls fn(key, value) for every "key=value\n".
template <typename Fn>
void ForEachLine(PayloadView payload, Fn&& fn) {
  std::string_view text = AsText(payload);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (const size_t equals = line.find('='); equals != std::string_view::npos)
      fn(line.substr(0, equals), line.substr(equals + 1));
  }
}

Payload TextPayload(const std::string& text) {
  const std::span<const std::byte> bytes = AsBytes(text);
  return Payload(bytes.begin(), bytes.end());
}

}  // namespace

Payload EncodeString(std::string_view text) {
  ByteWriter out;
  PutString(text, out);
  return std::move(out).Take();
}

absl::StatusOr<std::string> DecodeString(PayloadView payload, bool foreign) {
  FieldReader reader(payload, foreign);
  std::string text = reader.ReadString();
  if (!reader.ok()) return TooShort("string", reader);
  return text;
}

Payload EncodeCpuCounts(const CpuCounts& counts) {
  ByteWriter out;
  out.Put(counts.available);
  out.Put(counts.online);
  return std::move(out).Take();
}

absl::StatusOr<CpuCounts> DecodeCpuCounts(PayloadView payload, bool foreign) {
  FieldReader reader(payload, foreign);
  CpuCounts counts;
  counts.available = reader.Read<uint32_t>();
  counts.online = reader.Read<uint32_t>();
  if (!reader.ok()) return TooShort("NRCPUS", reader);
  return counts;
}

Payload EncodeTotalMemory(uint64_t kilobytes) {
  ByteWriter out;
  out.Put(kilobytes);
  return std::move(out).Take();
}

absl::StatusOr<uint64_t> DecodeTotalMemory(PayloadView payload, bool foreign) {
  FieldReader reader(payload, foreign);
  const uint64_t kilobytes = reader.Read<uint64_t>();
  if (!reader.ok()) return TooShort("TOTAL_MEM", reader);
  return kilobytes;
}

Payload EncodeCommandLine(const std::vector<std::string>& words) {
  ByteWriter out;
  out.Put(static_cast<uint32_t>(words.size()));
  for (const std::string& word : words) PutString(word, out);
  return std::move(out).Take();
}

absl::StatusOr<std::vector<std::string>> DecodeCommandLine(PayloadView payload, bool foreign) {
  FieldReader reader(payload, foreign);
  std::vector<std::string> words;
  for (uint32_t left = reader.Read<uint32_t>(); left > 0; --left) {
    words.push_back(reader.ReadString());
    if (!reader.ok()) return TooShort("CMDLINE", reader);
  }
  if (!reader.ok()) return TooShort("CMDLINE", reader);
  return words;
}

Payload EncodeEventDesc(std::span<const EventDesc> events) {
  ByteWriter out;
  out.Put(static_cast<uint32_t>(events.size()));
  out.Put(static_cast<uint32_t>(events.empty() ? 0 : events.front().attr.size()));
  for (const EventDesc& event : events) {
    out.PutBytes(event.attr);
    out.Put(static_cast<uint32_t>(event.ids.size()));
    PutString(event.name, out);
    for (uint64_t id : event.ids) out.Put(id);
  }
  return std::move(out).Take();
}

absl::StatusOr<std::vector<EventDesc>> DecodeEventDesc(PayloadView payload, bool foreign) {
  FieldReader reader(payload, foreign);
  std::vector<EventDesc> events;
  const uint32_t count = reader.Read<uint32_t>();
  const uint32_t attr_size = reader.Read<uint32_t>();
  for (uint32_t i = 0; i < count && reader.ok(); ++i) {
    EventDesc event;
    const PayloadView attr = reader.ReadBytes(attr_size);
    event.attr.assign(attr.begin(), attr.end());
    if (foreign) SwapAttr(event.attr);
    const uint32_t ids = reader.Read<uint32_t>();
    event.name = reader.ReadString();
    for (uint32_t id = 0; id < ids && reader.ok(); ++id) event.ids.push_back(reader.Read<uint64_t>());
    events.push_back(std::move(event));
  }
  if (!reader.ok()) return TooShort("EVENT_DESC", reader);
  return events;
}

Payload EncodeBuildIds(std::span<const BuildIdEntry> entries) {
  ByteWriter out;
  for (const BuildIdEntry& entry : entries) {
    const size_t start = out.size();
    const size_t id_size = std::min<size_t>(entry.build_id.size(), 20);
    out.Put<uint32_t>(kHeaderBuildId);
    out.Put(static_cast<uint16_t>(static_cast<uint16_t>(entry.mode) | kBuildIdSizeKnown));
    out.Put<uint16_t>(0);
    out.Put(entry.pid);
    out.PutBytes(std::as_bytes(std::span(entry.build_id).first(id_size)));
    out.PutZeros(20 - id_size);
    out.Put(static_cast<uint8_t>(id_size));
    out.PutZeros(3);
    out.PutPaddedCString(entry.path, 64);
    out.AlignTo(4);
    out.PutAt(start + 6, static_cast<uint16_t>(out.size() - start));
  }
  return std::move(out).Take();
}

std::vector<BuildIdEntry> DecodeBuildIds(PayloadView payload, bool foreign) {
  std::vector<BuildIdEntry> entries;
  while (payload.size() >= kBuildIdHeader) {
    FieldReader reader(payload, foreign);
    reader.Skip(4);
    const uint16_t misc = reader.Read<uint16_t>(), size = reader.Read<uint16_t>();
    if (size < kBuildIdHeader || size > payload.size()) break;
    BuildIdEntry entry;
    entry.mode = static_cast<CpuMode>(misc & 7);
    entry.pid = static_cast<int32_t>(reader.Read<uint32_t>());
    const PayloadView id = reader.ReadBytes(24);
    const size_t stated = std::to_integer<size_t>(id[20]);
    const size_t id_size = (misc & kBuildIdSizeKnown) != 0 && stated <= 20 ? stated : 20;
    for (std::byte b : id.first(id_size)) entry.build_id.push_back(std::to_integer<uint8_t>(b));
    const std::string_view path = AsText(payload.subspan(kBuildIdHeader, size - kBuildIdHeader));
    entry.path = std::string(path.substr(0, path.find('\0')));
    entries.push_back(std::move(entry));
    payload = payload.subspan(size);
  }
  return entries;
}

Payload EncodeSampleTimes(const SampleTimes& times) {
  ByteWriter out;
  out.Put(times.first);
  out.Put(times.last);
  return std::move(out).Take();
}

absl::StatusOr<SampleTimes> DecodeSampleTimes(PayloadView payload, bool foreign) {
  FieldReader reader(payload, foreign);
  SampleTimes times;
  times.first = reader.Read<uint64_t>();
  times.last = reader.Read<uint64_t>();
  if (!reader.ok()) return TooShort("SAMPLE_TIME", reader);
  return times;
}

Payload EncodeClockId(uint64_t resolution_ns) {
  ByteWriter out;
  out.Put(resolution_ns);
  return std::move(out).Take();
}

Payload EncodeClockData(const ClockData& clock) {
  ByteWriter out;
  out.Put<uint32_t>(1);
  out.Put(clock.clockid);
  out.Put(clock.wall_ns);
  out.Put(clock.clock_ns);
  return std::move(out).Take();
}

absl::StatusOr<ClockData> DecodeClockData(PayloadView payload, bool foreign) {
  FieldReader reader(payload, foreign);
  ClockData clock;
  reader.Skip(4);
  clock.clockid = reader.Read<uint32_t>();
  clock.wall_ns = reader.Read<uint64_t>();
  clock.clock_ns = reader.Read<uint64_t>();
  if (!reader.ok()) return TooShort("CLOCK_DATA", reader);
  return clock;
}

Payload EncodeCompression(const CompressionFacts& facts) {
  ByteWriter out;
  for (uint32_t value : {1u, 1u, facts.level, facts.ratio, facts.largest_piece}) out.Put(value);
  return std::move(out).Take();
}

absl::StatusOr<CompressionFacts> DecodeCompression(PayloadView payload, bool foreign) {
  FieldReader reader(payload, foreign);
  CompressionFacts facts;
  reader.Skip(8);
  facts.level = reader.Read<uint32_t>();
  facts.ratio = reader.Read<uint32_t>();
  facts.largest_piece = reader.Read<uint32_t>();
  if (!reader.ok()) return TooShort("COMPRESSED", reader);
  return facts;
}

Payload EncodeMeta(const std::map<std::string, std::string>& meta) {
  std::string text;
  for (const auto& [key, value] : meta) {
    AppendEscaped(key, text);
    text += '=';
    AppendEscaped(value, text);
    text += '\n';
  }
  return TextPayload(text);
}

std::map<std::string, std::string> DecodeMeta(PayloadView payload) {
  std::map<std::string, std::string> meta;
  ForEachLine(payload,
              [&](std::string_view key, std::string_view value) { meta[Unescaped(key)] = Unescaped(value); });
  return meta;
}

Payload EncodeCounters(const std::map<std::string, uint64_t>& counters) {
  std::string text;
  for (const auto& [key, value] : counters) {
    AppendEscaped(key, text);
    StrAppend(&text, '=', value, '\n');
  }
  return TextPayload(text);
}

std::map<std::string, uint64_t> DecodeCounters(PayloadView payload) {
  std::map<std::string, uint64_t> counters;
  ForEachLine(payload, [&](std::string_view key, std::string_view value) {
    uint64_t number = 0;
    const char* end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, number);
    if (error == std::errc() && stop == end) counters[Unescaped(key)] = number;
  });
  return counters;
}

Payload EncodeCodeFiles(std::span<const PackedCodeFile> files) {
  ByteWriter out;
  for (const PackedCodeFile& file : files) {
    out.Put(static_cast<uint32_t>(file.kind));
    out.Put(file.pid);
    out.Put<uint64_t>(file.path.size());
    out.Put<uint64_t>(file.frame.size());
    out.PutBytes(AsBytes(file.path));
    out.AlignTo(8);
    out.PutBytes(file.frame);
    out.AlignTo(8);
  }
  return std::move(out).Take();
}

std::vector<PackedCodeFile> DecodeCodeFiles(PayloadView payload, bool foreign) {
  std::vector<PackedCodeFile> files;
  FieldReader reader(payload, foreign);
  const auto align = [&reader] { reader.Skip((8 - reader.position() % 8) % 8); };
  while (reader.remaining() > 0) {
    PackedCodeFile file;
    const uint32_t kind = reader.Read<uint32_t>();
    file.pid = reader.Read<uint32_t>();
    const uint64_t path_size = reader.Read<uint64_t>(), frame_size = reader.Read<uint64_t>();
    file.path = std::string(AsText(reader.ReadBytes(path_size)));
    align();
    const PayloadView frame = reader.ReadBytes(frame_size);
    align();
    if (!reader.ok()) break;
    if (kind != static_cast<uint32_t>(CodeFileKind::kPerfMap) &&
        kind != static_cast<uint32_t>(CodeFileKind::kJitDump))
      continue;
    file.kind = static_cast<CodeFileKind>(kind);
    file.frame.assign(frame.begin(), frame.end());
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace ksamp::perfdata
