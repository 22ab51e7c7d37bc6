// SPDX-License-Identifier: Apache-2.0
// Any text as a tracepoint's format file, read against raw bytes that are the text itself.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lib/event/trace_format.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::span<const std::byte> raw(reinterpret_cast<const std::byte*>(data), size);
  for (const bool foreign : {false, true}) {
    const auto format = ksamp::TraceFormat::Parse(text, foreign);
    if (!format) continue;
    std::string shown;
    format->AppendText(raw, shown);
    format->AppendText(raw.first(size / 2), shown);
  }
  return 0;
}
