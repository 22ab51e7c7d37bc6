// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "tools/command.h"
#include "tools/world.h"

int main(int argc, char** argv) {
  ksamp::World world = ksamp::RealWorld();
  return ksamp::RunKsamp(std::vector<std::string>(argv + 1, argv + argc), world);
}
