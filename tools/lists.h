// SPDX-License-Identifier: Apache-2.0
// Values of options that several commands take: comma lists, number lists, times.
#ifndef KSAMP_TOOLS_LISTS_H_
#define KSAMP_TOOLS_LISTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace ksamp {

// "a,b" and "c" -> a b c. `\,` is a comma of the word itself (opreport's way). Empty words are left out.
std::vector<std::string> SplitCommas(std::span<const std::string> values);

// "0-3,5" -> 0 1 2 3 5. InvalidArgument names `what`; at most 65 536 numbers.
absl::StatusOr<std::vector<uint32_t>> ParseNumbers(std::span<const std::string> values,
                                                   std::string_view what);

// "1.5" or "1.5s", "20ms", "7us", "3ns" -> nanoseconds.
absl::StatusOr<uint64_t> ParseNanoseconds(std::string_view text);

}  // namespace ksamp

#endif  // KSAMP_TOOLS_LISTS_H_
