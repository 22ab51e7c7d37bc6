// SPDX-License-Identifier: Apache-2.0
// Where the sources, the built tool and the compilers of this build are, for tests that read files or run
// programs.
//
// Asked at run time rather than written into every test by -D, so that a compiler cache serves every clone of
// the project.
#ifndef KSAMP_TEST_SUPPORT_BUILT_TREE_H_
#define KSAMP_TEST_SUPPORT_BUILT_TREE_H_

#include <string>

namespace ksamp::testing {

std::string SourceDir();  // the project's root
std::string ToolPath();   // the built `ksamp`; nothing builds it for you: ksamp_add_tool_test does
std::string CCompiler();  // of this build, for fixtures compiled by a test
std::string CxxCompiler();

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_SUPPORT_BUILT_TREE_H_
