// SPDX-License-Identifier: Apache-2.0
// What a Recording holds. Made by RecordingBuilder, read by Recording, never changed in between.
#ifndef KSAMP_LIB_PERFDATA_RECORDING_STATE_H_
#define KSAMP_LIB_PERFDATA_RECORDING_STATE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ksamp/perf_data.h"
#include "lib/base/mapped_region.h"
#include "lib/perfdata/event_table.h"

namespace ksamp {

struct Recording::State {
  std::string path;
  uint64_t file_size = 0;
  std::vector<MappedRegion> mappings;  // the files, and the scratch file of decoded input; no other memory
  std::vector<std::vector<std::byte>> owned;  // payloads that arrived as records
  perfdata::EventTable events;
  std::map<unsigned, std::span<const std::byte>> features;
  RecordingFacts facts;
  KsampSections ksamp;
  RecordCounts counts;
  std::vector<Damage> damage;
  bool killed = false;
  std::vector<Chunk> chunks;
  std::vector<RawRecord> side_records;

  // Small inputs stay: to bring their pages again would cost more time than their memory is worth.
  static constexpr size_t kKeptBytes = size_t{32} << 20;

  void Release(std::span<const std::byte> bytes) const {
    for (const MappedRegion& region : mappings) {
      const std::byte* const begin = region.bytes().data();
      if (region.size() <= kKeptBytes || bytes.data() < begin || bytes.data() >= begin + region.size())
        continue;
      region.ReleasePages(bytes);
    }
  }
};

}  // namespace ksamp

#endif  // KSAMP_LIB_PERFDATA_RECORDING_STATE_H_
