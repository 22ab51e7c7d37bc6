// SPDX-License-Identifier: Apache-2.0
// An EventCatalog of what the test says: PlainMachine() has one kind of core, HybridMachine() two.
#ifndef KSAMP_TEST_SUPPORT_TABLE_CATALOG_H_
#define KSAMP_TEST_SUPPORT_TABLE_CATALOG_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ksamp/event_spec.h"

namespace ksamp::testing {

class TableCatalog : public EventCatalog {
 public:
  const std::vector<Pmu>& pmus() const override { return pmu_table; }
  absl::StatusOr<uint64_t> TracepointId(std::string_view subsystem, std::string_view name) const override {
    const std::string full = std::string(subsystem) + ":" + std::string(name);
    const auto found = tracepoints.find(full);
    if (found != tracepoints.end()) return found->second;
    return absl::NotFoundError("tracepoint " + full + ": the kernel has no such tracepoint");
  }
  std::vector<std::string> Tracepoints() const override {
    std::vector<std::string> names;
    for (const auto& [name, id] : tracepoints) names.push_back(name);
    return names;
  }

  std::vector<Pmu> pmu_table;
  std::map<std::string, uint64_t> tracepoints = {
      {"sched:sched_switch", 314}, {"sched:sched_wakeup", 318}, {"net:netif_rx", 1500}};
};

inline Pmu CorePmu(std::string name, uint32_t type, std::string cpus) {
  Pmu pmu;
  pmu.name = std::move(name);
  pmu.type = type;
  pmu.cpus = std::move(cpus);
  pmu.core = true;
  pmu.terms = {{"event", 0, {{0, 7}, {32, 35}}},
               {"umask", 0, {{8, 15}}},
               {"inv", 0, {{23, 23}}},
               {"ldlat", 1, {{0, 15}}},
               {"offcore_rsp", 1, {{0, 63}}}};
  pmu.aliases = {{"mem-loads", "event=0xcd,umask=0x1,ldlat=3", "", "", 1},
                 {"needs-value", "event=0x1,umask=?", "", "", 1}};
  return pmu;
}

// cpu (4), two memory controllers without formats of a CPU, and an energy meter.
inline TableCatalog PlainMachine() {
  TableCatalog machine;
  machine.pmu_table = {CorePmu("cpu", 4, "")};
  for (const uint32_t i : {0u, 1u}) {
    Pmu imc;
    imc.name = "uncore_imc_" + std::to_string(i);
    imc.type = 20 + i;
    imc.cpus = "0,8";
    imc.terms = {{"event", 0, {{0, 7}}}};
    imc.aliases = {{"data_reads", "event=0x1", "Bytes read", "MiB", 6.1e-5}};
    machine.pmu_table.push_back(imc);
  }
  return machine;
}

inline TableCatalog HybridMachine() {
  TableCatalog machine;
  machine.pmu_table = {CorePmu("cpu_core", 4, "0-15"), CorePmu("cpu_atom", 8, "16-23")};
  return machine;
}

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_SUPPORT_TABLE_CATALOG_H_
