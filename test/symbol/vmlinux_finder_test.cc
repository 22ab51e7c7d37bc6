// SPDX-License-Identifier: Apache-2.0
#include "lib/symbol/vmlinux_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/elf_builder.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::ElfBuilder;
using ::ksamp::testing::TempTree;
using ::testing::Contains;

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Kernel(std::string_view build_id) {
  ElfBuilder elf;
  elf.AddCode(".text", 0x1000, 0x10);
  if (!build_id.empty()) elf.AddBuildId(build_id);
  return elf.Build();
}

class VmlinuxFinderTest : public ::testing::Test {
 protected:
  VmlinuxFinderTest() {
    options_.root = tree_.root();
    options_.live_machine = false;
    options_.debug_dirs = {"/debug"};
    options_.kernel.os_release = "6.1.0";
    options_.kernel.build_id = {'a', 'b'};
  }
  const TempTree tree_;
  SymbolizerOptions options_;
};

TEST_F(VmlinuxFinderTest, WhereItIsPut) {
  for (const char* path :
       {"debug/.build-id/61/62.debug", "debug/boot/vmlinux-6.1.0", "debug/lib/modules/6.1.0/vmlinux",
        "lib/modules/6.1.0/build/vmlinux", "boot/vmlinux-6.1.0"}) {
    const TempTree tree;
    options_.root = tree.root();
    tree.Write(path, Kernel("ab"));
    const VmlinuxFile found = FindVmlinux(options_);
    EXPECT_TRUE(found.elf) << path;
    EXPECT_EQ(found.path, tree.Path(path));
    EXPECT_EQ(found.note, "");
  }
}

TEST_F(VmlinuxFinderTest, AnotherBuildIsNotUsed) {
  tree_.Write("debug/boot/vmlinux-6.1.0", Kernel("zz"));
  VmlinuxFile found = FindVmlinux(options_);
  EXPECT_FALSE(found.elf);
  EXPECT_THAT(found.note, HasSubstr("another build"));
  tree_.Write("boot/vmlinux-6.1.0", Kernel("ab"));
  found = FindVmlinux(options_);
  EXPECT_EQ(found.path, tree_.Path("boot/vmlinux-6.1.0")) << "a later one may be right";
}

TEST_F(VmlinuxFinderTest, WithoutBuildIdByItsPathAndTold) {
  options_.kernel.build_id.clear();
  tree_.Write("boot/vmlinux-6.1.0", Kernel("zz"));
  const VmlinuxFile found = FindVmlinux(options_);
  EXPECT_TRUE(found.elf);
  EXPECT_THAT(found.note, HasSubstr("by its path alone"));
}

TEST_F(VmlinuxFinderTest, NothingFoundSaysWhatToDo) {
  const VmlinuxFile found = FindVmlinux(options_);
  EXPECT_FALSE(found.elf);
  EXPECT_THAT(found.note, HasSubstr("--vmlinux"));
}

TEST_F(VmlinuxFinderTest, AReleaseIsNoPath) {
  options_.kernel.os_release = "../../etc";
  options_.kernel.build_id.clear();
  EXPECT_THAT(VmlinuxCandidates(options_), IsEmpty());
}

TEST_F(VmlinuxFinderTest, ThisMachinesPlacesOnlyForItsOwnRecordings) {
  options_.root.clear();
  options_.live_machine = true;
  EXPECT_THAT(VmlinuxCandidates(options_), Contains("/boot/vmlinux-6.1.0"));
}

}  // namespace
}  // namespace ksamp
