// SPDX-License-Identifier: Apache-2.0
// FunctionTable: what frames of stacks are shown as: (image, symbol), or (image, why there is no symbol).
//
//   FunctionTable functions(profile, options);
//   const uint32_t function = functions.Of(profile.stack_nodes[node].location);
//   functions.Name(function), functions.ImageName(function)
//
// Applications do not tell functions apart: a stack has one of its own anyway. Names are made when first
// asked for, once each; not escaped. Requires: profile and options outlive this.
#ifndef KSAMP_LIB_REPORT_FUNCTIONS_H_
#define KSAMP_LIB_REPORT_FUNCTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ksamp/profile.h"
#include "ksamp/report.h"

namespace ksamp {

enum class FunctionKind : uint8_t {
  kUser,
  kKernel,     // modules and BPF with it
  kGenerated,  // code without a file
  kUnnamed,    // no symbol, whatever the image
  kLabel,      // no function: a thread's name
};

struct Function {
  uint32_t image = kNone32, symbol = kNone32;
  UnresolvedReason reason = UnresolvedReason::kNone;
  uint64_t vma = 0;  // of the symbol, as nm and objdump print it for the image's file; 0 without a symbol
  FunctionKind kind = FunctionKind::kUser;
};

class FunctionTable {
 public:
  FunctionTable(const Profile& profile, const ReportOptions& options);

  uint32_t Of(uint32_t location) const { return function_of_[location]; }
  // A frame that is none, with a name of its own; always a new one.
  uint32_t AddLabel(std::string name);

  size_t size() const { return functions_.size(); }
  const Function& Get(uint32_t function) const { return functions_[function]; }
  const std::string& Name(uint32_t function) const;       // demangled
  const std::string& ImageName(uint32_t function) const;  // of a label: empty
  // Whether `name` is its name, demangled or not.
  bool IsNamed(uint32_t function, const std::string& name) const;

 private:
  const Profile& profile_;
  const ReportOptions& options_;
  std::vector<Function> functions_;
  std::vector<uint32_t> function_of_;  // by location
  std::vector<std::string> images_;    // as printed
  mutable std::vector<std::string> names_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_REPORT_FUNCTIONS_H_
