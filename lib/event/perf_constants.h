// SPDX-License-Identifier: Apache-2.0
// Numbers of the perf ABI that the distribution's linux/perf_event.h may lack, and those perf's tools gave
// out for records the kernel never writes.
//
// The oldest header ksamp builds with is Linux 6.1's; recordings come from newer kernels too.
#ifndef KSAMP_LIB_EVENT_PERF_CONSTANTS_H_
#define KSAMP_LIB_EVENT_PERF_CONSTANTS_H_

#include <cstddef>
#include <cstdint>

namespace ksamp {

// Kernel records newer than 6.1.
inline constexpr uint32_t kRecordCallchainDeferred = 22;

// Records of perf's tools (tools/lib/perf/include/perf/event.h, enum perf_user_event_type).
inline constexpr uint32_t kFirstToolRecord = 64;
inline constexpr uint32_t kRecordHeaderAttr = 64;
inline constexpr uint32_t kRecordHeaderTracingData = 66;
inline constexpr uint32_t kRecordHeaderBuildId = 67;
inline constexpr uint32_t kRecordFinishedRound = 68;
inline constexpr uint32_t kRecordIdIndex = 69;
inline constexpr uint32_t kRecordAuxtraceInfo = 70;
inline constexpr uint32_t kRecordAuxtrace = 71;
inline constexpr uint32_t kRecordAuxtraceError = 72;
inline constexpr uint32_t kRecordThreadMap = 73;
inline constexpr uint32_t kRecordCpuMap = 74;
inline constexpr uint32_t kRecordStatConfig = 75;
inline constexpr uint32_t kRecordStat = 76;
inline constexpr uint32_t kRecordStatRound = 77;
inline constexpr uint32_t kRecordEventUpdate = 78;
inline constexpr uint32_t kRecordTimeConv = 79;
inline constexpr uint32_t kRecordHeaderFeature = 80;
inline constexpr uint32_t kRecordCompressed = 81;
inline constexpr uint32_t kRecordFinishedInit = 82;
inline constexpr uint32_t kRecordCompressed2 = 83;

// PERF_RECORD_MISC bit of LOST_SAMPLES: dropped by a BPF filter, not by a full ring.
inline constexpr uint16_t kMiscLostByFilter = 1 << 15;

// PERF_SAMPLE_BRANCH_COUNTERS (6.8): a u64 of counters per branch behind the entries.
inline constexpr uint64_t kSampleBranchCounters = 1 << 19;

// perf_event_attr: size without tail, size with config3, and where config3 is.
inline constexpr size_t kAttrSizeVer0 = 64;
inline constexpr size_t kAttrSizeVer8 = 136;
inline constexpr size_t kAttrConfig3At = 128;

inline constexpr size_t kRecordHeaderSize = 8;
inline constexpr size_t kMaxBuildIdSize = 20;
inline constexpr size_t kBpfTagSize = 8;

}  // namespace ksamp

#endif  // KSAMP_LIB_EVENT_PERF_CONSTANTS_H_
