// SPDX-License-Identifier: Apache-2.0
// TestWorld: a World of string streams that looks at nothing of this machine.
//
//   TestWorld world;
//   EXPECT_EQ(RunKsamp({"report", "-i", path}, world.world), kExitShown);
//   EXPECT_EQ(world.out(), "…");
#ifndef KSAMP_TEST_SUPPORT_TEST_WORLD_H_
#define KSAMP_TEST_SUPPORT_TEST_WORLD_H_

#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "tools/world.h"

namespace ksamp::testing {

class TestWorld {
 public:
  TestWorld() {
    world.in = &in_;
    world.out = &out_;
    world.err = &err_;
    world.proc_root = world.sys_root = "/nonexistent";
    world.live_machine = false;
    world.getenv = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = environment.find(name);
      if (found == environment.end()) return std::nullopt;
      return found->second;
    };
  }

  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }

  World world;
  std::map<std::string, std::string> environment;

 private:
  std::istringstream in_;
  std::ostringstream out_, err_;
};

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_SUPPORT_TEST_WORLD_H_
