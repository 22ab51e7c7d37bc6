// SPDX-License-Identifier: Apache-2.0
#include "lib/symbol/image_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

using ::ksamp::testing::TempTree;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ImageIndexTest, FindsFilesByBasenameInEveryDepth) {
  const TempTree tree;
  const std::string deep = tree.Write("a/b/c/libfoo.so.1", "x"), flat = tree.Write("a/libfoo.so.1", "x");
  tree.Write("a/other", "x");
  ImageIndex index({tree.Path("a"), tree.Path("not there")});
  EXPECT_THAT(index.Find("libfoo.so.1"), ElementsAre(deep, flat));
  EXPECT_THAT(index.Find("libfoo"), IsEmpty());
}

TEST(ImageIndexTest, FindsModulesHoweverSpeltAndCompressed) {
  const TempTree tree;
  const std::string dash = tree.Write("kernel/net/nf-tables.ko.xz", "x");
  const std::string plain = tree.Write("kernel/drivers/dummy.ko", "x");
  ImageIndex index({tree.root()});
  EXPECT_THAT(index.FindModule("nf_tables"), ElementsAre(dash));
  EXPECT_THAT(index.FindModule("dummy"), ElementsAre(plain));
  EXPECT_THAT(index.FindModule("nf"), IsEmpty());
  EXPECT_THAT(index.Find("dummy.ko"), ElementsAre(plain));
}

TEST(ImageIndexTest, LoopsOfLinksEnd) {
  const TempTree tree;
  tree.Write("d/file", "x");
  tree.Symlink("d/self", tree.Path("d"));
  ImageIndex index({tree.root()});
  EXPECT_THAT(index.Find("file"), ElementsAre(tree.Path("d/file")));
}

TEST(ImageIndexTest, ModuleNames) {
  EXPECT_EQ(ModuleNameOfFile("nf-tables.ko.zst"), "nf_tables");
  EXPECT_EQ(ModuleNameOfFile("kvm.ko"), "kvm");
  EXPECT_EQ(ModuleNameOfFile("kvm.ko.gz"), "kvm");
  EXPECT_EQ(ModuleNameOfFile("kvm.so"), "");
  EXPECT_EQ(ModuleNameOfFile(".ko"), "");
}

}  // namespace
}  // namespace ksamp
