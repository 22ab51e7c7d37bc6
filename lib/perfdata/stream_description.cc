// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/stream_description.h"

#include <linux/perf_event.h>

#include <utility>

#include "lib/base/str_cat.h"
#include "lib/event/record_decoder.h"
#include "lib/perfdata/features.h"
#include "lib/perfdata/field_reader.h"
#include "lib/perfdata/format.h"

namespace ksamp::perfdata {
namespace {

constexpr size_t kHeaderSize = sizeof(perf_event_header);
constexpr uint32_t kAttrSizeVer0 = 64;
constexpr uint64_t kUpdateName = 2;  // PERF_EVENT_UPDATE__NAME
constexpr uint64_t kFeatureBits = 256;

absl::Status Damaged(const RawRecord& record, std::string_view what) {
  return absl::DataLossError(StrCat(what, " at ", record.offset));
}

}  // namespace

bool StreamDescription::Describes(uint32_t type) {
  return type == kHeaderAttr || type == kHeaderFeature || type == kHeaderBuildId || type == kEventUpdate ||
         type == kHeaderTracingData;
}

absl::Status StreamDescription::Take(const RawRecord& record, std::span<const std::byte> trailing) {
  if (record.type == kEventUpdate) return TakeUpdate(record);
  if (!piped_) return absl::OkStatus();
  if (record.type == kHeaderAttr) return TakeAttr(record);
  if (record.type == kHeaderFeature) return TakeFeature(record);
  if (record.type == kHeaderTracingData) features[kTracingData].assign(trailing.begin(), trailing.end());
  if (record.type == kHeaderBuildId) {
    for (BuildIdEntry& entry : DecodeBuildIds(record.bytes, foreign_)) build_ids.push_back(std::move(entry));
  }
  return absl::OkStatus();
}

absl::Status StreamDescription::TakeAttr(const RawRecord& record) {
  FieldReader reader(record.bytes, foreign_);
  reader.Skip(kHeaderSize + 4);
  uint32_t attr_size = reader.Read<uint32_t>();
  if (attr_size == 0) attr_size = kAttrSizeVer0;
  if (!reader.ok() || attr_size > record.bytes.size() - kHeaderSize) return Damaged(record, "HEADER_ATTR");
  const std::span<const std::byte> stored = record.bytes.subspan(kHeaderSize, attr_size);
  std::vector<std::byte> attr(stored.begin(), stored.end());
  if (foreign_) SwapAttr(attr);
  std::vector<uint64_t> ids;
  FieldReader id_reader(record.bytes.subspan(kHeaderSize + attr_size), foreign_);
  while (id_reader.remaining() >= sizeof(uint64_t)) ids.push_back(id_reader.Read<uint64_t>());
  if (!events.Add(attr, std::move(ids)).ok()) return Damaged(record, "attr in HEADER_ATTR");
  return absl::OkStatus();
}

absl::Status StreamDescription::TakeFeature(const RawRecord& record) {
  FieldReader reader(record.bytes, foreign_);
  reader.Skip(kHeaderSize);
  const uint64_t feature = reader.Read<uint64_t>();
  if (!reader.ok() || feature >= kFeatureBits) return Damaged(record, "HEADER_FEATURE");
  const std::span<const std::byte> payload = record.bytes.subspan(reader.position());
  features[static_cast<unsigned>(feature)].assign(payload.begin(), payload.end());
  return absl::OkStatus();
}

absl::Status StreamDescription::TakeUpdate(const RawRecord& record) {
  FieldReader reader(record.bytes, foreign_);
  reader.Skip(kHeaderSize);
  const uint64_t type = reader.Read<uint64_t>(), id = reader.Read<uint64_t>();
  if (!reader.ok()) return Damaged(record, "EVENT_UPDATE");
  if (type != kUpdateName) return absl::OkStatus();
  const std::string_view name = AsText(record.bytes.subspan(reader.position()));
  names[id] = std::string(name.substr(0, name.find('\0')));
  return absl::OkStatus();
}

}  // namespace ksamp::perfdata
