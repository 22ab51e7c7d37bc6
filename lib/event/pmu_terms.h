// SPDX-License-Identifier: Apache-2.0
// The terms of a PMU's event, "event=0x3c,umask=1,period=1000", put where the PMU's format files say.
//
//   format/event   config:0-7,32-35      the value's low 8 bits go to bits 0-7 of config, the next 4 to 32-35
//   format/ldlat   config1:0-15
//
// A term without a value is an alias of the PMU's events folder, or a flag (value 1). Pure.
#ifndef KSAMP_LIB_EVENT_PMU_TERMS_H_
#define KSAMP_LIB_EVENT_PMU_TERMS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "ksamp/event_spec.h"

namespace ksamp {

// "0x3c", "60"; nothing where it is no number of 64 bits.
std::optional<uint64_t> ParseEventNumber(std::string_view text);

// Writes `terms` into `spec`, which has the PMU's type already; later terms win. `hybrid`: generic events
// carry the PMU's type. InvalidArgument names the term; its `at` is the place in `terms`.
struct TermError {
  size_t at = 0;
  std::string message;
};
std::optional<TermError> ApplyPmuTerms(const Pmu& pmu, std::string_view terms, bool hybrid, EventSpec& spec);

// The generic event `name` as the one of `pmu`'s CPUs; false where there is none of this name.
bool ApplyGenericEvent(const Pmu& pmu, std::string_view name, bool hybrid, EventSpec& spec);

}  // namespace ksamp

#endif  // KSAMP_LIB_EVENT_PMU_TERMS_H_
