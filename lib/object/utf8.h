// SPDX-License-Identifier: Apache-2.0
// Code points as UTF-8, and the punycode Rust writes identifiers in that are not ASCII.
#ifndef KSAMP_LIB_OBJECT_UTF8_H_
#define KSAMP_LIB_OBJECT_UTF8_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ksamp {

// Requires: `code_point` is at most 0x10ffff.
void AppendUtf8(std::string* out, uint32_t code_point);

// RFC 3492 with '_' between the ASCII part and the rest. "gdel_5qa" -> "gödel". Nothing where it is not
// valid.
std::optional<std::string> DecodePunycode(std::string_view text);

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_UTF8_H_
