// SPDX-License-Identifier: Apache-2.0
// The payloads of perf.data's feature sections: one Encode and one Decode for each.
//
//   FeatureMap features;
//   features[perfdata::kHostname] = perfdata::EncodeString("box7");
//   features[perfdata::kKsampCounters] = perfdata::EncodeCounters({{"lost.kernel", 3}});
//
// Encoders write host byte order; decoders take the order of the file. A payload that promises more than it
// holds is DataLoss. Text of ours ("key=value\n") escapes backslash and newline, so any value survives.
#ifndef KSAMP_LIB_PERFDATA_FEATURES_H_
#define KSAMP_LIB_PERFDATA_FEATURES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ksamp/perf_data.h"

namespace ksamp::perfdata {

using Payload = std::vector<std::byte>;
using PayloadView = std::span<const std::byte>;

// HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID.
Payload EncodeString(std::string_view text);
absl::StatusOr<std::string> DecodeString(PayloadView payload, bool foreign);

struct CpuCounts {
  uint32_t available = 0, online = 0;
};
Payload EncodeCpuCounts(const CpuCounts& counts);  // NRCPUS
absl::StatusOr<CpuCounts> DecodeCpuCounts(PayloadView payload, bool foreign);

Payload EncodeTotalMemory(uint64_t kilobytes);  // TOTAL_MEM
absl::StatusOr<uint64_t> DecodeTotalMemory(PayloadView payload, bool foreign);

Payload EncodeCommandLine(const std::vector<std::string>& words);  // CMDLINE
absl::StatusOr<std::vector<std::string>> DecodeCommandLine(PayloadView payload, bool foreign);

struct EventDesc {
  std::vector<std::byte> attr;  // host byte order
  std::string name;
  std::vector<uint64_t> ids;
};
// Requires: all attrs have the same size.
Payload EncodeEventDesc(std::span<const EventDesc> events);
absl::StatusOr<std::vector<EventDesc>> DecodeEventDesc(PayloadView payload, bool foreign);

Payload EncodeBuildIds(std::span<const BuildIdEntry> entries);
// The entries before the first damaged one; perf itself writes lists without an end mark.
std::vector<BuildIdEntry> DecodeBuildIds(PayloadView payload, bool foreign);

struct SampleTimes {
  uint64_t first = 0, last = 0;
};
Payload EncodeSampleTimes(const SampleTimes& times);  // SAMPLE_TIME
absl::StatusOr<SampleTimes> DecodeSampleTimes(PayloadView payload, bool foreign);

Payload EncodeClockId(uint64_t resolution_ns);  // CLOCKID

struct ClockData {
  uint32_t clockid = 0;
  uint64_t wall_ns = 0, clock_ns = 0;  // one moment on both clocks
};
Payload EncodeClockData(const ClockData& clock);
absl::StatusOr<ClockData> DecodeClockData(PayloadView payload, bool foreign);

struct CompressionFacts {
  uint32_t level = 0, ratio = 0, largest_piece = 0;  // of a record, inflated
};
Payload EncodeCompression(const CompressionFacts& facts);  // COMPRESSED
absl::StatusOr<CompressionFacts> DecodeCompression(PayloadView payload, bool foreign);

Payload EncodeMeta(const std::map<std::string, std::string>& meta);
std::map<std::string, std::string> DecodeMeta(PayloadView payload);
Payload EncodeCounters(const std::map<std::string, uint64_t>& counters);
// Lines whose value is no number are left out.
std::map<std::string, uint64_t> DecodeCounters(PayloadView payload);

// Files that processes wrote about code they generated, as the recording keeps them.
struct PackedCodeFile {
  CodeFileKind kind = CodeFileKind::kPerfMap;
  uint32_t pid = 0;
  std::string path;              // as the process called it
  std::vector<std::byte> frame;  // one zstd frame of its bytes
};
Payload EncodeCodeFiles(std::span<const PackedCodeFile> files);
// Those before the first damaged one; kinds we do not know are left out.
std::vector<PackedCodeFile> DecodeCodeFiles(PayloadView payload, bool foreign);

}  // namespace ksamp::perfdata

#endif  // KSAMP_LIB_PERFDATA_FEATURES_H_
