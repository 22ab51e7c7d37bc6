// SPDX-License-Identifier: Apache-2.0
#include "lib/object/rust_v0.h"

#include <gtest/gtest.h>

#include <string>

namespace ksamp {
namespace {

constexpr size_t kLimit = 1 << 16;

TEST(RustV0Test, KnownNames) {
  const struct {
    const char *mangled, *expected;
  } cases[] = {
      {"_RNvC1a4main", "a::main"},
      {"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
      {"_RNCNvC1a4main0B3_", "a::main::{closure#0}"},
      {"_RNCNvC1a4mains_0B3_", "a::main::{closure#1}"},
      {"_RNSNvC1a1f6vtable", "a::f::{shim:vtable#0}"},
      {"_RINvC1a5applyNCNvB2_4mains_0EB2_", "a::apply::<a::main::{closure#1}>"},
      {"_RNvMC1aNtB2_3Foo3get", "<a::Foo>::get"},
      {"_RNvXC1aNtB2_3FooNtB2_2Tr2go", "<a::Foo as a::Tr>::go"},
      {"_RNvYNtC1a3FooNtB4_2Tr2go", "<a::Foo as a::Tr>::go"},
      {"_RNvMC1aINtB2_3FoohKj3_E3get", "<a::Foo<u8, 3>>::get"},
      {"_RINvC1a1fKb1_Kc2202_Kan5_E", "a::f::<true, '\xe2\x88\x82', -5>"},
      {"_RINvC1a1fThcEPhOeRLiQSbAhj4_E", nullptr},  // a lifetime nobody bound
      {"_RINvC1a1fThcEPhOeReQShAhKj4_E", nullptr},  // a length has no K
      {"_RINvC1a1fThcEPhOeReQShAhj4_E", "a::f::<(u8, char), *const u8, *mut str, &str, &mut [u8], [u8; 4]>"},
      {"_RINvC1a1fThEFKClEyFUE_E", nullptr},
      {"_RINvC1a1fThEFKClEyFUEuE", "a::f::<(u8,), extern \"C\" fn(i32) -> u64, unsafe fn()>"},
      {"_RINvC1a1fFG_RL0_eEjE", "a::f::<for<'a> fn(&'a str) -> usize>"},
      {"_RINvC1a1fDNtB2_2Trp4ItemhEL_E", "a::f::<dyn a::Tr<Item = u8>>"},
      {"_RINvC1a1fDINtB2_2TrhEp4ItemhEL_E", "a::f::<dyn a::Tr<u8, Item = u8>>"},
      {"_RNvC1au8gdel_5qa",
       "a::g\xc3\xb6"
       "del"},
      {"_RNvC1a", nullptr},
      {"_RNvC1a9999main", nullptr},
      {"_RB_", nullptr},  // refers to itself
      {"_R1NvC1a4main", nullptr},
      {"_ZN1a4mainE", nullptr},
  };
  for (const auto& c : cases) {
    const std::optional<std::string> expected =
        c.expected == nullptr ? std::nullopt : std::optional<std::string>(c.expected);
    EXPECT_EQ(DemangleRustV0(c.mangled, kLimit), expected) << c.mangled;
  }
}

TEST(RustV0Test, HostileNamesEnd) {
  EXPECT_EQ(DemangleRustV0("_RINvC1a1f" + std::string(10'000, 'S') + "hE", kLimit), std::nullopt);
  // Each tuple holds the one before twice.
  std::string doubling = "_RINvC1a1fThhE";
  size_t before = 8;
  for (int i = 0; i < 30; ++i) {
    constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const std::string reference =
        std::string("B") +
        (before == 0       ? ""
         : before - 1 < 62 ? std::string(1, kDigits[before - 1])
                           : std::string{kDigits[(before - 1) / 62], kDigits[(before - 1) % 62]}) +
        "_";
    before = doubling.size() - 2;
    doubling.append("T" + reference + reference + "E");
  }
  EXPECT_EQ(DemangleRustV0(doubling + "E", kLimit), std::nullopt);
  EXPECT_EQ(DemangleRustV0("_RNvC1a4main", 3), std::nullopt) << "longer than asked for";
}

}  // namespace
}  // namespace ksamp
