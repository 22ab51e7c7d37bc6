// SPDX-License-Identifier: Apache-2.0
// What several counters counted -> one Profile, the same whatever the number of threads.
//
// Counters number their keys as they meet them; here names, keys, images and locations get their final order:
// names by text, keys by their fields, images as the recording named them, locations by (image, address).
// Fills names, images, keys, locations, entries and conservation. The counters' tables are freed on the way.
#ifndef KSAMP_LIB_PROFILE_PROFILE_ASSEMBLY_H_
#define KSAMP_LIB_PROFILE_PROFILE_ASSEMBLY_H_

#include <memory>
#include <vector>

#include "ksamp/profile.h"
#include "lib/process/process_table.h"
#include "lib/profile/sample_counter.h"

namespace ksamp {

// The profile's number of an image that a counter named (place_cache.h): appended when new. kNone32: where no
// image belongs to the reason. Requires: images come in ascending order.
uint32_t AppendImage(uint32_t image, const ProcessTable& table, Profile& profile);

void AssembleProfile(const std::vector<std::unique_ptr<SampleCounter>>& counters, const ProcessTable& table,
                     unsigned threads, Profile& profile);

}  // namespace ksamp

#endif  // KSAMP_LIB_PROFILE_PROFILE_ASSEMBLY_H_
