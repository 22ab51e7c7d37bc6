// SPDX-License-Identifier: Apache-2.0
// FieldReader: a ByteReader that remembers which field was the first that did not fit.
//
//   FieldReader in(raw.bytes.subspan(8), 8);
//   record.pid = in.Read<uint32_t>("pid");
//   record.dev_inode_pairs = in.ReadWords(2 * count, "namespaces");
//   if (!in.ok()) return in.Malformed("NAMESPACES", raw.offset);
//
// Positions in messages count from the record's first byte. One thread.
#ifndef KSAMP_LIB_EVENT_FIELD_READER_H_
#define KSAMP_LIB_EVENT_FIELD_READER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "lib/base/byte_reader.h"
#include "lib/base/str_cat.h"

namespace ksamp {

class FieldReader {
 public:
  // `bytes` start `base` bytes into the record.
  FieldReader(std::span<const std::byte> bytes, size_t base) : reader_(bytes), base_(base) {}

  bool ok() const { return failed_field_ == nullptr; }
  size_t remaining() const { return reader_.remaining(); }
  std::span<const std::byte> rest() const { return reader_.rest(); }

  template <typename T>
  T Read(const char* field) {
    const T value = reader_.Read<T>();
    return Checked(value, field);
  }

  std::span<const std::byte> ReadBytes(uint64_t size, const char* field) {
    return Checked(reader_.ReadBytes(size), field);
  }

  std::string_view ReadCString() { return reader_.ReadCString(); }

  // `count` words of 64 bits, in place. Fails where they are not aligned in memory: the kernel aligns every
  // record and every field, so what is not aligned is damaged, or was not copied to aligned memory first.
  std::span<const uint64_t> ReadWords(uint64_t count, const char* field) {
    if (count > reader_.remaining() / sizeof(uint64_t)) Fail(field);
    if (!ok() || count == 0) return {};
    const std::span<const std::byte> bytes = reader_.ReadBytes(count * sizeof(uint64_t));
    if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) != 0) {
      Fail(field);
      return {};
    }
    return {reinterpret_cast<const uint64_t*>(bytes.data()), static_cast<size_t>(count)};
  }

  // For values that cannot be true. The first failure is the one reported.
  void Fail(const char* field) {
    if (!ok()) return;
    failed_field_ = field;
    failed_at_ = base_ + reader_.position();
    reader_.Skip(~uint64_t{0});
  }

  // Requires: !ok().
  absl::Status Malformed(std::string_view record_type, uint64_t record_offset) const {
    return absl::DataLossError(StrCat("decode ", record_type, " record at ", record_offset, ": ",
                                      failed_field_, " at byte ", failed_at_,
                                      " does not fit the record's size of ", base_ + reader_size()));
  }

 private:
  size_t reader_size() const { return reader_.position() + reader_.remaining(); }

  template <typename T>
  T Checked(T value, const char* field) {
    if (!reader_.ok()) Fail(field);
    return value;
  }

  ByteReader reader_;
  size_t base_;
  size_t failed_at_ = 0;
  const char* failed_field_ = nullptr;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_EVENT_FIELD_READER_H_
