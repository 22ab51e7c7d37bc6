// SPDX-License-Identifier: Apache-2.0
#include "test/support/built_tree.h"

namespace ksamp::testing {

std::string SourceDir() {
  return KSAMP_SOURCE_DIR;
}
std::string ToolPath() {
  return KSAMP_TOOL;
}
std::string CCompiler() {
  return KSAMP_CC;
}
std::string CxxCompiler() {
  return KSAMP_CXX;
}

}  // namespace ksamp::testing
