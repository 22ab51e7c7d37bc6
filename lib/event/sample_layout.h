// SPDX-License-Identifier: Apache-2.0
// SampleLayout: where the fields of one event's records lie, computed once from its perf_event_attr.
//
// A SAMPLE starts with fields of fixed size, so their offsets depend on sample_type alone:
//
//   header(8) identifier? ip? pid,tid? time? addr? id? stream_id? cpu,res? period? | variable part: read
//   callchain raw …
//
// The hot loop of a report needs only those: ReadFixed() is a bounds check and a few loads. Records that are
// no sample end in a trailer of fixed size (sample_id_all), read from the end backwards:
//
//   … pid,tid? time? id? stream_id? cpu,res? identifier?
//
// Source: kernel/events/core.c, perf_output_sample() and __perf_event__output_id_sample(). The UAPI comment's
// order of the last fields (aux, cgroup, page sizes) is wrong; the code's order counts.
#ifndef KSAMP_LIB_EVENT_SAMPLE_LAYOUT_H_
#define KSAMP_LIB_EVENT_SAMPLE_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "absl/status/statusor.h"

namespace ksamp {

// The leading fields of a sample; a field that the layout lacks is zero.
struct FixedSampleFields {
  uint64_t identifier = 0, ip = 0, time = 0, addr = 0, id = 0, stream_id = 0, period = 0;
  uint32_t pid = 0, tid = 0, cpu = 0;
};

class SampleLayout {
 public:
  SampleLayout() = default;
  // `attr` is a perf_event_attr as stored in a file or given to the kernel: attr.size says how much of it is
  // meant (zero means VER0), missing tail is zero. InvalidArgument: shorter than VER0 (64 bytes).
  static absl::StatusOr<SampleLayout> FromAttr(std::span<const std::byte> attr);

  uint64_t sample_type() const { return sample_type_; }
  uint64_t read_format() const { return read_format_; }
  uint64_t branch_sample_type() const { return branch_sample_type_; }
  uint64_t sample_regs_user() const { return sample_regs_user_; }
  uint64_t sample_regs_intr() const { return sample_regs_intr_; }
  bool sample_id_all() const { return sample_id_all_; }
  bool has_time() const { return time_at_ != kAbsent; }

  // Bytes of a sample's header plus fixed fields: a shorter SAMPLE is malformed.
  size_t fixed_size() const { return fixed_size_; }
  // Bytes of the trailer; 0 without sample_id_all.
  size_t trailer_size() const { return trailer_size_; }
  // Offset of the event's id (IDENTIFIER or ID) from a sample's start; kAbsent where there is none. From the
  // end of other records: id_from_end() (0: none).
  static constexpr uint16_t kAbsent = 0xffff;
  uint16_t id_at() const { return id_at_; }
  uint16_t id_from_end() const { return id_from_end_; }

  // Requires: record.size() >= fixed_size().
  FixedSampleFields ReadFixed(const std::byte* record) const {
    FixedSampleFields f;
    Load(record, identifier_at_, &f.identifier);
    Load(record, ip_at_, &f.ip);
    Load(record, pid_at_, &f.pid);
    if (pid_at_ != kAbsent) std::memcpy(&f.tid, record + pid_at_ + 4, 4);
    Load(record, time_at_, &f.time);
    Load(record, addr_at_, &f.addr);
    Load(record, plain_id_at_, &f.id);
    Load(record, stream_id_at_, &f.stream_id);
    Load(record, cpu_at_, &f.cpu);
    Load(record, period_at_, &f.period);
    return f;
  }

 private:
  void PlaceFixedFields();
  void PlaceTrailer();

  template <typename T>
  static void Load(const std::byte* record, uint16_t at, T* out) {
    if (at != kAbsent) std::memcpy(out, record + at, sizeof(T));
  }

  uint64_t sample_type_ = 0, read_format_ = 0, branch_sample_type_ = 0, sample_regs_user_ = 0,
           sample_regs_intr_ = 0;
  bool sample_id_all_ = false;
  size_t fixed_size_ = 8, trailer_size_ = 0;
  uint16_t identifier_at_ = kAbsent, ip_at_ = kAbsent, pid_at_ = kAbsent, time_at_ = kAbsent,
           addr_at_ = kAbsent, plain_id_at_ = kAbsent, stream_id_at_ = kAbsent, cpu_at_ = kAbsent,
           period_at_ = kAbsent;
  uint16_t id_at_ = kAbsent, id_from_end_ = 0;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_EVENT_SAMPLE_LAYOUT_H_
