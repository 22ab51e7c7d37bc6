// SPDX-License-Identifier: Apache-2.0
// Every event name there is here, for `ksamp list` and for completion.
#include <linux/perf_event.h>

#include <optional>
#include <utility>

#include "ksamp/event_spec.h"
#include "lib/base/str_cat.h"
#include "lib/event/event_table.h"

namespace ksamp {
namespace {

void ListGeneric(uint32_t type, const char* kind, std::vector<ListedEvent>& events) {
  for (const GenericEvent& event : GenericEvents()) {
    if (event.type != type) continue;
    std::string description(event.description);
    if (!event.alias.empty()) StrAppend(&description, " (also ", event.alias, ")");
    events.push_back({std::string(event.name), kind, std::move(description)});
  }
}

void ListPmuEvents(const Pmu& pmu, std::vector<ListedEvent>& events) {
  for (const Pmu::Alias& alias : pmu.aliases) {
    std::string description = alias.description.empty() ? alias.terms : alias.description;
    if (!alias.unit.empty()) StrAppend(&description, " [", alias.unit, "]");
    events.push_back({StrCat(pmu.name, "/", alias.name, "/"), "pmu", std::move(description)});
  }
}

}  // namespace

std::vector<ListedEvent> ListEvents(const EventCatalog& catalog) {
  std::vector<ListedEvent> events;
  ListGeneric(PERF_TYPE_HARDWARE, "hardware", events);
  ListGeneric(PERF_TYPE_SOFTWARE, "software", events);
  for (std::string& name : CacheEventNames()) {
    const std::optional<uint64_t> config = ParseCacheEvent(name);
    events.push_back({std::move(name), "cache", config ? DescribeCacheEvent(*config) : ""});
  }
  for (const Pmu& pmu : catalog.pmus()) ListPmuEvents(pmu, events);
  for (std::string& name : catalog.Tracepoints()) events.push_back({std::move(name), "tracepoint", ""});
  for (const OprofileEvent& event : OprofileEvents())
    events.push_back({std::string(event.name), "oprofile", StrCat("the same as ", event.generic)});
  return events;
}

}  // namespace ksamp
