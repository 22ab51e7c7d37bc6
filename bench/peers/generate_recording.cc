// SPDX-License-Identifier: Apache-2.0
// generate_recording FILE [SAMPLES]: a large recording for comparing readers.
#include <cstdlib>
#include <iostream>

#include "bench/support/recording_generator.h"

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: generate_recording FILE [SAMPLES]\n";
    return 64;
  }
  ksamp::GeneratorOptions options;
  if (argc == 3) options.samples = std::strtoull(argv[2], nullptr, 10);
  const absl::Status status = ksamp::GenerateRecording(argv[1], options);
  if (!status.ok()) std::cerr << "generate_recording: " << status << "\n";
  return status.ok() ? 0 : 2;
}
