// SPDX-License-Identifier: Apache-2.0
#include "lib/event/sample_layout.h"

#include <linux/perf_event.h>

#include <algorithm>

#include "lib/base/str_cat.h"
#include "lib/event/perf_constants.h"

namespace ksamp {
namespace {

// The meant part of the attr, the rest zero.
absl::StatusOr<perf_event_attr> MeantPart(std::span<const std::byte> bytes) {
  if (bytes.size() < kAttrSizeVer0)
    return absl::InvalidArgumentError(
        StrCat("event attribute: ", bytes.size(), " bytes, the oldest kind has ", kAttrSizeVer0));
  uint32_t size;
  std::memcpy(&size, bytes.data() + offsetof(perf_event_attr, size), sizeof(size));
  if (size == 0) size = kAttrSizeVer0;
  if (size < kAttrSizeVer0)
    return absl::InvalidArgumentError(
        StrCat("event attribute: says it has ", size, " bytes, the oldest kind has ", kAttrSizeVer0));
  perf_event_attr attr{};
  std::memcpy(&attr, bytes.data(), std::min({size_t{size}, bytes.size(), sizeof(attr)}));
  return attr;
}

}  // namespace

absl::StatusOr<SampleLayout> SampleLayout::FromAttr(std::span<const std::byte> bytes) {
  absl::StatusOr<perf_event_attr> attr = MeantPart(bytes);
  if (!attr.ok()) return attr.status();

  SampleLayout layout;
  layout.sample_type_ = attr->sample_type;
  layout.read_format_ = attr->read_format;
  layout.branch_sample_type_ = attr->branch_sample_type;
  layout.sample_regs_user_ = attr->sample_regs_user;
  layout.sample_regs_intr_ = attr->sample_regs_intr;
  layout.sample_id_all_ = attr->sample_id_all;
  layout.PlaceFixedFields();
  if (layout.sample_id_all_) layout.PlaceTrailer();
  return layout;
}

void SampleLayout::PlaceFixedFields() {
  const struct {
    uint64_t bit;
    uint16_t* at;
  } kInOrder[] = {
      {PERF_SAMPLE_IDENTIFIER, &identifier_at_},
      {PERF_SAMPLE_IP, &ip_at_},
      {PERF_SAMPLE_TID, &pid_at_},
      {PERF_SAMPLE_TIME, &time_at_},
      {PERF_SAMPLE_ADDR, &addr_at_},
      {PERF_SAMPLE_ID, &plain_id_at_},
      {PERF_SAMPLE_STREAM_ID, &stream_id_at_},
      {PERF_SAMPLE_CPU, &cpu_at_},
      {PERF_SAMPLE_PERIOD, &period_at_},
  };
  fixed_size_ = kRecordHeaderSize;
  for (const auto& field : kInOrder) {
    if ((sample_type_ & field.bit) == 0) continue;
    *field.at = static_cast<uint16_t>(fixed_size_);
    fixed_size_ += 8;
  }
  id_at_ = identifier_at_ != kAbsent ? identifier_at_ : plain_id_at_;
}

void SampleLayout::PlaceTrailer() {
  constexpr uint64_t kBackwards[] = {PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_CPU,  PERF_SAMPLE_STREAM_ID,
                                     PERF_SAMPLE_ID,         PERF_SAMPLE_TIME, PERF_SAMPLE_TID};
  for (const uint64_t bit : kBackwards) {
    if ((sample_type_ & bit) == 0) continue;
    trailer_size_ += 8;
    const bool is_id = bit == PERF_SAMPLE_IDENTIFIER || bit == PERF_SAMPLE_ID;
    if (is_id && id_from_end_ == 0) id_from_end_ = static_cast<uint16_t>(trailer_size_);
  }
}

}  // namespace ksamp
