// SPDX-License-Identifier: Apache-2.0
// PerfMap: the text of a perf-PID.map, searched by address. Pure: text in, answers out.
//
// Programs that generate code (V8, the JVM's agents, .NET, LuaJIT, …) write one line per function into
// /tmp/perf-PID.map, in the numbers of their own pid namespace:
//
//   7f3a10000000 2c0 LazyCompile:*fib /srv/app.js:12
//   start        size name, which may hold blanks and reaches to the end of the line
//
//   PerfMap map = PerfMap::Parse(std::move(text));
//   if (auto match = map.Find(0x7f3a10000010)) std::cout << match->name;
//
// The file only grows and carries no times: memory that was used again has two lines. Where lines overlap,
// the later one owns what it covers and the earlier one keeps the rest:
//
//   line 1   [ first            )
//   line 2         [ second )           ->   [first)[second)[first)
//
// perf searches a tree by start address and answers with whichever line the tree's shape leads to
// (doc/differences.md).
//
// Input is hostile (anyone may write below /tmp): a damaged line is left out and counted; there are never
// more pieces than three per line; a name ends at a NUL, as it does for perf. Memory: the text, and 24 bytes
// per piece.
//
// Immutable; any number of threads may ask.
#ifndef KSAMP_LIB_OBJECT_PERF_MAP_H_
#define KSAMP_LIB_OBJECT_PERF_MAP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ksamp {

class PerfMap {
 public:
  // More than any runtime is known to write; a longer text has no more lines than these bytes hold.
  static constexpr size_t kMaxTextBytes = size_t{64} << 20;

  struct Match {
    std::string_view name;  // lives as long as the map
    uint64_t start = 0, size = 0;
    uint32_t id = 0;  // the same for each address of this line
  };

  // What lies behind kMaxTextBytes is left out.
  static PerfMap Parse(std::string text);

  std::optional<Match> Find(uint64_t address) const;
  bool empty() const { return lines_.empty(); }
  size_t size() const { return lines_.size(); }  // lines that name something
  size_t damaged_lines() const { return damaged_; }

 private:
  struct Line {
    uint64_t start = 0, end = 0;
    uint32_t name = 0, name_size = 0;  // in text_
  };
  struct Piece {
    uint64_t start, end;
    uint32_t line;
  };
  bool ParseLine(std::string_view line, size_t offset);
  void Layer();
  void AddPiece(uint64_t start, uint64_t end, uint32_t line);

  std::string text_;
  std::vector<Line> lines_;
  std::vector<Piece> pieces_;  // disjoint, ascending
  size_t damaged_ = 0;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_PERF_MAP_H_
