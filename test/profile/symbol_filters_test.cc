// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "ksamp/profile.h"
#include "test/profile/profile_rows.h"
#include "test/profile/stack_rows.h"

namespace ksamp {
namespace {

using ::ksamp::testing::ExpectConserved;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Image Named(ImageKind kind, const std::string& path) {
  Image image;
  image.kind = kind;
  image.path = path;
  return image;
}

// server and client, each with itself and libc; the kernel on its own. Samples are powers of two.
Profile Sample() {
  Profile profile;
  profile.events = {{.name = "cycles", .note = {}}};
  profile.names = {"client", "server"};
  profile.images = {Named(ImageKind::kKernel, "vmlinux"), Named(ImageKind::kFile, "/usr/bin/server"),
                    Named(ImageKind::kFile, "/usr/bin/client"), Named(ImageKind::kFile, "/lib/libc.so.6"),
                    Named(ImageKind::kUnknown, "unknown")};
  profile.keys = {{}, {.app = 0}, {.app = 1}};
  profile.symbols = {{.name = "tcp_rcv", .image = 0},
                     {.name = "_ZN3foo3barEv", .image = 1},
                     {.name = "main", .image = 2},
                     {.name = "malloc", .image = 3}};
  profile.locations = {{.image = 0, .address = 1, .symbol = 0},
                       {.image = 1, .address = 1, .symbol = 1},
                       {.image = 2, .address = 1, .symbol = 2},
                       {.image = 3, .address = 1, .symbol = 3},
                       {.image = 4, .address = 1, .reason = UnresolvedReason::kNoMapping},
                       {.address = 2, .reason = UnresolvedReason::kGuest}};
  profile.entries = {{0, 0, {1, 1}},   {0, 5, {2, 2}},   {1, 2, {4, 4}},  {1, 3, {8, 8}},
                     {2, 1, {16, 16}}, {2, 3, {32, 32}}, {2, 4, {64, 64}}};
  profile.conservation = {{.taken = 127, .counted = 127, .filtered = {}, .dropped = {}}};
  return profile;
}

TEST(SymbolFiltersTest, NothingAskedNothingTaken) {
  Profile profile = Sample();
  ApplySymbolFilters(profile, {});
  ExpectConserved(profile, 127);
  EXPECT_EQ(profile.conservation[0].counted, 127u);
  EXPECT_THAT(profile.conservation[0].filtered, IsEmpty());
}

TEST(SymbolFiltersTest, EachMovesWhatItTakes) {
  const struct {
    const char* what;
    SymbolFilters filters;
    const char* cause;
    uint64_t kept;
  } cases[] = {
      {"include", {.include_symbols = {"malloc", "nothing"}}, "symbol", 8 + 32},
      {"include demangled", {.include_symbols = {"foo::bar()"}}, "symbol", 16},
      {"include mangled", {.include_symbols = {"_ZN3foo3barEv"}}, "symbol", 16},
      {"exclude", {.exclude_symbols = {"malloc", "tcp_rcv"}}, "symbol", 2 + 4 + 16 + 64},
      {"image by basename", {.images = {"libc*"}}, "image", 8 + 32},
      {"image by path", {.images = {"/usr/bin/*"}}, "image", 4 + 16},
      {"application with its libraries", {.apps = {"server"}}, "image", 16 + 32 + 64},
      {"application by path", {.apps = {"/usr/bin/client"}}, "image", 4 + 8},
      {"bare word names an image", {.apps = {"vmlinux"}}, "image", 1},
      {"exclude an application", {.exclude_images = {"server"}}, "image", 1 + 2 + 4 + 8},
      {"exclude a library", {.exclude_images = {"libc.so.6"}}, "image", 127 - 8 - 32},
      {"without dependent images", {.exclude_dependent = true}, "dependent image", 1 + 2 + 4 + 16},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    Profile profile = Sample();
    ApplySymbolFilters(profile, c.filters);
    ExpectConserved(profile, 127);
    EXPECT_EQ(profile.conservation[0].counted, c.kept);
    EXPECT_THAT(profile.conservation[0].filtered, ElementsAre(Pair(c.cause, 127 - c.kept)));
  }
}

TEST(SymbolFiltersTest, StacksGoWithTheirLeaf) {
  Profile profile = Sample();
  // Each entry once below main; main calls main.
  for (const ProfileEntry& entry : profile.entries) {
    if (profile.stack_nodes.empty()) profile.stack_nodes.push_back({.location = 2});
    profile.stack_nodes.push_back({.parent = 0, .location = entry.location});
    const uint32_t node = static_cast<uint32_t>(profile.stack_nodes.size() - 1);
    profile.stacks.push_back({.key = entry.key, .node = node, .counts = entry.counts});
  }
  ApplySymbolFilters(profile, {.exclude_symbols = {"main", "malloc"}});
  testing::ExpectStacksMatchEntries(profile);
  uint64_t samples = 0;
  for (const StackEntry& stack : profile.stacks) samples += stack.counts.samples;
  EXPECT_EQ(samples, 1u + 2 + 16 + 64);
}

}  // namespace
}  // namespace ksamp
