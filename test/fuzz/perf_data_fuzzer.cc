// SPDX-License-Identifier: Apache-2.0
// Any bytes as a recording: opened, walked, decoded. What the sweep counts and what the chunks hold must
// agree.
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ksamp/perf_data.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int fd = memfd_create("input", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  ksamp::OpenOptions options;
  options.threads = 1;
  const absl::StatusOr<ksamp::Recording> recording = ksamp::Recording::FromDescriptor(fd, "input", options);
  if (!recording.ok()) return 0;
  uint64_t samples = 0, others = 0;
  for (const ksamp::Recording::Chunk& chunk : recording->chunks()) {
    ksamp::Recording::ForEachRecord(chunk, [&](const ksamp::RawRecord& raw) {
      ++(raw.type == PERF_RECORD_SAMPLE ? samples : others);
      if (const auto event = recording->EventOf(raw); event && *event >= recording->events().size())
        std::abort();
      static_cast<void>(recording->Decode(raw).ok());
      return true;
    });
  }
  if (samples != recording->counts().samples || others > recording->side_records().size()) std::abort();
  static_cast<void>(recording->KernelSymbols().ok());
  return 0;
}
