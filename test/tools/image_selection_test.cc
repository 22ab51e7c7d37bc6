// SPDX-License-Identifier: Apache-2.0
#include "tools/image_selection.h"

#include <gtest/gtest.h>

#include "lib/base/text.h"
#include "test/support/temp_tree.h"

namespace ksamp {
namespace {

TEST(ImageSelection, FindsByBasenameAndModulesByName) {
  const testing::TempTree tree;
  tree.Write("net/i40e/i40e.ko.xz", "");
  tree.Write("net/foo-bar.ko", "");
  tree.Write("lib/libx.so.1", "");
  const std::vector<Image> images = {
      {.path = "/gone/libx.so.1"},
      {.path = "/usr/lib/other.so"},
      {.kind = ImageKind::kModule, .path = "[i40e]"},
      {.kind = ImageKind::kModule, .path = "/lib/modules/6/foo-bar.ko"},
      {.kind = ImageKind::kModule, .path = "[foo_bar]"},
      {.kind = ImageKind::kUnknown},
  };
  EXPECT_EQ(
      ImagesBelow(images, std::vector<std::string>{tree.root()}),
      (std::vector<std::string>{"/gone/libx.so.1", "/lib/modules/6/foo-bar.ko", "[[]foo_bar]", "[[]i40e]"}));
}

TEST(ImageSelection, NothingFoundMatchesNothing) {
  const std::vector<std::string> globs =
      ImagesBelow(std::vector<Image>{{.path = "/a"}}, std::vector<std::string>{"/nonexistent"});
  ASSERT_EQ(globs.size(), 1u);
  EXPECT_FALSE(MatchesGlob(globs[0], "/a"));
  EXPECT_FALSE(MatchesGlob(globs[0], ""));
}

TEST(ImageSelection, AGlobOfATextMatchesExactlyIt) {
  for (const char* text : {"[kvm]", "a*b", "a?b", "/plain", "[[", "]"}) {
    EXPECT_TRUE(MatchesGlob(GlobOf(text), text)) << text;
    EXPECT_FALSE(MatchesGlob(GlobOf(text), std::string(text) + "x")) << text;
  }
  EXPECT_FALSE(MatchesGlob(GlobOf("a*b"), "axb"));
}

}  // namespace
}  // namespace ksamp
