// SPDX-License-Identifier: Apache-2.0
// Rust's v0 mangling (RFC 2603), as text.
//
//   DemangleRustV0("_RNvNtCs1234_7mycrate3foo3bar")      "mycrate::foo::bar"
//   DemangleRustV0("_RNCNvC1a4main0")                    "a::main::{closure#0}"
//
// Crate hashes and types of constants are left out, as rustc's own tools do in short form. Nothing where the
// name is not well-formed, nests deeper than kMaxRustNesting, or unfolds its back-references beyond
// `max_bytes`.
#ifndef KSAMP_LIB_OBJECT_RUST_V0_H_
#define KSAMP_LIB_OBJECT_RUST_V0_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ksamp {

inline constexpr int kMaxRustNesting = 200;

// `name` without suffixes such as ".llvm.123".
std::optional<std::string> DemangleRustV0(std::string_view name, size_t max_bytes);

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_RUST_V0_H_
