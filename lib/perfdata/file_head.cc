// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/file_head.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "lib/base/checked_math.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/event/record_decoder.h"
#include "lib/perfdata/field_reader.h"

namespace ksamp::perfdata {
namespace {

using Bytes = std::span<const std::byte>;

constexpr uint64_t kOldHeaderSize = 72;  // before there was a feature bitmap
constexpr uint64_t kAttrSizeVer0 = 64;
constexpr uint64_t kIdSectionSize = sizeof(Section);

struct RawHeader {
  uint64_t size = 0, attr_size = 0;
  Section attrs, data;
  std::array<uint64_t, 4> features{};
  uint64_t table_size() const {
    uint64_t bits = 0;
    for (uint64_t word : features) bits += static_cast<uint64_t>(std::popcount(word));
    return bits * sizeof(Section);
  }
  bool has_features() const { return size >= sizeof(FileHeader); }
  bool no_feature_set() const {
    return std::all_of(features.begin(), features.end(), [](uint64_t word) { return word == 0; });
  }
};

absl::Status NotARecording(const std::string& name, std::string_view why) {
  return absl::InvalidArgumentError(StrCat("read ", name, ": not a recording: ", why));
}

absl::Status Unusable(const std::string& name, std::string_view why) {
  return absl::DataLossError(StrCat("read ", name, ": ", why));
}

// The file's byte order, by its magic.
absl::StatusOr<bool> IsForeign(Bytes file, const std::string& name) {
  if (file.empty()) return NotARecording(name, "the file is empty");
  if (file.size() < sizeof(PipeHeader))
    return NotARecording(name, StrCat("it has ", file.size(), " bytes, a header at least 16"));
  std::array<char, 8> magic;
  std::memcpy(magic.data(), file.data(), magic.size());
  if (std::memcmp(magic.data(), kMagic, magic.size()) == 0) return false;
  if (std::memcmp(magic.data(), "PERFFILE", magic.size()) == 0)
    return NotARecording(name, "a perf.data of version 1, which perf wrote before Linux 3.0");
  std::reverse(magic.begin(), magic.end());
  if (std::memcmp(magic.data(), kMagic, magic.size()) == 0) return true;
  return NotARecording(name, "it does not start with PERFILE2");
}

// The bitmap is an array of the writer's machine words: a 32-bit machine of the other byte order swapped
// other pieces. Every perf sets HOSTNAME, which tells the two apart.
void ReadBitmap(Bytes bytes, bool foreign, std::array<uint64_t, 4>& features) {
  FieldReader words(bytes, foreign);
  for (uint64_t& word : features) word = words.Read<uint64_t>();
  if (!foreign || (features[0] & (1u << kHostname)) != 0) return;
  std::array<uint64_t, 4> halves{};
  FieldReader reader(bytes, foreign);
  for (uint64_t& word : halves) {
    const uint64_t low = reader.Read<uint32_t>(), high = reader.Read<uint32_t>();
    word = high << 32 | low;
  }
  if ((halves[0] & (1u << kHostname)) != 0) features = halves;
}

absl::StatusOr<RawHeader> ReadHeader(Bytes file, bool foreign, const std::string& name) {
  FieldReader reader(file, foreign);
  reader.Skip(sizeof(kMagic));
  RawHeader header;
  header.size = reader.Read<uint64_t>();
  if (header.size == sizeof(PipeHeader)) return header;
  if (header.size < kOldHeaderSize) return Unusable(name, StrCat("header size ", header.size, " at 8"));
  if (file.size() < std::min<uint64_t>(header.size, sizeof(FileHeader)))
    return Unusable(name, StrCat("the header ends early, at ", file.size()));
  header.attr_size = reader.Read<uint64_t>();
  for (Section* section : {&header.attrs, &header.data}) {
    section->offset = reader.Read<uint64_t>();
    section->size = reader.Read<uint64_t>();
  }
  reader.Skip(sizeof(Section));
  if (header.has_features()) ReadBitmap(file.subspan(reader.position(), 32), foreign, header.features);
  return header;
}

// One event's ids; a section outside the file costs only them.
std::vector<uint64_t> ReadIds(Bytes file, bool foreign, const Section& section, FileHead& head) {
  std::vector<uint64_t> ids;
  if (!RangeFits(section.offset, section.size, file.size())) {
    head.damage.push_back({section.offset, "event ids lie outside the file", section.size});
    return ids;
  }
  FieldReader reader(file.subspan(section.offset, section.size), foreign);
  for (uint64_t left = section.size / sizeof(uint64_t); left > 0; --left)
    ids.push_back(reader.Read<uint64_t>());
  return ids;
}

absl::Status ReadAttrs(Bytes file, const RawHeader& header, const std::string& name, FileHead& head) {
  if (header.attr_size < kAttrSizeVer0 + kIdSectionSize)
    return Unusable(name, StrCat("attr size ", header.attr_size, " at 16"));
  const uint64_t count = header.attrs.size / header.attr_size;
  if (count == 0) return Unusable(name, "it describes no event");
  for (uint64_t i = 0; i < count; ++i) {
    // No overflow: the entries before this one lay inside the file.
    const uint64_t offset = header.attrs.offset + i * header.attr_size;
    if (!RangeFits(offset, header.attr_size, file.size())) {
      if (i == 0) return Unusable(name, StrCat("the events' attrs at ", offset, " lie outside the file"));
      head.damage.push_back({offset, StrCat("attr ", i, " lies outside the file"), header.attr_size});
      break;
    }
    FieldReader reader(file.subspan(offset, header.attr_size), head.foreign);
    FileHead::Attr attr;
    const Bytes stored = reader.ReadBytes(header.attr_size - kIdSectionSize);
    attr.attr.assign(stored.begin(), stored.end());
    if (head.foreign) SwapAttr(attr.attr);
    Section ids;
    ids.offset = reader.Read<uint64_t>();
    ids.size = reader.Read<uint64_t>();
    attr.ids = ReadIds(file, head.foreign, ids, head);
    head.attrs.push_back(std::move(attr));
  }
  return absl::OkStatus();
}

// Where our block begins, if there is one: behind the attrs.
std::optional<uint64_t> FindOwnBlock(Bytes file, const RawHeader& header) {
  const std::optional<uint64_t> attrs_end = CheckedAdd(header.attrs.offset, header.attrs.size);
  const std::optional<uint64_t> start = attrs_end ? CheckedAlign(*attrs_end, 8) : std::nullopt;
  if (!start || !RangeFits(*start, sizeof(kOwnMagic) + 8, file.size())) return std::nullopt;
  if (std::memcmp(file.data() + *start, kOwnMagic, sizeof(kOwnMagic)) != 0) return std::nullopt;
  return start;
}

void ReadOwnBlock(Bytes file, uint64_t start, FileHead& head) {
  FieldReader table(file.subspan(start + sizeof(kOwnMagic)), head.foreign);
  const uint32_t count = table.Read<uint32_t>();
  table.Skip(4);
  if (count > table.remaining() / 16) {
    head.damage.push_back({start, "our block before the data ends early", 0});
    return;
  }
  uint64_t payload = start + sizeof(kOwnMagic) + 8 + uint64_t{count} * 16;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t feature = table.Read<uint32_t>();
    table.Skip(4);
    const uint64_t size = table.Read<uint64_t>();
    const std::optional<uint64_t> padded = CheckedAlign(size, 8);
    if (!padded || !RangeFits(payload, size, file.size())) {
      head.damage.push_back({payload, StrCat("our section ", feature, " lies outside the file"), size});
      return;
    }
    head.features[feature] = file.subspan(payload, size);
    payload += *padded;
  }
}

void ReadFeatureTable(Bytes file, const RawHeader& header, FileHead& head) {
  const std::optional<uint64_t> start = CheckedAdd(header.data.offset, header.data.size);
  if (!start || !RangeFits(*start, header.table_size(), file.size())) {
    head.damage.push_back({file.size(), "the file ends before the feature table", 0});
    return;
  }
  FieldReader table(file.subspan(*start, header.table_size()), head.foreign);
  for (unsigned bit = 0; bit < 256; ++bit) {
    if ((header.features[bit / 64] >> (bit % 64) & 1) == 0) continue;
    Section section;
    section.offset = table.Read<uint64_t>();
    section.size = table.Read<uint64_t>();
    if (RangeFits(section.offset, section.size, file.size())) {
      head.features[bit] = file.subspan(section.offset, section.size);
    } else {
      head.damage.push_back(
          {section.offset, StrCat("feature ", bit, " lies outside the file"), section.size});
    }
  }
}

// Whether the table names sections inside the file only. Records in its place never do: the size in a
// record's header makes the offset larger than any file.
bool HasSoundFeatureTable(Bytes file, const RawHeader& header, bool foreign) {
  const std::optional<uint64_t> start = CheckedAdd(header.data.offset, header.data.size);
  if (!start || !RangeFits(*start, header.table_size(), file.size())) return false;
  FieldReader table(file.subspan(*start, header.table_size()), foreign);
  while (table.remaining() != 0) {
    const uint64_t offset = table.Read<uint64_t>(), size = table.Read<uint64_t>();
    if (!RangeFits(offset, size, file.size())) return false;
  }
  return true;
}

// Whether the recorder died. Ours sets no feature until it ends; perf announces its features at the start,
// with a data.size of 0 and no table.
bool IsKilled(Bytes file, const RawHeader& header, bool own, bool foreign) {
  if (!header.no_feature_set()) return header.data.size == 0 && !HasSoundFeatureTable(file, header, foreign);
  // Headers of 72 bytes have no feature to set.
  const bool records_follow =
      header.has_features() && (own || header.data.size < file.size() - header.data.offset);
  return header.data.size == 0 || records_follow;
}

// The data section, cut to the file; and whether the recorder ever came to its end.
void ReadDataSection(Bytes file, const RawHeader& header, bool own, FileHead& head) {
  const uint64_t file_size = file.size();
  head.data = header.data;
  if (head.data.offset > file_size) {
    head.damage.push_back({file_size, "the file ends before the records", 0});
    head.data = {file_size, 0};
    return;
  }
  const uint64_t rest = file_size - head.data.offset;
  head.killed = IsKilled(file, header, own, head.foreign);
  if (head.killed) {
    head.data.size = rest;
  } else if (header.data.size > rest) {
    head.damage.push_back(
        {file_size, StrCat("the file is cut: ", header.data.size - rest, " bytes of records are missing"),
         0});
    head.data.size = rest;
  }
}

}  // namespace

absl::StatusOr<FileHead> ReadFileHead(std::span<const std::byte> file, const std::string& name) {
  FileHead head;
  KSAMP_ASSIGN_OR_RETURN(head.foreign, IsForeign(file, name));
  KSAMP_ASSIGN_OR_RETURN(RawHeader header, ReadHeader(file, head.foreign, name));
  if (header.size == sizeof(PipeHeader)) {
    head.piped = true;
    head.data = {sizeof(PipeHeader), file.size() - sizeof(PipeHeader)};
    return head;
  }
  KSAMP_RETURN_IF_ERROR(ReadAttrs(file, header, name, head));
  const std::optional<uint64_t> own = FindOwnBlock(file, header);
  ReadDataSection(file, header, own.has_value(), head);
  if (own) ReadOwnBlock(file, *own, head);
  if (!head.killed && !header.no_feature_set()) ReadFeatureTable(file, header, head);
  return head;
}

}  // namespace ksamp::perfdata
