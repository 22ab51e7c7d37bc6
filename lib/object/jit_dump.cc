// SPDX-License-Identifier: Apache-2.0
#include "lib/object/jit_dump.h"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "lib/base/byte_reader.h"
#include "lib/base/checked_math.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

constexpr uint32_t kMagic = 0x4a695444;  // "JiTD"
constexpr uint64_t kProcessorsTimestamps = 1;
constexpr size_t kHeaderBytes = 40, kRecordHeaderBytes = 16;
constexpr uint32_t kLoad = 0, kMove = 1;
constexpr size_t kLoadFieldBytes = 40;
constexpr std::string_view kTextHead = "jitdump";

// Takes a hexadecimal number and the blank behind it off the front.
std::optional<uint64_t> TakeHex(std::string_view& text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end == text.data() + text.size() || *end != ' ') return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return value;
}

}  // namespace

class JitDump::Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  absl::StatusOr<JitDump> Read() && {
    ByteReader reader(bytes_);
    const uint32_t magic = reader.Read<uint32_t>();
    swap_ = magic == __builtin_bswap32(kMagic);
    if ((magic != kMagic && !swap_) || bytes_.size() < kHeaderBytes)
      return absl::InvalidArgumentError("read jitdump: no such file");
    const uint32_t version = Get<uint32_t>(reader), header_size = Get<uint32_t>(reader);
    if (version != 1)
      return absl::InvalidArgumentError(StrCat("read jitdump: version ", version, " is not known"));
    if (header_size < kHeaderBytes || header_size > bytes_.size())
      return absl::InvalidArgumentError(StrCat("read jitdump: header of ", header_size, " bytes"));
    reader.Skip(12);
    dump_.opened_ = Get<uint64_t>(reader);
    dump_.has_time_ = (Get<uint64_t>(reader) & kProcessorsTimestamps) == 0;
    ReadRecords(header_size);
    return std::move(dump_);
  }

 private:
  template <std::unsigned_integral T>
  T Get(ByteReader& reader) const {
    const T value = reader.Read<T>();
    if (!swap_) return value;
    if constexpr (sizeof(T) == 8) {
      return __builtin_bswap64(value);
    } else {
      return __builtin_bswap32(value);
    }
  }

  void ReadRecords(size_t at) {
    while (bytes_.size() - at >= kRecordHeaderBytes) {
      ByteReader header(bytes_.subspan(at, kRecordHeaderBytes));
      const uint32_t id = Get<uint32_t>(header), size = Get<uint32_t>(header);
      const uint64_t time = Get<uint64_t>(header);
      if (size < kRecordHeaderBytes || size > bytes_.size() - at) break;
      const std::span<const std::byte> body =
          bytes_.subspan(at + kRecordHeaderBytes, size - kRecordHeaderBytes);
      const bool sound = id == kLoad   ? ReadLoad(body, time, at + kRecordHeaderBytes)
                         : id == kMove ? ReadMove(body, time)
                                       : true;
      if (!sound) ++dump_.damaged_;
      at += size;
    }
    if (at < bytes_.size()) ++dump_.damaged_;
  }

  bool ReadLoad(std::span<const std::byte> body, uint64_t time, uint64_t place) {
    ByteReader reader(body);
    reader.Skip(16);  // pid, tid: of its own namespace; vma
    JitFunction function{.time = time, .name = {}};
    function.start = Get<uint64_t>(reader);
    function.size = Get<uint64_t>(reader);
    const uint64_t index = Get<uint64_t>(reader);
    if (!reader.ok() || !IsSound(function)) return false;
    const std::string_view rest = AsText(reader.rest());
    const size_t name_size = rest.find('\0');
    // What is left must be the code.
    if (name_size == std::string_view::npos || rest.size() - name_size - 1 < function.size) return false;
    function.name = std::string(rest.substr(0, name_size));
    std::replace(function.name.begin(), function.name.end(), '\n', ' ');
    function.place = place + kLoadFieldBytes + name_size + 1;
    latest_[index] = dump_.functions_.size();
    dump_.functions_.push_back(std::move(function));
    return true;
  }

  bool ReadMove(std::span<const std::byte> body, uint64_t time) {
    ByteReader reader(body);
    reader.Skip(24);  // pid, tid, vma, old address
    const uint64_t start = Get<uint64_t>(reader), size = Get<uint64_t>(reader), index = Get<uint64_t>(reader);
    const auto moved = latest_.find(index);
    if (!reader.ok() || moved == latest_.end()) return false;
    JitFunction function = dump_.functions_[moved->second];
    function.time = time;
    function.start = start;
    function.size = std::min(size, function.size);
    if (!IsSound(function)) return false;
    moved->second = dump_.functions_.size();
    dump_.functions_.push_back(std::move(function));
    return true;
  }

  static bool IsSound(const JitFunction& function) {
    return function.size > 0 && CheckedAdd(function.start, function.size).has_value();
  }

  std::span<const std::byte> bytes_;
  bool swap_ = false;
  JitDump dump_;
  absl::flat_hash_map<uint64_t, size_t> latest_;  // code index -> its last entry
};

absl::StatusOr<JitDump> JitDump::Read(std::span<const std::byte> bytes) {
  return Reader(bytes).Read();
}

std::string JitDump::ToText() const {
  std::string text = StrCat(kTextHead, " ", Hex(opened_), " ", Hex(has_time_ ? 1 : 0), " \n");
  for (const JitFunction& f : functions_)
    StrAppend(&text, Hex(f.time), " ", Hex(f.start), " ", Hex(f.size), " ", Hex(f.place), " ", f.name, "\n");
  return text;
}

absl::StatusOr<JitDump> JitDump::FromText(std::string_view text) {
  JitDump dump;
  std::string_view head = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(head.size() + 1, text.size()));
  const bool known = head.starts_with(kTextHead) && head.size() > kTextHead.size();
  if (known) head.remove_prefix(kTextHead.size() + 1);
  const std::optional<uint64_t> opened = known ? TakeHex(head) : std::nullopt;
  const std::optional<uint64_t> has_time = opened ? TakeHex(head) : std::nullopt;
  if (!has_time) return absl::InvalidArgumentError("read functions of a jitdump: no such text");
  dump.opened_ = *opened;
  dump.has_time_ = *has_time != 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!dump.ParseLine(line)) ++dump.damaged_;
  }
  return dump;
}

bool JitDump::ParseLine(std::string_view line) {
  JitFunction function{.name = {}};
  for (uint64_t* field : {&function.time, &function.start, &function.size, &function.place}) {
    const std::optional<uint64_t> value = TakeHex(line);
    if (!value) return false;
    *field = *value;
  }
  if (function.size == 0 || !CheckedAdd(function.start, function.size) ||
      !CheckedAdd(function.place, function.size))
    return false;
  function.name = std::string(line);
  functions_.push_back(std::move(function));
  return true;
}

}  // namespace ksamp
