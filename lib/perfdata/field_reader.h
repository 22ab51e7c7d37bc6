// SPDX-License-Identifier: Apache-2.0
// FieldReader: a ByteReader for files of either byte order. Integers come out in host order.
//
//   FieldReader reader(payload, foreign_byte_order);
//   uint32_t count = reader.Read<uint32_t>();
//   std::string name = reader.ReadString();     // as feature sections store text: u32 length, bytes, NULs
//   if (!reader.ok()) return absl::DataLossError(...);
#ifndef KSAMP_LIB_PERFDATA_FIELD_READER_H_
#define KSAMP_LIB_PERFDATA_FIELD_READER_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "lib/base/byte_reader.h"

namespace ksamp::perfdata {

template <std::unsigned_integral T>
T SwapBytes(T value) {
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
  return value;
}

class FieldReader {
 public:
  FieldReader(std::span<const std::byte> bytes, bool foreign) : reader_(bytes), foreign_(foreign) {}

  bool ok() const { return reader_.ok(); }
  size_t position() const { return reader_.position(); }
  size_t remaining() const { return reader_.remaining(); }

  template <std::unsigned_integral T>
  T Read() {
    const T value = reader_.Read<T>();
    return foreign_ ? SwapBytes(value) : value;
  }
  std::span<const std::byte> ReadBytes(uint64_t size) { return reader_.ReadBytes(size); }
  std::string ReadString() {
    const std::string_view text = AsText(reader_.ReadBytes(Read<uint32_t>()));
    return std::string(text.substr(0, text.find('\0')));
  }
  void Skip(uint64_t size) { reader_.Skip(size); }

 private:
  ByteReader reader_;
  bool foreign_;
};

}  // namespace ksamp::perfdata

#endif  // KSAMP_LIB_PERFDATA_FIELD_READER_H_
