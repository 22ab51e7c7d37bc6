// SPDX-License-Identifier: Apache-2.0
// TraceFormat: what the raw bytes of a tracepoint's samples say, as text.
//
//   std::optional<TraceFormat> format = TraceFormat::Parse(text_of_the_format_file, foreign);
//   format->id();                       // perf_event_attr.config of its event
//   format->AppendText(sample.raw, out);       // "prev_comm=gzip prev_pid=7 … ==> next_comm=swapper/0 …"
//
// The text follows the format's own `print fmt` where all of it is understood (trace_expression.h; %d and its
// kin, %s, %c, %p, %pI4, %pI6, %pM), else it is " field=value" of every field. Addresses of the kernel that
// the kernel would print as names (%pS, %pf) are printed as numbers.
#ifndef KSAMP_LIB_EVENT_TRACE_FORMAT_H_
#define KSAMP_LIB_EVENT_TRACE_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/event/trace_expression.h"
#include "lib/event/trace_fields.h"

namespace ksamp {

class TraceFormat {
 public:
  // `foreign`: the samples come in the other byte order. Nothing: the text describes no tracepoint.
  static std::optional<TraceFormat> Parse(std::string_view text, bool foreign = false);

  uint64_t id() const { return id_; }
  const std::string& name() const { return name_; }  // without its system
  bool follows_print_format() const { return !pieces_.empty(); }

  void AppendText(std::span<const std::byte> raw, std::string& out) const;

 private:
  // Literal text, then one conversion of the printf kind.
  struct Piece {
    std::string literal;
    std::string flags;    // between % and the length: "-08.3"
    std::string pointer;  // behind %p: "I4"
    char conversion = 0;  // 0: none
    unsigned bits = 32;
    std::optional<TraceExpression> argument;
  };

  bool ParsePrintFormat(std::string_view text);
  static std::optional<std::vector<Piece>> SplitFormat(std::string_view format);
  void AppendPiece(const Piece& piece, std::span<const std::byte> raw, std::string& out) const;
  void AppendFields(std::span<const std::byte> raw, std::string& out) const;

  explicit TraceFormat(bool foreign) : fields_(foreign) {}
  uint64_t id_ = 0;
  std::string name_;
  TraceFields fields_;
  std::vector<Piece> pieces_;  // empty: the print format is not understood
};

}  // namespace ksamp

#endif  // KSAMP_LIB_EVENT_TRACE_FORMAT_H_
