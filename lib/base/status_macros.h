// SPDX-License-Identifier: Apache-2.0
// Return early on an error, for code written with absl::Status.
//
//   KSAMP_RETURN_IF_ERROR(writer.Append(bytes));
//   KSAMP_ASSIGN_OR_RETURN(MappedRegion file, MappedRegion::MapFile(path));
#ifndef KSAMP_LIB_BASE_STATUS_MACROS_H_
#define KSAMP_LIB_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define KSAMP_RETURN_IF_ERROR(expression)                                                  \
  do {                                                                                     \
    if (absl::Status ksamp_status = (expression); !ksamp_status.ok()) return ksamp_status; \
  } while (false)

#define KSAMP_MACRO_JOIN_(a, b) a##b
#define KSAMP_MACRO_JOIN(a, b) KSAMP_MACRO_JOIN_(a, b)

#define KSAMP_ASSIGN_OR_RETURN(declaration, expression) \
  KSAMP_ASSIGN_OR_RETURN_(KSAMP_MACRO_JOIN(ksamp_statusor_, __LINE__), declaration, expression)
#define KSAMP_ASSIGN_OR_RETURN_(statusor, declaration, expression) \
  auto statusor = (expression);                                    \
  if (!statusor.ok()) return std::move(statusor).status();         \
  declaration = *std::move(statusor)

#endif  // KSAMP_LIB_BASE_STATUS_MACROS_H_
