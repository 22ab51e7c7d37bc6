// SPDX-License-Identifier: Apache-2.0
// TraceExpression: an argument of a tracepoint's `print fmt`, which is an expression of C over the fields.
//
//   std::string_view rest = R"(REC->vec, __print_symbolic(REC->vec, { 0, "HI" }, { 1, "TIMER" }))";
//   std::optional<TraceExpression> vec = TraceExpression::Parse(rest, fields);   // rest is behind it
//   vec->Evaluate(fields, raw).number
//
// Understood: numbers, texts, REC->field, arithmetic, comparisons, ?:, casts, __get_str, __get_dynamic_array,
// __print_flags, __print_symbolic. Not understood (Parse gives nothing): calls into the kernel, pointers,
// other __print_ macros. Names of constants that the kernel did not replace by numbers never match, as in
// libtraceevent. Nesting is bounded.
#ifndef KSAMP_LIB_EVENT_TRACE_EXPRESSION_H_
#define KSAMP_LIB_EVENT_TRACE_EXPRESSION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/event/trace_fields.h"

namespace ksamp {

struct TraceValue {
  uint64_t number = 0;
  std::string text;  // bytes of an array, too
  bool is_text = false;
};

class TraceExpression {
 public:
  // Takes the expression at the start of `rest`. The expression is valid for fields of the same format.
  static std::optional<TraceExpression> Parse(std::string_view& rest, const TraceFields& fields);

  TraceValue Evaluate(const TraceFields& fields, std::span<const std::byte> raw) const {
    return Evaluate(root_, fields, raw);
  }

 private:
  friend class TraceExpressionParser;
  enum class Kind { kNumber, kText, kField, kUnary, kBinary, kConditional, kCast, kFlags, kSymbolic };
  struct Node {
    Kind kind = Kind::kNumber;
    uint64_t number = 0;  // kNumber; kField: index; kCast: bits
    std::string text;     // kText; kFlags: the delimiter; kUnary and kBinary: the operator
    size_t children[3] = {};
    bool is_signed = false;                               // kCast
    std::vector<std::pair<uint64_t, std::string>> names;  // kFlags, kSymbolic
  };

  TraceValue Evaluate(size_t at, const TraceFields& fields, std::span<const std::byte> raw) const;

  std::vector<Node> nodes_;
  size_t root_ = 0;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_EVENT_TRACE_EXPRESSION_H_
