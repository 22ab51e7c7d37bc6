// SPDX-License-Identifier: Apache-2.0
#include "lib/os/tracing_data.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "lib/base/byte_reader.h"
#include "lib/base/byte_writer.h"
#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "\x17\x08\x44tracing", kVersion = "0.6";
constexpr size_t kMaxFormatBytes = size_t{1} << 20;

using FormatsBySystem = std::map<std::string, std::map<std::string, std::string>>;

void PutText(std::string_view text, ByteWriter& out) {  // with its NUL
  out.PutBytes(AsBytes(text));
  out.Put<uint8_t>(0);
}

void PutFile(std::string_view text, ByteWriter& out) {
  out.Put<uint64_t>(text.size());
  out.PutBytes(AsBytes(text));
}

std::optional<uint64_t> IdIn(const std::string& folder) {
  const absl::StatusOr<std::string> text = ReadFile(folder + "/id", kMaxFormatBytes);
  uint64_t id = 0;
  if (!text.ok() || std::from_chars(text->data(), text->data() + text->size(), id).ec != std::errc())
    return std::nullopt;
  return id;
}

// Folders right below `path`, sorted.
std::vector<std::string> Folders(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
    if (it->is_directory(error)) names.push_back(it->path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

FormatsBySystem ReadFormats(const std::string& events, std::span<const uint64_t> ids, TracingData& data) {
  FormatsBySystem formats;
  for (const std::string& system : Folders(events)) {
    for (const std::string& event : Folders(StrCat(events, "/", system))) {
      if (data.names.size() == ids.size()) return formats;
      const std::string folder = StrCat(events, "/", system, "/", event);
      const std::optional<uint64_t> id = IdIn(folder);
      if (!id || std::find(ids.begin(), ids.end(), *id) == ids.end()) continue;
      absl::StatusOr<std::string> format = ReadFile(folder + "/format", kMaxFormatBytes);
      if (!format.ok()) continue;
      formats[system][event] = *std::move(format);
      data.names[*id] = StrCat(system, ":", event);
    }
  }
  return formats;
}

}  // namespace

std::string FindTracefs(const std::string& sys_root) {
  std::string own = sys_root + "/kernel/tracing", of_debugfs = sys_root + "/kernel/debug/tracing";
  const bool use_other =
      access((own + "/events").c_str(), F_OK) != 0 && access((of_debugfs + "/events").c_str(), F_OK) == 0;
  return use_other ? of_debugfs : own;
}

absl::StatusOr<TracingData> ReadTracingData(const std::string& tracefs_root, std::span<const uint64_t> ids) {
  std::vector<uint64_t> wanted(ids.begin(), ids.end());
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  const std::string events = tracefs_root + "/events";
  KSAMP_ASSIGN_OR_RETURN(const std::string page, ReadFile(events + "/header_page", kMaxFormatBytes));
  KSAMP_ASSIGN_OR_RETURN(const std::string event, ReadFile(events + "/header_event", kMaxFormatBytes));

  TracingData data;
  const FormatsBySystem formats = ReadFormats(events, wanted, data);
  ByteWriter out;
  out.PutBytes(AsBytes(kMagic));
  PutText(kVersion, out);
  out.Put<uint8_t>(std::endian::native == std::endian::big ? 1 : 0);
  out.Put<uint8_t>(sizeof(long));
  out.Put<uint32_t>(static_cast<uint32_t>(sysconf(_SC_PAGESIZE)));
  PutText("header_page", out);
  PutFile(page, out);
  PutText("header_event", out);
  PutFile(event, out);
  out.Put<uint32_t>(0);  // formats of ftrace's own events
  out.Put<uint32_t>(static_cast<uint32_t>(formats.size()));
  for (const auto& [system, events_of_system] : formats) {
    PutText(system, out);
    out.Put<uint32_t>(static_cast<uint32_t>(events_of_system.size()));
    for (const auto& [name, format] : events_of_system) PutFile(format, out);
  }
  out.Put<uint32_t>(0);  // kallsyms
  out.Put<uint32_t>(0);  // printk formats
  out.Put<uint64_t>(0);  // saved command names
  data.bytes = std::move(out).Take();
  return data;
}

}  // namespace ksamp
