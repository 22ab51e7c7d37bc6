// SPDX-License-Identifier: Apache-2.0
// Values as people type them behind options.
#ifndef KSAMP_TOOLS_OPTION_VALUES_H_
#define KSAMP_TOOLS_OPTION_VALUES_H_

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace ksamp {

// "0-3,8" -> {0, 1, 2, 3, 8}: CPUs, pids. At most 65 536 numbers.
absl::StatusOr<std::vector<int>> ParseNumberList(std::string_view text);
// "4096", "64K", "10M", "2G" (of 1024), with or without a B behind it.
absl::StatusOr<uint64_t> ParseSize(std::string_view text);
// "10", "0.5" seconds; "500ms", "30s", "5m", "1h".
absl::StatusOr<std::chrono::nanoseconds> ParseDuration(std::string_view text);

}  // namespace ksamp

#endif  // KSAMP_TOOLS_OPTION_VALUES_H_
