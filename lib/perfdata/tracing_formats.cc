// SPDX-License-Identifier: Apache-2.0
#include "lib/perfdata/tracing_formats.h"

#include <bit>
#include <cstdint>

#include "lib/perfdata/field_reader.h"

namespace ksamp::perfdata {
namespace {

constexpr std::string_view kMagic = "\x17\x08\x44tracing";

// "name\0"
std::string_view ReadText(std::span<const std::byte> payload, FieldReader& reader) {
  const std::string_view rest = AsText(payload.subspan(reader.position()));
  const size_t end = rest.find('\0');
  reader.Skip(end == rest.npos ? rest.size() + 1 : end + 1);
  return rest.substr(0, end);
}

std::string_view ReadFileText(FieldReader& reader) {
  return AsText(reader.ReadBytes(reader.Read<uint64_t>()));
}

}  // namespace

std::vector<std::string_view> SplitTracingData(std::span<const std::byte> payload) {
  std::vector<std::string_view> formats;
  if (!AsText(payload).starts_with(kMagic)) return formats;
  FieldReader start(payload, false);
  start.Skip(kMagic.size());
  ReadText(payload, start);  // version
  const bool big = start.Read<uint8_t>() != 0;
  if (!start.ok()) return formats;
  FieldReader reader(payload, big != (std::endian::native == std::endian::big));
  reader.Skip(start.position() + sizeof(uint8_t) + sizeof(uint32_t));  // size of long, size of a page
  for (int i = 0; i < 2 && reader.ok(); ++i) {
    ReadText(payload, reader);  // "header_page", "header_event"
    ReadFileText(reader);
  }
  const auto read_files = [&reader, &formats] {
    for (uint32_t left = reader.Read<uint32_t>(); left > 0 && reader.ok(); --left)
      if (const std::string_view text = ReadFileText(reader); reader.ok()) formats.push_back(text);
  };
  read_files();  // of ftrace itself
  for (uint32_t systems = reader.Read<uint32_t>(); systems > 0 && reader.ok(); --systems) {
    ReadText(payload, reader);
    read_files();
  }
  return formats;
}

}  // namespace ksamp::perfdata
