// SPDX-License-Identifier: Apache-2.0
// RandomRecords: attrs and records of every kind, from a seed; the same seed gives the same ones everywhere.
//
//   RandomRecords random(7);
//   perf_event_attr attr = random.Attr();
//   SampleLayout layout = *SampleLayout::FromAttr(std::as_bytes(std::span(&attr, 1)));
//   for (size_t kind = 0; kind < RandomRecords::kKinds; ++kind) Record record = random.Make(kind, layout);
//
// A record holds exactly the fields its layout has. Its arrays live as long as this object.
#ifndef KSAMP_TEST_SUPPORT_RANDOM_RECORDS_H_
#define KSAMP_TEST_SUPPORT_RANDOM_RECORDS_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "ksamp/record.h"
#include "lib/event/sample_layout.h"

namespace ksamp::testing {

class RandomRecords {
 public:
  explicit RandomRecords(uint64_t seed) : random_(seed) {}

  // Every alternative of RecordBody but UnknownRecord, in the variant's order.
  static constexpr size_t kKinds = std::variant_size_v<RecordBody> - 1;

  perf_event_attr Attr();
  Record Make(size_t kind, const SampleLayout& layout);

 private:
  uint64_t Number();  // small, large and extreme ones
  uint32_t Number32() { return static_cast<uint32_t>(Number()); }
  bool Flag() { return random_() % 2 == 0; }
  size_t Below(size_t limit) { return random_() % limit; }
  CpuMode Mode() { return static_cast<CpuMode>(Below(6)); }
  std::span<const std::byte> Bytes(size_t size);
  std::span<const uint64_t> Words(size_t count);
  std::string_view Text();
  ReadValues Read(uint64_t read_format);
  UserRegs Regs(uint64_t mask);
  std::span<const std::byte> BranchStack(uint64_t branch_sample_type);
  SampleId Id(const SampleLayout& layout);

  SampleRecord Sample(const SampleLayout& layout);
  void FillVariableFields(const SampleLayout& layout, SampleRecord& sample);
  MmapRecord Mmap();
  SwitchRecord Switch();
  RecordBody Body(size_t kind, const SampleLayout& layout);

  std::mt19937_64 random_;
  std::deque<std::vector<uint64_t>> words_;
  std::deque<std::string> texts_;
};

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_SUPPORT_RANDOM_RECORDS_H_
