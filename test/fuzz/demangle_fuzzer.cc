// SPDX-License-Identifier: Apache-2.0
// Any bytes as a symbol's name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lib/object/demangle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view name(reinterpret_cast<const char*>(data), size);
  const auto demangled = ksamp::DemangleSymbol(name);
  if (demangled && demangled->size() > ksamp::kMaxDemangledBytes + name.size()) std::abort();
  if (demangled) ksamp::ShortenCxxName(*demangled);
  return 0;
}
