// SPDX-License-Identifier: Apache-2.0
#include "lib/event/event_table.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <array>

#include "ksamp/event_spec.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

constexpr GenericEvent kGenericEvents[] = {
    {"cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
     "CPU cycles, halted ones excluded"},
    {"instructions", "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "Instructions retired"},
    {"cache-references", "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES,
     "Accesses to the last-level cache"},
    {"cache-misses", "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, "Misses of the last-level cache"},
    {"branches", "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
     "Branch instructions retired"},
    {"branch-misses", "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, "Mispredicted branches retired"},
    {"bus-cycles", "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, "Bus cycles, halted ones excluded"},
    {"stalled-cycles-frontend", "idle-cycles-frontend", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, "Cycles in which no instruction was issued"},
    {"stalled-cycles-backend", "idle-cycles-backend", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "Cycles in which no instruction was retired"},
    {"ref-cycles", "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES,
     "Cycles at the CPU's nominal frequency, halted ones excluded"},
    {"cpu-clock", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "CPU clock"},
    {"task-clock", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "Time the thread ran"},
    {"page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "Page faults"},
    {"context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, "Context switches"},
    {"cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS,
     "Moves of a thread to another CPU"},
    {"minor-faults", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN,
     "Page faults served without reading a disk"},
    {"major-faults", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ,
     "Page faults that had to read a disk"},
    {"alignment-faults", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS,
     "Unaligned accesses the kernel handled"},
    {"emulation-faults", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS,
     "Instructions the kernel emulated"},
    {"dummy", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, "Counts nothing; carries side records"},
    {"bpf-output", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT, "Records written by BPF programs"},
    {"cgroup-switches", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES,
     "Context switches between cgroups"},
};

constexpr OprofileEvent kOprofileEvents[] = {
    {"CPU_CLK_UNHALTED", "cycles", 0},
    {"CPU_CYCLES", "cycles", 0},
    {"INST_RETIRED", "instructions", 0},
    {"INST_RETIRED_ANY_P", "instructions", 0},
    {"RETIRED_INSTRUCTIONS", "instructions", 0},
    {"LLC_MISSES", "cache-misses", 0x41},
    {"LLC_REFS", "cache-references", 0x4f},
    {"BR_INST_RETIRED", "branches", 0},
    {"RETIRED_BRANCH_INSTRUCTIONS", "branches", 0},
    {"BR_MISS_PRED_RETIRED", "branch-misses", 0},
    {"RETIRED_MISPREDICTED_BRANCH_INSTRUCTIONS", "branch-misses", 0},
};

// Spellings, the usual one first.
using Spellings = std::array<std::string_view, 5>;

constexpr Spellings kCaches[PERF_COUNT_HW_CACHE_MAX] = {
    {"L1-dcache", "l1-d", "l1d", "L1-data"},
    {"L1-icache", "l1-i", "l1i", "L1-instruction"},
    {"LLC", "L2"},
    {"dTLB", "d-tlb", "Data-TLB"},
    {"iTLB", "i-tlb", "Instruction-TLB"},
    {"branch", "branches", "bpu", "btb", "bpc"},
    {"node"},
};
constexpr Spellings kOps[PERF_COUNT_HW_CACHE_OP_MAX] = {
    {"load", "loads", "read"},
    {"store", "stores", "write"},
    {"prefetch", "prefetches", "speculative-read", "speculative-load"},
};
constexpr Spellings kResults[PERF_COUNT_HW_CACHE_RESULT_MAX] = {
    {"refs", "Reference", "ops", "access"},
    {"misses", "miss"},
};
constexpr std::string_view kCacheNames[PERF_COUNT_HW_CACHE_MAX] = {
    "Level 1 data cache",        "Level 1 instruction cache", "Last-level cache",
    "Data address translations", "Code address translations", "Branch predictor",
    "Memory of this NUMA node",
};
// Which operations a cache has, as bits of perf_hw_cache_op_id.
constexpr unsigned kRead = 1, kWrite = 2, kPrefetch = 4;
constexpr unsigned kOpsOfCache[PERF_COUNT_HW_CACHE_MAX] = {kRead | kWrite | kPrefetch,
                                                           kRead | kPrefetch,
                                                           kRead | kWrite | kPrefetch,
                                                           kRead | kWrite | kPrefetch,
                                                           kRead,
                                                           kRead,
                                                           kRead | kWrite | kPrefetch};

constexpr uint64_t CacheConfig(size_t cache, size_t op, size_t result) {
  return cache | op << 8 | result << 16;
}

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

struct Prefix {
  size_t row, length;
};
// The row with the longest spelling that `text` starts with and that ends at a '-' or the end.
std::optional<Prefix> LongestPrefix(std::string_view text, std::span<const Spellings> rows) {
  std::optional<Prefix> best;
  for (size_t row = 0; row < rows.size(); ++row) {
    for (const std::string_view spelling : rows[row]) {
      const size_t length = spelling.size();
      if (length == 0 || !EqualsIgnoringCase(text.substr(0, length), spelling)) continue;
      if (text.size() != length && text[length] != '-') continue;
      if (!best || length > best->length) best = Prefix{row, length};
    }
  }
  return best;
}

// Takes one "-WORD" off `rest` into `row`; false where it is none of `rows` or there was one already.
bool TakeWord(std::string_view& rest, std::span<const Spellings> rows, std::optional<size_t>& row) {
  const std::optional<Prefix> word = LongestPrefix(rest.substr(1), rows);
  if (!word || row) return false;
  row = word->row;
  rest.remove_prefix(1 + word->length);
  return true;
}

}  // namespace

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

std::span<const GenericEvent> GenericEvents() {
  return kGenericEvents;
}

const GenericEvent* FindGenericEvent(std::string_view name) {
  for (const GenericEvent& event : kGenericEvents) {
    if (EqualsIgnoringCase(event.name, name)) return &event;
    if (!event.alias.empty() && EqualsIgnoringCase(event.alias, name)) return &event;
  }
  return nullptr;
}

const GenericEvent* FindGenericEvent(uint32_t type, uint64_t config) {
  for (const GenericEvent& event : kGenericEvents) {
    if (event.type == type && event.config == config) return &event;
  }
  return nullptr;
}

std::optional<uint64_t> ParseCacheEvent(std::string_view name) {
  const std::optional<Prefix> cache = LongestPrefix(name, kCaches);
  if (!cache) return std::nullopt;
  std::optional<size_t> op, result;
  for (std::string_view rest = name.substr(cache->length); !rest.empty();) {
    if (!TakeWord(rest, kOps, op) && !TakeWord(rest, kResults, result)) return std::nullopt;
  }
  if ((kOpsOfCache[cache->row] >> op.value_or(0) & 1) == 0) return std::nullopt;
  return CacheConfig(cache->row, op.value_or(0), result.value_or(0));
}

std::string CacheEventName(uint64_t config) {
  const uint64_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;
  if (config >> 24 != 0 || cache >= PERF_COUNT_HW_CACHE_MAX || op >= PERF_COUNT_HW_CACHE_OP_MAX ||
      result >= PERF_COUNT_HW_CACHE_RESULT_MAX || (kOpsOfCache[cache] >> op & 1) == 0)
    return "";
  if (result == PERF_COUNT_HW_CACHE_RESULT_ACCESS) return StrCat(kCaches[cache][0], "-", kOps[op][1]);
  return StrCat(kCaches[cache][0], "-", kOps[op][0], "-", kResults[result][0]);
}

std::string DescribeCacheEvent(uint64_t config) {
  const bool missed = (config >> 16 & 0xff) == PERF_COUNT_HW_CACHE_RESULT_MISS;
  return StrCat(kCacheNames[config & 0xff], ": ", kOps[config >> 8 & 0xff][1], missed ? " that missed" : "");
}

std::vector<std::string> CacheEventNames() {
  std::vector<std::string> names;
  for (size_t cache = 0; cache < PERF_COUNT_HW_CACHE_MAX; ++cache) {
    for (size_t op = 0; op < PERF_COUNT_HW_CACHE_OP_MAX; ++op) {
      for (size_t result = 0; result < PERF_COUNT_HW_CACHE_RESULT_MAX; ++result) {
        if (std::string name = CacheEventName(CacheConfig(cache, op, result)); !name.empty())
          names.push_back(std::move(name));
      }
    }
  }
  return names;
}

std::span<const OprofileEvent> OprofileEvents() {
  return kOprofileEvents;
}

const OprofileEvent* FindOprofileEvent(std::string_view name) {
  for (const OprofileEvent& event : kOprofileEvents) {
    if (event.name == name) return &event;
  }
  return nullptr;
}

std::string EventName(uint32_t type, uint64_t config) {
  // Hybrid machines: the PMU's type in the high half.
  if (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE) config &= 0xffffffff;
  if (const GenericEvent* event = FindGenericEvent(type, config)) return std::string(event->name);
  if (type == PERF_TYPE_HW_CACHE) {
    if (std::string name = CacheEventName(config); !name.empty()) return name;
  }
  if (type == PERF_TYPE_RAW) return StrCat("raw ", Hex(config));
  if (type == PERF_TYPE_TRACEPOINT) return StrCat("tracepoint ", config);
  return StrCat("event type ", type, " config ", Hex(config));
}

std::string_view DescribeEvent(std::string_view name) {
  if (const size_t slash = name.find('/'); slash != std::string_view::npos) {  // cpu_core/cycles/
    name.remove_prefix(slash + 1);
    name = name.substr(0, name.find('/'));
  }
  name = name.substr(0, name.find(':'));
  if (const OprofileEvent* event = FindOprofileEvent(name)) name = event->generic;
  const GenericEvent* event = FindGenericEvent(name);
  return event == nullptr ? std::string_view() : event->description;
}

}  // namespace ksamp
