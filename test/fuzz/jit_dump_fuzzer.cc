// SPDX-License-Identifier: Apache-2.0
// Any bytes as a jit-PID.dump and as the text a recording keeps of one; what was read survives being written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lib/object/jit_dump.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::span(reinterpret_cast<const std::byte*>(data), size);
  const auto dump = ksamp::JitDump::Read(bytes);
  if (dump.ok()) {
    for (const ksamp::JitFunction& f : dump->functions())
      if (f.size == 0 || f.place + f.size > size || f.start + f.size < f.start) std::abort();
    const auto again = ksamp::JitDump::FromText(dump->ToText());
    if (!again.ok() || again->functions() != dump->functions()) std::abort();
  }
  const auto text = ksamp::JitDump::FromText({reinterpret_cast<const char*>(data), size});
  if (text.ok() && text->functions().size() > size) std::abort();
  return 0;
}
