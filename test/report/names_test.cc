// SPDX-License-Identifier: Apache-2.0
#include "lib/report/names.h"

#include <gtest/gtest.h>

namespace ksamp {
namespace {

TEST(Names, OfImages) {
  const struct {
    Image image;
    const char *short_name, *long_name, *symbol_less;
  } kCases[] = {
      {{.path = "/usr/lib/libc.so.6"}, "libc.so.6", "/usr/lib/libc.so.6", "/usr/lib/libc.so.6"},
      {{.kind = ImageKind::kKernel, .path = "vmlinux"}, "vmlinux", "vmlinux", "vmlinux"},
      {{.kind = ImageKind::kModule, .path = "[kvm_intel]"}, "kvm_intel", "/kvm_intel", "/kvm_intel"},
      {{.kind = ImageKind::kModule, .path = "/lib/modules/6.1/kvm-intel.ko.xz"},
       "kvm_intel",
       "/lib/modules/6.1/kvm-intel.ko.xz",
       "/kvm_intel"},
      {{.kind = ImageKind::kVdso, .path = "[vdso]"}, "[vdso]", "[vdso]", "[vdso]"},
      {{.kind = ImageKind::kAnonymous,
        .path = "//anon",
        .pid = 7,
        .start = ProcessAddress(0x1000),
        .end = ProcessAddress(0x2000)},
       "anon (tgid:7 range:0x1000-0x2000)",
       "anon (tgid:7 range:0x1000-0x2000)",
       "anon (tgid:7 range:0x1000-0x2000)"},
      {{.kind = ImageKind::kAnonymous, .path = "[heap]"}, "[heap]", "[heap]", "[heap]"},
      {{.kind = ImageKind::kUnknown}, "[unknown]", "[unknown]", "[unknown]"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(ShortImageName(c.image), c.short_name);
    EXPECT_EQ(LongImageName(c.image), c.long_name);
    EXPECT_EQ(UnresolvedName(c.image, UnresolvedReason::kImageHasNoSymbols), c.symbol_less);
  }
}

TEST(Names, OfWhatHasNoNameIsTheReason) {
  EXPECT_EQ(UnresolvedName({.path = "/a"}, UnresolvedReason::kFileNotFound),
            "[unresolved: " + std::string(Text(UnresolvedReason::kFileNotFound)) + "]");
}

TEST(Names, OfAStrippedImageSayWhatIsMissing) {
  EXPECT_EQ(UnresolvedName({.path = "/a"}, UnresolvedReason::kNotExported),
            "[unresolved: stripped, not covered by .dynsym]");
}

TEST(Names, NotesAreSentencesOnLinesOfTheirOwn) {
  EXPECT_EQ(NoteLines("one\n\ntwo\x1b\n"), (std::vector<std::string>{"one", "two\\x1b"}));
  EXPECT_TRUE(NoteLines("").empty());
}

TEST(Names, EventsShownAreThoseThatCount) {
  Profile profile;
  profile.events = {{.name = "a"}, {.name = "dummy", .tracking = true}, {.name = "dummy2", .tracking = true}};
  profile.conservation = {{}, {}, {.taken = 1}};
  EXPECT_EQ(ShownEvents(profile), (std::vector<uint32_t>{0, 2}));
}

TEST(Names, PlacesInTheSource) {
  EXPECT_EQ(PlaceText({"/src/hash.c", 117}, false), "hash.c:117");
  EXPECT_EQ(PlaceText({"/src/hash.c", 117}, true), "/src/hash.c:117");
  EXPECT_EQ(PlaceText({"/src/hash.c", 0}, false), "hash.c:?");
  EXPECT_EQ(PlaceText({}, false), "(no location information)");
}

}  // namespace
}  // namespace ksamp
