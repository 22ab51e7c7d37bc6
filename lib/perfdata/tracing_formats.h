// SPDX-License-Identifier: Apache-2.0
// SplitTracingData: the format files that the feature TRACING_DATA carries.
//
//   for (std::string_view text : SplitTracingData(recording.Feature(kTracingData)))
//     TraceFormat::Parse(text, foreign);
//
// The payload is trace-cmd's container, version 0.4 to 0.6; see lib/os/tracing_data.h for its writer.
#ifndef KSAMP_LIB_PERFDATA_TRACING_FORMATS_H_
#define KSAMP_LIB_PERFDATA_TRACING_FORMATS_H_

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace ksamp::perfdata {

// Views into `payload`. What is damaged ends the list.
std::vector<std::string_view> SplitTracingData(std::span<const std::byte> payload);

}  // namespace ksamp::perfdata

#endif  // KSAMP_LIB_PERFDATA_TRACING_FORMATS_H_
