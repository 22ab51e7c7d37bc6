// SPDX-License-Identifier: Apache-2.0
#include "tools/recording_input.h"

#include <unistd.h>

#include <cerrno>

#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "tools/diagnostics.h"
#include "tools/lists.h"

namespace ksamp {
namespace {

constexpr size_t kMaxDamageMessages = 3;

bool Exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

}  // namespace

absl::StatusOr<std::string> FindRecording(World& world, const std::string& given) {
  if (!given.empty()) {
    if (given == "-" || Exists(given)) return given;
    return ErrnoStatus(errno, StrCat("open ", given));
  }
  if (Exists("ksamp.data")) return "ksamp.data";
  if (Exists("perf.data")) {
    Say(world, "no ksamp.data here; reading perf.data");
    return "perf.data";
  }
  return absl::NotFoundError(
      "neither ksamp.data nor perf.data in this folder\nMake one with: ksamp record -a sleep 10");
}

bool WarnOfDamage(World& world, const Recording& recording) {
  size_t said = 0;
  for (const Damage& damage : recording.damage()) {
    if (said++ == kMaxDamageMessages) {
      Say(world,
          StrCat("warning: and ", recording.damage().size() - kMaxDamageMessages, " more damaged places"));
      break;
    }
    Say(world, StrCat("warning: ", recording.path(), " is damaged: ", damage.what, "; ", damage.bytes_skipped,
                      " bytes left out"));
  }
  if (recording.damage().empty() && recording.was_killed())
    Say(world,
        StrCat("note: the recorder of ", recording.path(), " did not finish; all it had written is here"));
  return !recording.damage().empty();
}

absl::StatusOr<TimeRange> ParseTimeRange(const std::string& text) {
  const size_t comma = text.find(',');
  if (comma == std::string::npos)
    return absl::InvalidArgumentError(
        StrCat("--time: ", text, " is no range like 1.5,3 (seconds from the first sample)"));
  TimeRange range;
  if (comma > 0) {
    KSAMP_ASSIGN_OR_RETURN(range.begin_ns, ParseNanoseconds(text.substr(0, comma)));
  }
  if (comma + 1 < text.size()) {
    KSAMP_ASSIGN_OR_RETURN(range.end_ns, ParseNanoseconds(text.substr(comma + 1)));
  }
  if (range.end_ns <= range.begin_ns)
    return absl::InvalidArgumentError(StrCat("--time: ", text, " is an empty range"));
  return range;
}

}  // namespace ksamp
