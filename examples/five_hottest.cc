// SPDX-License-Identifier: Apache-2.0
// Samples the whole machine for a second and prints the five hottest symbols.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ksamp/profile.h"
#include "ksamp/recorder.h"
#include "ksamp/symbolizer.h"

template <typename T>
T ValueOrExit(absl::StatusOr<T> result) {
  if (result.ok()) return *std::move(result);
  std::cerr << result.status().message() << "\n";
  std::exit(1);
}

int main() {
  ksamp::RecordOptions options;
  options.system_wide = true;
  options.in_memory = true;
  options.duration = std::chrono::seconds(1);
  auto recorder = ValueOrExit(ksamp::Recorder::Open(options));
  ValueOrExit(recorder->Run());
  const ksamp::Recording recording = ValueOrExit(recorder->TakeRecording());

  ksamp::Profile profile = ValueOrExit(ksamp::BuildProfile(recording, {}));
  ksamp::Symbolize(profile, *ksamp::Symbolizer::Create(ksamp::SymbolizerOptionsFor(recording)));

  std::map<std::string, uint64_t> samples;
  for (const ksamp::ProfileEntry& entry : profile.entries) {
    const ksamp::ProfileLocation& location = profile.locations[entry.location];
    samples[location.symbol != ksamp::kNone32
                ? ksamp::Demangle(profile.symbols[location.symbol].name)
                : profile.images[location.image].path + ": " + std::string(ksamp::Text(location.reason))] +=
        entry.counts.samples;
  }
  std::vector<std::pair<uint64_t, std::string>> hottest;
  for (const auto& [symbol, count] : samples) hottest.emplace_back(count, symbol);
  std::sort(hottest.rbegin(), hottest.rend());
  hottest.resize(std::min<size_t>(hottest.size(), 5));

  std::cout << profile.Total().counted << " samples of work, " << profile.Total().idle << " idle\n";
  for (const auto& [count, symbol] : hottest) std::cout << count << "  " << symbol << "\n";
}
