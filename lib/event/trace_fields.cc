// SPDX-License-Identifier: Apache-2.0
#include "lib/event/trace_fields.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "lib/base/byte_reader.h"
#include "lib/base/checked_math.h"

namespace ksamp {
namespace {

// What stands between `key` and the next semicolon.
std::optional<std::string_view> ValueOf(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  if (at == line.npos) return std::nullopt;
  line.remove_prefix(at + key.size());
  return line.substr(0, line.find(';'));
}

std::optional<uint32_t> NumberOf(std::string_view line, std::string_view key) {
  const std::optional<std::string_view> text = ValueOf(line, key);
  uint32_t number = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc())
    return std::nullopt;
  return number;
}

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

std::string_view TextOf(std::span<const std::byte> bytes) {
  const std::string_view text = AsText(bytes);
  return text.substr(0, text.find('\0'));
}

const TraceField* TraceFields::Find(std::string_view name) const {
  const auto found = std::find_if(fields_.begin(), fields_.end(),
                                  [name](const TraceField& field) { return field.name == name; });
  return found == fields_.end() ? nullptr : &*found;
}

uint64_t TraceFields::Number(const TraceField& field, std::span<const std::byte> raw) const {
  if (field.size > sizeof(uint64_t) || !RangeFits(field.offset, field.size, raw.size())) return 0;
  uint64_t value = 0;
  // Least significant byte first, whatever order they lie in.
  for (uint32_t i = 0; i < field.size; ++i) {
    const uint32_t at = foreign_ ? field.size - 1 - i : i;
    value |= uint64_t{std::to_integer<uint8_t>(raw[field.offset + at])} << (8 * i);
  }
  const unsigned unused = 64 - 8 * field.size;
  if (!field.is_signed || unused == 0 || unused == 64) return value;
  return static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
}

std::span<const std::byte> TraceFields::Bytes(const TraceField& field, std::span<const std::byte> raw) const {
  uint64_t offset = field.offset, size = field.size;
  if (field.is_dynamic) {
    const uint64_t place = Number(field, raw);
    offset = (place & 0xffff) + (field.is_relative ? uint64_t{field.offset} + field.size : 0);
    size = place >> 16 & 0xffff;
  }
  if (!RangeFits(offset, size, raw.size())) return {};
  return raw.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
}

bool ParseTraceField(std::string_view line, TraceFields& fields) {
  const std::optional<std::string_view> declared = ValueOf(line, "field:");
  const std::optional<uint32_t> offset = NumberOf(line, "offset:"), size = NumberOf(line, "size:");
  if (!declared || !offset || !size) return false;
  TraceField field{.name = {}, .offset = *offset, .size = *size};
  field.is_signed = NumberOf(line, "signed:") == 1u;
  std::string_view text = *declared;
  field.is_relative = text.starts_with("__rel_loc ");
  field.is_dynamic = field.is_relative || text.starts_with("__data_loc ");
  // "char comm[16]", "__data_loc char[] name", "const struct sk_buff *skb".
  if (text.ends_with(']')) text = text.substr(0, text.rfind('['));
  size_t begin = text.size();
  while (begin > 0 && IsNameByte(text[begin - 1])) --begin;
  field.name = text.substr(begin);
  const std::string_view type = text.substr(0, begin);
  field.is_array = declared->find('[') != declared->npos;
  field.is_text = field.is_array && type.find("char") != type.npos;
  field.is_pointer = type.find('*') != type.npos;
  if (field.name.empty()) return false;
  fields.Add(std::move(field));
  return true;
}

}  // namespace ksamp
