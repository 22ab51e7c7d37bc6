// SPDX-License-Identifier: Apache-2.0
// Arithmetic on sizes and offsets that came from a file: overflow is an answer, not an accident.
//
//   std::optional<uint64_t> end = CheckedAdd(offset, size);
//   if (!end || *end > file_size) return absl::DataLossError(...);
#ifndef KSAMP_LIB_BASE_CHECKED_MATH_H_
#define KSAMP_LIB_BASE_CHECKED_MATH_H_

#include <cstdint>
#include <optional>

namespace ksamp {

inline std::optional<uint64_t> CheckedAdd(uint64_t a, uint64_t b) {
  uint64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

inline std::optional<uint64_t> CheckedMultiply(uint64_t a, uint64_t b) {
  uint64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// True where [offset, offset + size) lies inside [0, limit).
inline bool RangeFits(uint64_t offset, uint64_t size, uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

// `value` rounded up to a multiple of `alignment` (a power of two); nothing where that overflows.
inline std::optional<uint64_t> CheckedAlign(uint64_t value, uint64_t alignment) {
  std::optional<uint64_t> sum = CheckedAdd(value, alignment - 1);
  if (!sum) return std::nullopt;
  return *sum & ~(alignment - 1);
}

}  // namespace ksamp

#endif  // KSAMP_LIB_BASE_CHECKED_MATH_H_
