// SPDX-License-Identifier: Apache-2.0
// World: everything a command touches, as one struct, so that tests run the real commands in-process.
//
// Commands write to `out` and `err`, never to std::cout; they read /proc and /sys below the roots given here;
// the kernel's perf events come through `kernel`. RealWorld() is what main uses.
#ifndef KSAMP_TOOLS_WORLD_H_
#define KSAMP_TOOLS_WORLD_H_

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "lib/os/perf_kernel.h"

namespace ksamp {

struct World {
  std::istream* in = nullptr;
  std::ostream* out = nullptr;
  std::ostream* err = nullptr;
  bool out_is_terminal = false, err_is_terminal = false;
  PerfKernel* kernel = nullptr;
  std::string proc_root = "/proc", sys_root = "/sys";
  bool live_machine = true;  // false: reports read nothing but the recording (golden tests)
  std::function<std::optional<std::string>(const std::string&)> getenv;
};

World RealWorld();

}  // namespace ksamp

#endif  // KSAMP_TOOLS_WORLD_H_
