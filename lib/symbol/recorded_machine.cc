// SPDX-License-Identifier: Apache-2.0
#include "lib/symbol/recorded_machine.h"

#include <string>

#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

std::string FirstLine(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, 4096);
  return text.ok() ? text->substr(0, text->find('\n')) : std::string();
}

bool Agrees(const std::string& recorded, const SymbolizerOptions& options, const char* file) {
  return recorded.empty() || recorded == FirstLine(StrCat(options.proc_root, "/sys/kernel/", file));
}

}  // namespace

bool MayBeRecordedMachine(const SymbolizerOptions& options) {
  return options.live_machine && Agrees(options.kernel.hostname, options, "hostname") &&
         Agrees(options.kernel.os_release, options, "osrelease");
}

bool IsRecordedMachine(const SymbolizerOptions& options) {
  return !options.kernel.hostname.empty() && !options.kernel.os_release.empty() &&
         MayBeRecordedMachine(options);
}

}  // namespace ksamp
