// SPDX-License-Identifier: Apache-2.0
#include "tools/world.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "tools/fd_stream.h"

namespace ksamp {

World RealWorld() {
  static FdStream out(STDOUT_FILENO, "standard output");
  World world;
  world.in = &std::cin;
  world.out = &out;
  world.err = &std::cerr;
  world.out_is_terminal = isatty(STDOUT_FILENO) == 1;
  world.err_is_terminal = isatty(STDERR_FILENO) == 1;
  world.kernel = &LinuxPerfKernel();
  world.getenv = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
  return world;
}

}  // namespace ksamp
