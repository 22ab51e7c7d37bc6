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
  std::vector<MappedRegion> mappings;         // the files, and the scratch file of decoded input
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
};

}  // namespace ksamp

#endif  // KSAMP_LIB_PERFDATA_RECORDING_STATE_H_
