// SPDX-License-Identifier: Apache-2.0
// perf.data on disk: structs, feature bits and magics. Layout drawings: doc/perf-data-format.md.
// Source: tools/perf/Documentation/perf.data-file-format.txt and tools/perf/util/header.[ch].
#ifndef KSAMP_LIB_PERFDATA_FORMAT_H_
#define KSAMP_LIB_PERFDATA_FORMAT_H_

#include <cstdint>

namespace ksamp::perfdata {

inline constexpr char kMagic[8] = {'P', 'E', 'R', 'F', 'I', 'L', 'E', '2'};

struct Section {
  uint64_t offset = 0, size = 0;
};

struct FileHeader {
  char magic[8];
  uint64_t size = 0;       // 104; 72: no feature bitmap; 16: a pipe
  uint64_t attr_size = 0;  // sizeof(attr) + 16
  Section attrs, data, event_types;
  uint64_t features[4] = {};
};
static_assert(sizeof(FileHeader) == 104);

struct PipeHeader {
  char magic[8];
  uint64_t size = 16;
};

enum Feature : unsigned {
  kTracingData = 1,
  kBuildId = 2,
  kHostname = 3,
  kOsRelease = 4,
  kVersion = 5,
  kArch = 6,
  kNrCpus = 7,
  kCpuDesc = 8,
  kCpuId = 9,
  kTotalMem = 10,
  kCmdline = 11,
  kEventDesc = 12,
  kCpuTopology = 13,
  kNumaTopology = 14,
  kBranchStack = 15,
  kPmuMappings = 16,
  kGroupDesc = 17,
  kSampleTime = 21,
  kClockId = 23,
  kDirFormat = 24,
  kCompressed = 27,
  kClockData = 29,
  kSimpleperfMetaInfo = 129,
  // Ours. Known at the start (payload before the data section, found by kOwnMagic): kernel symbols, modules,
  // sections, meta. Written at close: counters and the final meta.
  kKsampMeta = 200,            // text, "key=value\n"; at start, and again (complete) at close
  kKsampKernelSymbols = 201,   // one zstd frame of /proc/kallsyms
  kKsampModules = 202,         // one zstd frame of /proc/modules
  kKsampModuleSections = 203,  // one zstd frame of "module section 0xaddress\n"
  kKsampCounters = 204,        // text, "name=number\n"
  kKsampGeneratedCode = 205,   // perf maps and jitdumps of recorded processes, at close
};

// Our block before the data section: kOwnMagic, u32 count, u32 zero, count × {u32 feature, u32 zero, u64
// size}, then the payloads in that order, each padded to 8. Found where the attrs section ends (8-aligned),
// also when a killed recorder never wrote the feature table.
inline constexpr char kOwnMagic[8] = {'K', 'S', 'A', 'M', 'P', 'P', 'R', 'E'};

enum UserRecord : uint32_t {
  kHeaderAttr = 64,
  kHeaderEventType = 65,
  kHeaderTracingData = 66,
  kHeaderBuildId = 67,
  kFinishedRound = 68,
  kIdIndex = 69,
  kAuxtraceInfo = 70,
  kAuxtrace = 71,
  kAuxtraceError = 72,
  kThreadMap = 73,
  kCpuMap = 74,
  kStatConfig = 75,
  kStat = 76,
  kStatRound = 77,
  kEventUpdate = 78,
  kTimeConv = 79,
  kHeaderFeature = 80,
  kCompressedRecord = 81,
  kFinishedInit = 82,
  kCompressed2 = 83,
};

}  // namespace ksamp::perfdata

#endif  // KSAMP_LIB_PERFDATA_FORMAT_H_
