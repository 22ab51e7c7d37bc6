// SPDX-License-Identifier: Apache-2.0
// DwarfCursor: reads a debug section at any place, in its file's byte order.
//
//   DwarfCursor at(sections.info, offset, sections.foreign_byte_order);
//   const uint64_t code = at.Uleb();
//   if (!at.ok()) return Damaged(offset);
//
// As ByteReader (lib/base/byte_reader.h): every read says whether it succeeded, and after a failure every
// later one fails too and gives 0. What it adds is DWARF's: LEB128 numbers, offsets of 4 or 8 bytes,
// addresses of any size. This is the inner loop of reading debug info: all of it is inline.
//
// One thread; cheap to copy.
#ifndef KSAMP_LIB_OBJECT_DWARF_CURSOR_H_
#define KSAMP_LIB_OBJECT_DWARF_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace ksamp {

class DwarfCursor {
 public:
  // A place past the end fails at once.
  DwarfCursor(std::span<const std::byte> bytes, uint64_t at, bool foreign_byte_order)
      : begin_(reinterpret_cast<const uint8_t*>(bytes.data())),
        p_(begin_ + (at <= bytes.size() ? at : bytes.size())),
        end_(begin_ + bytes.size()),
        swap_(foreign_byte_order),
        ok_(at <= bytes.size()) {}

  bool ok() const { return ok_; }
  bool at_end() const { return p_ == end_; }
  uint64_t position() const { return static_cast<uint64_t>(p_ - begin_); }
  uint64_t remaining() const { return static_cast<uint64_t>(end_ - p_); }

  uint8_t U8() { return p_ != end_ ? *p_++ : static_cast<uint8_t>(Fail()); }
  uint16_t U16() {
    return Fixed<uint16_t>([](uint16_t v) { return __builtin_bswap16(v); });
  }
  uint32_t U32() {
    return Fixed<uint32_t>([](uint32_t v) { return __builtin_bswap32(v); });
  }
  uint64_t U64() {
    return Fixed<uint64_t>([](uint64_t v) { return __builtin_bswap64(v); });
  }
  // `size` is 1 to 8 bytes; another one fails.
  uint64_t Number(size_t size) {
    switch (size) {
      case 1:
        return U8();
      case 2:
        return U16();
      case 3:
        return U24();
      case 4:
        return U32();
      case 8:
        return U64();
      default:
        return Fail();
    }
  }

  // Bits beyond the 64th are lost, as everywhere.
  uint64_t Uleb() {
    if (p_ != end_ && *p_ < 0x80) return *p_++;
    uint64_t value = 0;
    for (unsigned shift = 0; p_ != end_; shift += 7) {
      const uint8_t byte = *p_++;
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return Fail();
  }
  int64_t Sleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; p_ != end_;) {
      const uint8_t byte = *p_++;
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      shift += 7;
      if (byte >= 0x80) continue;
      if ((byte & 0x40) != 0 && shift < 64) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
    return static_cast<int64_t>(Fail());
  }
  void SkipLeb() {
    while (p_ != end_) {
      if (*p_++ < 0x80) return;
    }
    Fail();
  }

  // Text up to its NUL, which is consumed; without one it fails.
  std::string_view Text() {
    // A section that is not there is a null pointer, which strnlen may not see.
    const size_t length = p_ == end_ ? 0 : strnlen(reinterpret_cast<const char*>(p_), remaining());
    if (length == remaining()) {
      Fail();
      return {};
    }
    const std::string_view text(reinterpret_cast<const char*>(p_), length);
    p_ += length + 1;
    return text;
  }

  void Skip(uint64_t size) {
    if (size > remaining()) {
      Fail();
    } else {
      p_ += size;
    }
  }
  void Seek(uint64_t at) {
    if (at > static_cast<uint64_t>(end_ - begin_)) {
      Fail();
    } else {
      p_ = begin_ + at;
    }
  }

 private:
  uint64_t Fail() {
    ok_ = false;
    p_ = end_;
    return 0;
  }
  template <typename T, typename Swap>
  T Fixed(const Swap& swap) {
    if (remaining() < sizeof(T)) return static_cast<T>(Fail());
    T value;
    std::memcpy(&value, p_, sizeof(T));
    p_ += sizeof(T);
    return swap_ ? swap(value) : value;
  }
  uint32_t U24() {
    const uint32_t a = U8(), b = U8(), c = U8();
    const bool big = swap_ != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    return big ? a << 16 | b << 8 | c : c << 16 | b << 8 | a;
  }

  const uint8_t *begin_, *p_, *end_;
  bool swap_, ok_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_DWARF_CURSOR_H_
