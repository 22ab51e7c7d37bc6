// SPDX-License-Identifier: Apache-2.0
// ByteReader: a bounds-checked cursor over bytes somebody else wrote.
//
// Every read says whether it succeeded; after the first failure every later one fails too, so a decoder may
// read several fields and ask ok() once. Nothing is copied: strings and spans point into the input.
//
//   ByteReader reader(bytes);
//   uint32_t pid = reader.Read<uint32_t>(), tid = reader.Read<uint32_t>();
//   std::string_view comm = reader.ReadCString();
//   if (!reader.ok()) return Malformed("COMM", reader.position());
//
// One thread; as cheap to copy as a pointer pair.
#ifndef KSAMP_LIB_BASE_BYTE_READER_H_
#define KSAMP_LIB_BASE_BYTE_READER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace ksamp {

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }
  std::span<const std::byte> rest() const { return bytes_.subspan(position_); }

  // The next `T` in host byte order; zero after a failure.
  template <typename T>
  T Read() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (!Take(sizeof(T))) return value;
    std::memcpy(&value, bytes_.data() + position_ - sizeof(T), sizeof(T));
    return value;
  }

  // `size` bytes; empty after a failure.
  std::span<const std::byte> ReadBytes(uint64_t size) {
    if (!Take(size)) return {};
    return bytes_.subspan(position_ - static_cast<size_t>(size), static_cast<size_t>(size));
  }

  // Text up to a NUL, which is consumed. Without one: all that is left (kernel strings may fill their field).
  std::string_view ReadCString() {
    if (!ok_ || remaining() == 0) return {};
    const char* begin = reinterpret_cast<const char*>(bytes_.data()) + position_;
    const size_t length = strnlen(begin, remaining());
    position_ += length < remaining() ? length + 1 : length;
    return {begin, length};
  }

  void Skip(uint64_t size) { Take(size); }

 private:
  bool Take(uint64_t size) {
    if (!ok_ || size > remaining()) {
      ok_ = false;
      return false;
    }
    position_ += static_cast<size_t>(size);
    return true;
  }

  std::span<const std::byte> bytes_;
  size_t position_ = 0;
  bool ok_ = true;
};

// The bytes of text, and the text of bytes.
inline std::span<const std::byte> AsBytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace ksamp

#endif  // KSAMP_LIB_BASE_BYTE_READER_H_
