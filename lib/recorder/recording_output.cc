// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/recording_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

absl::StatusOr<RecordingOutput> StandardOutput() {
  if (isatty(STDOUT_FILENO))
    return absl::InvalidArgumentError("write the recording to standard output: it is a terminal");
  RecordingOutput output;
  output.fd.Reset(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!output.fd) return ErrnoStatus(errno, "open standard output");
  output.name = "standard output";
  output.pipe = true;
  return output;
}

// An earlier recording steps aside.
absl::Status KeepOld(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
    return absl::OkStatus();
  const std::string old = path + ".old";
  if (rename(path.c_str(), old.c_str()) != 0) return ErrnoStatus(errno, StrCat("rename ", path, " to ", old));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RecordingOutput> OpenRecordingFile(const std::string& path) {
  if (path == "-") return StandardOutput();
  KSAMP_RETURN_IF_ERROR(KeepOld(path));
  RecordingOutput output;
  KSAMP_ASSIGN_OR_RETURN(output.fd, CreateOutputFile(path));
  output.name = path;
  struct stat status {};
  output.pipe =
      fstat(output.fd.get(), &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
  return output;
}

absl::StatusOr<RecordingOutput> OpenRecordingInMemory() {
  RecordingOutput output;
  output.name = "recording in memory";
  KSAMP_ASSIGN_OR_RETURN(output.fd, CreateScratchFile("ksamp recording"));
  return output;
}

}  // namespace ksamp
