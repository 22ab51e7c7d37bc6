// SPDX-License-Identifier: Apache-2.0
// StrCat: one string of many parts. Takes std::string_view, which absl::StrCat does not where the
// distribution built abseil with its own string_view (Debian does; std::string_view and absl::string_view are
// different types there).
//
//   StrCat("open ", path, ": record at ", Hex(offset), " has size ", size)
//
// For the same reason statuses are made with std::string (absl::DataLossError(StrCat(...))), and
// `MessageOf(status)` gives a status's message as std::string.
#ifndef KSAMP_LIB_BASE_STR_CAT_H_
#define KSAMP_LIB_BASE_STR_CAT_H_

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace ksamp {

// A number to be written as 0x….
struct Hex {
  explicit Hex(uint64_t v) : value(v) {}
  uint64_t value;
};

namespace internal {

inline void AppendPart(std::string& out, std::string_view part) {
  out.append(part);
}
inline void AppendPart(std::string& out, const char* part) {
  out.append(part);
}
inline void AppendPart(std::string& out, char part) {
  out.push_back(part);
}
inline void AppendPart(std::string& out, bool part) {
  out.append(part ? "true" : "false");
}
template <typename T>
requires(std::integral<T> || std::floating_point<T>) void AppendPart(std::string& out, T part) {
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof(digits), part).ptr;
  out.append(digits, static_cast<size_t>(end - digits));
}
inline void AppendPart(std::string& out, Hex part) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof(digits), part.value, 16).ptr;
  out.append("0x").append(digits, static_cast<size_t>(end - digits));
}

}  // namespace internal

template <typename... Parts>
std::string StrCat(const Parts&... parts) {
  std::string out;
  (internal::AppendPart(out, parts), ...);
  return out;
}

template <typename... Parts>
void StrAppend([[maybe_unused]] std::string* out, const Parts&... parts) {
  (internal::AppendPart(*out, parts), ...);
}

// The message of a status, without its code.
inline std::string MessageOf(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

}  // namespace ksamp

#endif  // KSAMP_LIB_BASE_STR_CAT_H_
