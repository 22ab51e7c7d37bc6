// SPDX-License-Identifier: Apache-2.0
// Any bytes as a recording, from opening to every form of report: attributed, counted, filtered, printed, and
// no sample missing. Symbols come from what the recording brings, not from this machine's files.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "ksamp/perf_data.h"
#include "ksamp/profile.h"
#include "ksamp/report.h"
#include "ksamp/symbolizer.h"

namespace {

void CheckSums(const ksamp::Profile& profile, const ksamp::Recording& recording) {
  uint64_t taken = 0, rows = 0, counted = 0;
  for (const ksamp::Conservation& event : profile.conservation) {
    if (!event.Holds()) std::abort();
    taken += event.taken;
    counted += event.counted;
  }
  for (const ksamp::ProfileEntry& entry : profile.entries) rows += entry.counts.samples;
  if (rows != counted || taken != recording.counts().samples) std::abort();
}

void WriteAll(const ksamp::Profile& profile) {
  using ksamp::OutputFormat;
  using ksamp::ReportForm;
  for (const ReportForm form :
       {ReportForm::kImages, ReportForm::kSymbols, ReportForm::kDetails, ReportForm::kModules}) {
    for (const OutputFormat format :
         {OutputFormat::kText, OutputFormat::kXml, OutputFormat::kCsv, OutputFormat::kJson}) {
      std::ostringstream out;
      ksamp::ReportOptions options;
      options.form = form;
      options.format = format;
      options.show_address = form == ReportForm::kDetails;
      static_cast<void>(ksamp::WriteReport(profile, options, out).ok());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int fd = memfd_create("input", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  ksamp::OpenOptions open;
  open.threads = 1;
  const absl::StatusOr<ksamp::Recording> recording = ksamp::Recording::FromDescriptor(fd, "input", open);
  if (!recording.ok()) return 0;
  ksamp::ProfileOptions options;
  options.threads = 1;
  options.separate.comm = true;
  absl::StatusOr<ksamp::Profile> profile = ksamp::BuildProfile(*recording, options);
  if (!profile.ok()) return 0;
  CheckSums(*profile, *recording);
  ksamp::SymbolizerOptions symbols = ksamp::SymbolizerOptionsFor(*recording);
  symbols.live_machine = false;
  symbols.root = "/nonexistent";
  symbols.debug_dirs = {};
  symbols.threads = 1;
  ksamp::Symbolize(*profile, *ksamp::Symbolizer::Create(symbols), options);
  CheckSums(*profile, *recording);
  WriteAll(*profile);
  return 0;
}
