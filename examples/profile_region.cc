// SPDX-License-Identifier: Apache-2.0
// Profiles a region of its own code, in memory, and prints the report.
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <utility>

#include "ksamp/profile.h"
#include "ksamp/recorder.h"
#include "ksamp/report.h"

template <typename T>
T ValueOrExit(absl::StatusOr<T> result) {
  if (result.ok()) return *std::move(result);
  std::cerr << result.status().message() << "\n";
  std::exit(1);
}

[[gnu::noinline]] double SumOfRoots(int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += std::sqrt(i);
  return sum;
}

int main() {
  ksamp::RecordOptions options;
  options.pids = {getpid()};
  options.in_memory = true;
  auto recorder = ValueOrExit(ksamp::Recorder::Open(options));

  absl::Status status = recorder->Start();
  const double sum = SumOfRoots(300'000'000);
  if (status.ok()) status = recorder->Stop();
  if (!status.ok()) return std::cerr << status.message() << "\n", 1;

  const ksamp::Recording recording = ValueOrExit(recorder->TakeRecording());
  ksamp::Profile profile = ValueOrExit(ksamp::BuildProfile(recording, {}));
  ksamp::Symbolize(profile, *ksamp::Symbolizer::Create(ksamp::SymbolizerOptionsFor(recording)));
  std::cout << "sum " << sum << "\n";
  ksamp::ReportOptions report;
  report.form = ksamp::ReportForm::kSymbols;
  report.demangle = [](std::string_view name) { return ksamp::Demangle(name); };
  return ksamp::WriteReport(profile, report, std::cout).ok() ? 0 : 1;
}
