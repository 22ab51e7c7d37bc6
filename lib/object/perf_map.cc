// SPDX-License-Identifier: Apache-2.0
#include "lib/object/perf_map.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <queue>
#include <utility>

#include "lib/base/checked_math.h"

namespace ksamp {
namespace {

constexpr std::string_view kBlanks = " \t\r";

// Takes a hexadecimal number, with or without 0x, and the blanks behind it off the front.
std::optional<uint64_t> TakeHex(std::string_view& text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  const size_t blanks = std::min(text.find_first_not_of(kBlanks), text.size());
  if (blanks == 0) return std::nullopt;
  text.remove_prefix(blanks);
  return value;
}

}  // namespace

PerfMap PerfMap::Parse(std::string text) {
  PerfMap map;
  if (text.size() > kMaxTextBytes) text.resize(kMaxTextBytes);
  map.text_ = std::move(text);
  const std::string_view all = map.text_;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find('\n', at), all.size());
    if (end > at && !map.ParseLine(all.substr(at, end - at), at)) ++map.damaged_;
    at = end + 1;
  }
  map.Layer();
  return map;
}

bool PerfMap::ParseLine(std::string_view line, size_t offset) {
  std::string_view rest = line.substr(0, line.find('\0'));
  const std::optional<uint64_t> start = TakeHex(rest);
  const std::optional<uint64_t> size = start ? TakeHex(rest) : std::nullopt;
  if (!size || *size == 0) return false;
  const std::optional<uint64_t> end = CheckedAdd(*start, *size);
  rest = rest.substr(0, rest.find_last_not_of(kBlanks) + 1);
  if (!end || rest.empty()) return false;
  const size_t name = offset + static_cast<size_t>(rest.data() - line.data());
  lines_.push_back({*start, *end, static_cast<uint32_t>(name), static_cast<uint32_t>(rest.size())});
  return true;
}

// A sweep over all starts and ends: between two of them, the latest of the lines that are open owns the
// memory.
void PerfMap::Layer() {
  std::vector<uint32_t> by_start(lines_.size());
  std::iota(by_start.begin(), by_start.end(), uint32_t{0});
  std::sort(by_start.begin(), by_start.end(),
            [this](uint32_t a, uint32_t b) { return lines_[a].start < lines_[b].start; });
  std::priority_queue<uint32_t> open;  // the latest on top; some have ended already
  uint64_t at = 0;
  for (size_t next = 0; next < by_start.size() || !open.empty();) {
    while (!open.empty() && lines_[open.top()].end <= at) open.pop();
    if (open.empty()) {
      if (next == by_start.size()) break;
      at = lines_[by_start[next]].start;
    }
    while (next < by_start.size() && lines_[by_start[next]].start <= at) open.push(by_start[next++]);
    const uint32_t owner = open.top();
    uint64_t end = lines_[owner].end;
    if (next < by_start.size()) end = std::min(end, lines_[by_start[next]].start);
    if (end > at) AddPiece(at, end, owner);
    at = std::max(at, end);
  }
}

void PerfMap::AddPiece(uint64_t start, uint64_t end, uint32_t line) {
  if (!pieces_.empty() && pieces_.back().line == line && pieces_.back().end == start) {
    pieces_.back().end = end;
  } else {
    pieces_.push_back({start, end, line});
  }
}

std::optional<PerfMap::Match> PerfMap::Find(uint64_t address) const {
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), address,
                                      [](uint64_t a, const Piece& piece) { return a < piece.start; });
  if (after == pieces_.begin()) return std::nullopt;
  const Piece& piece = *std::prev(after);
  if (address >= piece.end) return std::nullopt;
  const Line& line = lines_[piece.line];
  return Match{std::string_view(text_).substr(line.name, line.name_size), line.start, line.end - line.start,
               piece.line};
}

}  // namespace ksamp
