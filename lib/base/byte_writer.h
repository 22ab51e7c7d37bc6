// SPDX-License-Identifier: Apache-2.0
// ByteWriter: appends scalars, bytes and padded strings to a buffer, in host byte order.
//
//   ByteWriter out;
//   out.Put<uint32_t>(pid);
//   out.PutPaddedCString(comm, 8);   // NUL-terminated, length a multiple of 8
//   std::vector<std::byte> bytes = std::move(out).Take();
//
// One thread. Grows; Clear() keeps the memory for the next record.
#ifndef KSAMP_LIB_BASE_BYTE_WRITER_H_
#define KSAMP_LIB_BASE_BYTE_WRITER_H_

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ksamp {

class ByteWriter {
 public:
  size_t size() const { return bytes_.size(); }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::vector<std::byte> Take() && { return std::move(bytes_); }
  void Clear() { bytes_.clear(); }
  // Forgets what was written behind `size`: a record that turned out not to fit. Requires: size <= size().
  void TruncateTo(size_t size) { bytes_.resize(size); }

  template <typename T>
  void Put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }

  // Overwrites a value written earlier, such as a size known only at the end. Requires: it was written.
  template <typename T>
  void PutAt(size_t at, const T& value) {
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }

  void PutBytes(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

  void PutZeros(size_t count) { bytes_.resize(bytes_.size() + count); }

  void AlignTo(size_t alignment) {
    if (size_t rest = bytes_.size() % alignment; rest != 0) PutZeros(alignment - rest);
  }

  // `text`, a NUL, and zeros up to a multiple of `alignment` counted from the text's first byte.
  void PutPaddedCString(std::string_view text, size_t alignment) {
    const size_t padded = (text.size() + alignment) / alignment * alignment;
    PutBytes({reinterpret_cast<const std::byte*>(text.data()), text.size()});
    PutZeros(padded - text.size());
  }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_BASE_BYTE_WRITER_H_
