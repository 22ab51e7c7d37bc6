// SPDX-License-Identifier: Apache-2.0
#include "lib/report/functions.h"

#include <gtest/gtest.h>

#include "ksamp/symbolizer.h"
#include "test/report/sample_profile.h"

namespace ksamp {
namespace {

using testing::SampleProfile;

TEST(FunctionTable, FramesOfOneFunctionAreOne) {
  SampleProfile p;
  const uint32_t image = p.File("/bin/app");
  const uint32_t main = p.Frame(image, "_Z4mainv", 0x1000);
  ProfileLocation again = p.profile().locations[main];
  again.address += 4;
  p.profile().locations.push_back(again);
  const uint32_t nameless = p.NamelessFrame(image, UnresolvedReason::kBetweenSymbols, 0x2000);
  const uint32_t other_reason = p.NamelessFrame(image, UnresolvedReason::kFileNotFound, 0x2000);
  const ReportOptions options{.demangle = [](std::string_view name) { return Demangle(name); }};
  const FunctionTable functions(p.profile(), options);
  EXPECT_EQ(functions.size(), 3u);
  EXPECT_EQ(functions.Of(main), functions.Of(main + 1));
  EXPECT_NE(functions.Of(nameless), functions.Of(other_reason));
  EXPECT_EQ(functions.Name(functions.Of(main)), "main()");
  EXPECT_TRUE(functions.IsNamed(functions.Of(main), "main()"));
  EXPECT_TRUE(functions.IsNamed(functions.Of(main), "_Z4mainv"));
  EXPECT_FALSE(functions.IsNamed(functions.Of(main), "main"));
  EXPECT_EQ(functions.ImageName(functions.Of(main)), "app");
  EXPECT_EQ(functions.Name(functions.Of(nameless)), "[unresolved: no symbol covers the address]");
}

TEST(FunctionTable, KnowsWhatKindOfCodeItIs) {
  SampleProfile p;
  const uint32_t user = p.Frame(p.File("/bin/app"), "f", 1), kernel = p.Frame(p.Kernel(), "g", 2),
                 module = p.Frame(p.Module("[kvm]", 0xc0000000), "h", 0xc0000100),
                 generated = p.Frame(p.Add({.kind = ImageKind::kAnonymous, .path = "//anon"}), "jit", 4),
                 nameless = p.NamelessFrame(p.Kernel(), UnresolvedReason::kBetweenSymbols, 5);
  p.profile().locations[module].elf = ElfAddress(0x100);
  const ReportOptions options;
  FunctionTable functions(p.profile(), options);
  const auto kind = [&](uint32_t location) { return functions.Get(functions.Of(location)).kind; };
  EXPECT_EQ(kind(user), FunctionKind::kUser);
  EXPECT_EQ(kind(kernel), FunctionKind::kKernel);
  EXPECT_EQ(kind(module), FunctionKind::kKernel);
  EXPECT_EQ(kind(generated), FunctionKind::kGenerated);
  EXPECT_EQ(kind(nameless), FunctionKind::kUnnamed);
  EXPECT_EQ(functions.Get(functions.Of(module)).vma, 0x100u) << "as objdump prints it for the module's file";
  const uint32_t label = functions.AddLabel("nginx");
  EXPECT_EQ(functions.Get(label).kind, FunctionKind::kLabel);
  EXPECT_EQ(functions.Name(label), "nginx");
  EXPECT_NE(functions.AddLabel("nginx"), label);
}

}  // namespace
}  // namespace ksamp
