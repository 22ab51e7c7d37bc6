// SPDX-License-Identifier: Apache-2.0
#include "lib/object/demangle.h"

#include <gtest/gtest.h>

#include <string>

namespace ksamp {
namespace {

TEST(DemangleTest, KnownNames) {
  const struct {
    const char *mangled, *expected;
  } cases[] = {
      {"_ZN3foo3barEi", "foo::bar(int)"},
      {"_Z3barv", "bar()"},
      {"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back(int const&)"},
      {"_ZN3fooC1Ev", "foo::foo()"},
      {"_Z3bari.isra.0", "bar(int) [clone .isra.0]"},
      {"_Z3bari@plt", "bar(int)@plt"},
      {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
      {"_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE",
       "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop"},
      {"_RNvNtC1a3foo3bar.llvm.42", "a::foo::bar.llvm.42"},
      {"_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
       "std::rt::lang_start::{{closure}}"},
  };
  for (const auto& c : cases) EXPECT_EQ(DemangleSymbol(c.mangled), c.expected) << c.mangled;
}

TEST(DemangleTest, WhatIsNotMangledIsLeftAlone) {
  for (const char* name : {"printf", "", "_", "_Z", "_Zfoo", "main.cold", "$x"}) {
    EXPECT_EQ(DemangleSymbol(name), std::nullopt) << name;
  }
}

TEST(DemangleTest, HostileNamesEndSoon) {
  EXPECT_EQ(DemangleSymbol("_Z" + std::string(kMaxMangledBytes, 'P') + "i"), std::nullopt);
  std::string doubling = "_Z1fI";  // each substitution is a pair of the one before
  doubling += "S_";
  for (int i = 0; i < 200; ++i) doubling += "St4pairIS" + std::to_string(i) + "_S" + std::to_string(i) + "_E";
  DemangleSymbol(doubling + "EvT_");
}

TEST(DemangleTest, SmartNames) {
  const struct {
    const char *plain, *smart;
  } cases[] = {
      {"std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, "
       "std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > "
       ">::size()",
       "vector<string>::size()"},
      {"std::map<int, long, std::less<int>, std::allocator<std::pair<int const, long> > >::find(int const&)",
       "map<int, long>::find(int const&)"},
      {"foo<bar<int> >(std::ostream&)", "foo<bar<int>>(ostream&)"},
      {"plain(int)", "plain(int)"},
      {"broken, std::allocator<int", "broken"},
  };
  for (const auto& c : cases) EXPECT_EQ(ShortenCxxName(c.plain), c.smart);
}

}  // namespace
}  // namespace ksamp
