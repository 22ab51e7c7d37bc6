// SPDX-License-Identifier: Apache-2.0
// Reads a recording of ksamp or perf and prints how many samples fell into each image.
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <utility>

#include "ksamp/perf_data.h"
#include "ksamp/profile.h"

template <typename T>
T ValueOrExit(absl::StatusOr<T> result) {
  if (result.ok()) return *std::move(result);
  std::cerr << result.status().message() << "\n";
  std::exit(1);
}

int main(int argc, char** argv) {
  const ksamp::Recording recording = ValueOrExit(ksamp::Recording::Open(argc > 1 ? argv[1] : "perf.data"));
  const ksamp::Profile profile = ValueOrExit(ksamp::BuildProfile(recording, {.count_idle = true}));

  std::map<std::string, uint64_t> samples;
  for (const ksamp::ProfileEntry& entry : profile.entries) {
    const ksamp::ProfileLocation& location = profile.locations[entry.location];
    samples[profile.images[location.image].path] += entry.counts.samples;
  }
  for (const auto& [image, count] : samples) std::cout << count << "  " << image << "\n";

  const ksamp::Conservation sum = profile.Total();
  std::cout << sum.counted << " of " << sum.taken << " samples; " << sum.DroppedTotal() << " unusable, "
            << profile.losses.lost_records << " lost\n";
}
