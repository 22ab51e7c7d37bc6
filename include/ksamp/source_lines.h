// SPDX-License-Identifier: Apache-2.0
// SourceFrames: where in the source some addresses are, and which calls the compiler inlined there.
//
//   for (const SourceFrame& frame : found.source.Of(i))          // of address i, innermost first
//     std::cout << (frame.function == SourceFrame::kNone ? "??" :
//     found.source.functions[frame.function].name)
//               << " at " << found.source.files[frame.file] << ":" << frame.line << "\n";
//
// The first frame is the innermost inlined call and its line the address's own; the line of each other is
// that of the call of the frame before. The last is the function that holds the code. An address may have a
// line and no function (debug info of lines only), or nothing.
//
// Plain data.
#ifndef KSAMP_SOURCE_LINES_H_
#define KSAMP_SOURCE_LINES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace ksamp {

struct SourceFrame {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  uint32_t function = kNone;  // index into SourceFrames::functions
  uint32_t file = kNone;      // index into SourceFrames::files
  uint32_t line = 0;          // 0: the compiler names no line
  friend bool operator==(const SourceFrame&, const SourceFrame&) = default;
};

struct SourceFunction {
  std::string name;                    // as the symbol table has it where the debug info says so
  uint32_t file = SourceFrame::kNone;  // where it is declared, which tells static ones of one name apart
  uint32_t line = 0;
};

struct SourceFrames {
  std::vector<SourceFunction> functions;
  std::vector<std::string> files;  // absolute where the debug info says so; each once
  std::vector<SourceFrame> frames;
  std::vector<uint32_t> first;     // into `frames`, one per address and the end; empty: nothing was asked
  std::vector<std::string> notes;  // for people: what could not be read

  // Empty: the debug info says nothing of that address.
  std::span<const SourceFrame> Of(size_t address) const {
    if (address + 1 >= first.size()) return {};
    return std::span(frames).subspan(first[address], first[address + 1] - first[address]);
  }
};

}  // namespace ksamp

#endif  // KSAMP_SOURCE_LINES_H_
