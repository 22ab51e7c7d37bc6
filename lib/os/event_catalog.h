// SPDX-License-Identifier: Apache-2.0
// The EventCatalog of this machine: PMUs from sysfs, tracepoints from tracefs.
//
//   std::unique_ptr<EventCatalog> catalog = SysfsEventCatalog("/sys");
//   ParseEvents("cpu/event=0x3c/,sched:sched_switch", *catalog);
//
// PMUs are read once, when the catalog is made; tracepoints when they are asked for. What cannot be read is
// not there. Const use from several threads is fine.
#ifndef KSAMP_LIB_OS_EVENT_CATALOG_H_
#define KSAMP_LIB_OS_EVENT_CATALOG_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ksamp/event_spec.h"

namespace ksamp {

std::unique_ptr<EventCatalog> SysfsEventCatalog(const std::string& sys_root);

// "config1:0-7,32-35", the content of a file in a PMU's format folder. Nothing: not of this form.
std::optional<PmuTerm> ParsePmuFormat(std::string_view name, std::string_view text);

}  // namespace ksamp

#endif  // KSAMP_LIB_OS_EVENT_CATALOG_H_
