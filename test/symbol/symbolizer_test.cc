// SPDX-License-Identifier: Apache-2.0
#include "ksamp/symbolizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace ksamp {
namespace {

using ::testing::IsEmpty;

UnresolvedReason ReasonFor(ImageKind kind) {
  SymbolizerOptions options;
  options.live_machine = false;
  Image image;
  image.kind = kind;
  image.path = "x";
  const std::vector<uint64_t> addresses = {0x1000};
  const ImageSymbols found = Symbolizer::Create(options)->Resolve(image, addresses);
  EXPECT_THAT(found.symbols, IsEmpty());
  return found.addresses.at(0).reason;
}

TEST(SymbolizerTest, EveryKindOfImageHasItsReason) {
  EXPECT_EQ(ReasonFor(ImageKind::kFile), UnresolvedReason::kFileNotFound);
  EXPECT_EQ(ReasonFor(ImageKind::kKernel), UnresolvedReason::kNoKernelSymbols);
  EXPECT_EQ(ReasonFor(ImageKind::kModule), UnresolvedReason::kNoKernelSymbols);
  EXPECT_EQ(ReasonFor(ImageKind::kVdso), UnresolvedReason::kFileNotFound);
  EXPECT_EQ(ReasonFor(ImageKind::kAnonymous), UnresolvedReason::kAnonymousMemory);
  EXPECT_EQ(ReasonFor(ImageKind::kBpf), UnresolvedReason::kNoKernelSymbols);
  EXPECT_EQ(ReasonFor(ImageKind::kUnknown), UnresolvedReason::kNoMapping);
}

TEST(SymbolizerTest, ReasonsReadDifferently) {
  std::set<std::string_view> texts;
  for (int i = 0; i <= static_cast<int>(UnresolvedReason::kGuest); ++i)
    texts.insert(Text(UnresolvedReason(i)));
  EXPECT_EQ(texts.size(), static_cast<size_t>(UnresolvedReason::kGuest) + 1);
}

TEST(SymbolizerTest, DemangleStyles) {
  EXPECT_EQ(Demangle("_ZN3foo3barEi", DemangleStyle::kNone), "_ZN3foo3barEi");
  EXPECT_EQ(Demangle("_ZN3foo3barEi"), "foo::bar(int)");
  EXPECT_EQ(Demangle("printf"), "printf");
}

}  // namespace
}  // namespace ksamp
