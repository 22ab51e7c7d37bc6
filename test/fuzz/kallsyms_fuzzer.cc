// SPDX-License-Identifier: Apache-2.0
// Any text as /proc/kallsyms and as /proc/modules: parsed, then asked for addresses it names and others.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lib/object/kallsyms.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ksamp::Kallsyms table = ksamp::Kallsyms::Parse(text, ksamp::ParseModuleRanges(text));
  for (const uint64_t address : {uint64_t{0}, uint64_t{0x1000}, uint64_t{0xffffffff81000010}, ~uint64_t{0}}) {
    if (const auto match = table.Find(address); match && (match->start > address || match->name.empty()))
      std::abort();
  }
  table.AddressOf("_text");
  table.HasModule("loop");
  return 0;
}
