// SPDX-License-Identifier: Apache-2.0
// What this machine lets a test do; a test that cannot run skips with the reason, never passes silently.
//
//   KSAMP_REQUIRE(CanSample());          // perf_event_open of cpu-clock, system-wide
//   KSAMP_REQUIRE(HasTool("perf"));
#ifndef KSAMP_TEST_SUPPORT_CAPABILITY_H_
#define KSAMP_TEST_SUPPORT_CAPABILITY_H_

#include <optional>
#include <string>

namespace ksamp::testing {

// Each returns nothing where it can be done, else the sentence why not.
using Missing = std::optional<std::string>;

Missing CanSample();            // cpu-clock of the own thread
Missing CanSampleSystemWide();  // cpu-clock on every CPU
Missing HasHardwareCycles();    // `cycles` opens and counts
Missing IsRoot();
Missing HasTracefs();                      // tracepoint ids can be read
Missing HasTool(const std::string& name);  // in $PATH

}  // namespace ksamp::testing

#define KSAMP_REQUIRE(condition)                                          \
  do {                                                                    \
    if (auto ksamp_missing = (condition)) GTEST_SKIP() << *ksamp_missing; \
  } while (false)

#endif  // KSAMP_TEST_SUPPORT_CAPABILITY_H_
