// SPDX-License-Identifier: Apache-2.0
// How images and symbol-less images are called in a report. Not escaped: that depends on the form.
#ifndef KSAMP_LIB_REPORT_NAMES_H_
#define KSAMP_LIB_REPORT_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ksamp/image.h"
#include "ksamp/profile.h"
#include "ksamp/symbolizer.h"

namespace ksamp {

// "libc.so.6", "vmlinux", "kvm_intel", "[vdso]", "anon (tgid:7 range:0x1000-0x2000)", "[unknown]".
std::string ShortImageName(const Image& image);
// The path; "/kvm_intel" for a module whose path is not known, as opreport's -f.
std::string LongImageName(const Image& image);
// The symbol column of an address without a symbol: opreport's "/kvm_intel" or the image's path where the
// image has no symbols at all, else "[unresolved: REASON]".
std::string UnresolvedName(const Image& image, UnresolvedReason reason);

// A place in the source. Empty file: not known; line 0: of no line.
struct SourcePlace {
  std::string_view file;
  uint32_t line = 0;
  friend auto operator<=>(const SourcePlace&, const SourcePlace&) = default;
};
// opreport's column: "hash.c:117", with the whole path if `long_name`; "(no location information)";
// "hash.c:?".
std::string PlaceText(const SourcePlace& place, bool long_name);

// What a report tells about: all events but dummies that took no samples.
std::vector<uint32_t> ShownEvents(const Profile& profile);

// A note's sentences, one per line, each safe on a terminal.
std::vector<std::string> NoteLines(std::string_view note);

}  // namespace ksamp

#endif  // KSAMP_LIB_REPORT_NAMES_H_
