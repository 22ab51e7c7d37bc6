// SPDX-License-Identifier: Apache-2.0
// Names of symbols as people write them: C++ (Itanium), Rust legacy and Rust v0.
//
//   DemangleSymbol("_ZN3foo3barEi")                    "foo::bar(int)"
//   DemangleSymbol("_ZN4core3fmt5write17h0123456789abcdefE")   "core::fmt::write"
//   DemangleSymbol("printf")                           nothing: it is not mangled
//
// Clones keep their suffix, since each is code of its own: "foo(int) [clone .isra.0]" as c++filt has it, and
// "foo(int)@plt". Names come from files: longer ones than kMaxMangledBytes, and results longer than
// kMaxDemangledBytes, are left as they are.
#ifndef KSAMP_LIB_OBJECT_DEMANGLE_H_
#define KSAMP_LIB_OBJECT_DEMANGLE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ksamp {

inline constexpr size_t kMaxMangledBytes = 16 << 10;
inline constexpr size_t kMaxDemangledBytes = 256 << 10;

std::optional<std::string> DemangleSymbol(std::string_view name);

// A demangled C++ name with what nobody reads left out: versioned namespaces, template arguments that are the
// default (allocator, char_traits, less, hash, equal_to, default_delete), "std::", and blanks between closing
// brackets; basic_string<char> and its like by their short names.
//
//   std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, …> ->
//   vector<string>
std::string ShortenCxxName(std::string name);

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_DEMANGLE_H_
