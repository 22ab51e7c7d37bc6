// SPDX-License-Identifier: Apache-2.0
// Is this machine the one that was recorded? Only then do its live processes say anything about the
// recording.
//
//   if (MayBeRecordedMachine(options)) TryProcess(image);
//
// Told by host name and kernel release. A recording without them (its recorder was killed before it wrote
// them) may be of any machine, this one too: what is found is still checked by build-id.
#ifndef KSAMP_LIB_SYMBOL_RECORDED_MACHINE_H_
#define KSAMP_LIB_SYMBOL_RECORDED_MACHINE_H_

#include "ksamp/symbolizer.h"

namespace ksamp {

// False where options.live_machine is false, or where a recorded name is not this machine's.
bool MayBeRecordedMachine(const SymbolizerOptions& options);
// True only where both names were recorded and are this machine's.
bool IsRecordedMachine(const SymbolizerOptions& options);

}  // namespace ksamp

#endif  // KSAMP_LIB_SYMBOL_RECORDED_MACHINE_H_
