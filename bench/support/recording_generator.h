// SPDX-License-Identifier: Apache-2.0
// GenerateRecording: a large recording as a busy two-CPU machine would give, without a minute of recording.
//
// Several hundred processes that fork, exec and exit; each maps its executable and some thirty libraries of
// this machine, so that symbols are found and perf can report the same file; addresses are hot in few places;
// a third of the samples is the kernel's; the CPUs' records come in alternating blocks, as rings are drained.
// The same options give the same file.
#ifndef KSAMP_BENCH_SUPPORT_RECORDING_GENERATOR_H_
#define KSAMP_BENCH_SUPPORT_RECORDING_GENERATOR_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace ksamp {

struct GeneratorOptions {
  uint64_t samples = 5'000'000;
  uint32_t processes = 300;  // alive at a time
  uint32_t seed = 1;
};

absl::Status GenerateRecording(const std::string& path, const GeneratorOptions& options);

}  // namespace ksamp

#endif  // KSAMP_BENCH_SUPPORT_RECORDING_GENERATOR_H_
