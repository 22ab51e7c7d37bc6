// SPDX-License-Identifier: Apache-2.0
#include "lib/object/kallsyms.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include "lib/object/symbol_table.h"

namespace ksamp {
namespace {

constexpr uint64_t kPage = 4096;

constexpr uint8_t HexValue(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<uint8_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<uint8_t>(c - 'A' + 10);
  return 0xff;
}

struct HexTable {
  uint8_t value[256];
  constexpr HexTable() : value() {
    for (int c = 0; c < 256; ++c) value[c] = HexValue(static_cast<char>(c));
  }
};
constexpr HexTable kHex;

// Hex digits from `p` on, at most 16; `*end` is behind them. Nothing where there are none or too many.
std::optional<uint64_t> ParseHex(const char* p, const char* limit, const char** end) {
  uint64_t value = 0;
  const char* begin = p;
  for (; p < limit; ++p) {
    const uint8_t digit = kHex.value[static_cast<uint8_t>(*p)];
    if (digit == 0xff) break;
    value = value << 4 | digit;
  }
  *end = p;
  if (p == begin || p - begin > 16) return std::nullopt;
  return value;
}

bool IsTextType(char type) {
  return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

// The next blank-separated word of `line`, taken off it.
std::string_view TakeWord(std::string_view* line) {
  const size_t begin = std::min(line->find_first_not_of(" \t"), line->size());
  const size_t end = std::min(line->find_first_of(" \t", begin), line->size());
  const std::string_view word = line->substr(begin, end - begin);
  line->remove_prefix(end);
  return word;
}

template <typename Number>
std::optional<Number> ParseNumber(std::string_view word, int base) {
  if (base == 16 && word.starts_with("0x")) word.remove_prefix(2);
  Number value{};
  const auto result = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (result.ec != std::errc() || result.ptr != word.data() + word.size()) return std::nullopt;
  return value;
}

// Labels at the end of code, and the marks ARM and RISC-V put where code and literals begin.
bool IsOnlyABorder(std::string_view name) {
  return name == "_etext" || name == "_einittext" || name == "__init_end" || name.starts_with(".L") ||
         (name.size() >= 2 && name[0] == '$' && std::strchr("adtx", name[1]) != nullptr &&
          (name.size() == 2 || name[2] == '.'));
}

uint8_t Traits(char type) {
  uint8_t traits = 0;
  if (type == 'w' || type == 'W') traits |= kSymbolWeak;
  if (type == 'T') traits |= kSymbolGlobal;
  return traits;
}

}  // namespace

bool SameModuleName(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    const auto plain = [](char c) { return c == '-' || c == ',' ? '_' : c; };
    return plain(x) == plain(y);
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

std::vector<ModuleRange> ParseModuleRanges(std::string_view text) {
  std::vector<ModuleRange> modules;
  while (!text.empty()) {
    const size_t newline = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, newline);
    text.remove_prefix(std::min(newline + 1, text.size()));
    // name size references users state address
    const std::string_view name = TakeWord(&line), size_word = TakeWord(&line);
    TakeWord(&line);
    TakeWord(&line);
    TakeWord(&line);
    const auto size = ParseNumber<uint64_t>(size_word, 10);
    const auto start = ParseNumber<uint64_t>(TakeWord(&line), 16);
    if (name.empty() || !size || !start || *size > std::numeric_limits<uint64_t>::max() - *start) continue;
    modules.push_back({name, *start, *start + *size});
  }
  return modules;
}

Kallsyms Kallsyms::Parse(std::string_view text, std::vector<ModuleRange> modules) {
  Kallsyms table;
  table.text_ = text.substr(0, std::numeric_limits<uint32_t>::max());
  table.modules_ = std::move(modules);
  std::sort(table.modules_.begin(), table.modules_.end(),
            [](const ModuleRange& a, const ModuleRange& b) { return a.start < b.start; });
  table.entries_.reserve(table.text_.size() / 40);
  const char* const begin = table.text_.data();
  const char* const limit = begin + table.text_.size();
  uint64_t any = 0;
  for (const char* p = begin; p < limit;) {
    const char* end = p;
    const std::optional<uint64_t> address = ParseHex(p, limit, &end);
    // "address type name": at least " t x" must follow, on this line.
    if (address && limit - end >= 4 && end[0] == ' ' && end[1] != '\n' && end[2] == ' ') {
      table.entries_.push_back(
          {*address, static_cast<uint32_t>(end + 1 - begin), IsTextType(end[1]) ? 1u : 0u});
      any |= *address;
    }
    const void* newline = std::memchr(end, '\n', static_cast<size_t>(limit - end));
    p = newline == nullptr ? limit : static_cast<const char*>(newline) + 1;
  }
  table.hidden_ = !table.entries_.empty() && any == 0;
  if (table.hidden_) return table;
  table.Sort();
  table.etext_ = table.AddressOf("_etext").value_or(0);
  table.einittext_ = table.AddressOf("_einittext").value_or(0);
  return table;
}

// The kernel's own part comes sorted, the modules' after it does not: only that is sorted, then merged.
void Kallsyms::Sort() {
  const auto less = [](const Entry& a, const Entry& b) {
    return a.address != b.address ? a.address < b.address : a.position < b.position;
  };
  const auto middle = std::is_sorted_until(entries_.begin(), entries_.end(), less);
  if (middle == entries_.end()) return;
  std::sort(middle, entries_.end(), less);
  std::inplace_merge(entries_.begin(), middle, entries_.end(), less);
}

Kallsyms::Line Kallsyms::LineAt(const Entry& entry) const {
  std::string_view line = text_.substr(entry.position);
  line = line.substr(0, line.find('\n'));
  const char type = line[0];
  line.remove_prefix(2);
  const std::string_view name = TakeWord(&line);
  std::string_view module = TakeWord(&line);
  if (module.size() >= 2 && module.front() == '[' && module.back() == ']') {
    module = module.substr(1, module.size() - 2);
  } else {
    module = {};
  }
  return {type, name, module};
}

bool Kallsyms::OwnsCode(const Entry& entry, const Line& line) const {
  // Other labels stand at _etext too (__indirect_thunk_end); what follows it is data.
  const bool behind_code = etext_ != 0 && entry.address == etext_ && line.module.empty();
  return entry.is_text != 0 && !behind_code && !line.name.empty() && !IsOnlyABorder(line.name);
}

const ModuleRange* Kallsyms::ModuleAt(uint64_t address) const {
  auto after = std::upper_bound(modules_.begin(), modules_.end(), address,
                                [](uint64_t a, const ModuleRange& module) { return a < module.start; });
  if (after == modules_.begin()) return nullptr;
  const ModuleRange& module = *--after;
  return address < module.end ? &module : nullptr;
}

uint64_t Kallsyms::EndOf(size_t group_end, uint64_t start, const Line& line) const {
  uint64_t end =
      group_end < entries_.size() ? entries_[group_end].address : std::numeric_limits<uint64_t>::max();
  if (line.module.empty()) {
    if (start < etext_) end = std::min(end, etext_);
    if (start < einittext_) end = std::min(end, einittext_);
  } else if (const ModuleRange* module = ModuleAt(start); module != nullptr) {
    end = std::min(end, module->end);
  }
  if (end == std::numeric_limits<uint64_t>::max()) end = (start | (kPage - 1)) + 1;
  return end;
}

std::optional<Kallsyms::Match> Kallsyms::Find(uint64_t address) const {
  if (hidden_) return std::nullopt;
  const auto after = std::upper_bound(entries_.begin(), entries_.end(), address,
                                      [](uint64_t a, const Entry& entry) { return a < entry.address; });
  const auto group_end = static_cast<size_t>(after - entries_.begin());
  // Mapping symbols stand between functions without ending one: step over groups that are nothing else.
  size_t index = group_end;
  constexpr int kMaxSteps = 256;
  for (int step = 0; step < kMaxSteps && index > 0; ++step) {
    const uint64_t start = entries_[index - 1].address;
    const size_t end = index;
    const Entry* best = nullptr;
    Line best_line{};
    bool only_marks = true;
    for (; index > 0 && entries_[index - 1].address == start; --index) {
      const Entry& entry = entries_[index - 1];
      const Line line = LineAt(entry);
      only_marks = only_marks && line.name.starts_with('$');
      if (!OwnsCode(entry, line)) continue;
      if (best == nullptr ||
          IsBetterSymbolName(line.name, Traits(line.type), best_line.name, Traits(best_line.type))) {
        best = &entry;
        best_line = line;
      }
    }
    if (best == nullptr && only_marks) continue;
    if (best == nullptr) return std::nullopt;
    const uint64_t limit = EndOf(step == 0 ? end : group_end, start, best_line);
    if (address >= limit && limit > start) return std::nullopt;
    return Match{best_line.name, best_line.module, start, limit - start,
                 static_cast<uint32_t>(best - entries_.data())};
  }
  return std::nullopt;
}

std::optional<uint64_t> Kallsyms::AddressOf(std::string_view name, std::string_view module) const {
  size_t at = 0;
  while (!name.empty() && (at = text_.find(name, at)) != std::string_view::npos) {
    const size_t line_begin = text_.rfind('\n', at) + 1;  // npos + 1 is 0
    const char* end = nullptr;
    const char* limit = text_.data() + text_.size();
    const std::optional<uint64_t> address = ParseHex(text_.data() + line_begin, limit, &end);
    const auto type_at = static_cast<size_t>(end - text_.data()) + 1;
    if (address && type_at + 2 == at) {
      const Line line = LineAt({*address, static_cast<uint32_t>(type_at), 0});
      if (line.name == name && SameModuleName(line.module, module)) return address;
    }
    at += name.size();
  }
  return std::nullopt;
}

bool Kallsyms::HasModule(std::string_view module) const {
  return std::any_of(entries_.rbegin(), entries_.rend(), [&](const Entry& entry) {
    return entry.is_text != 0 && SameModuleName(LineAt(entry).module, module);
  });
}

}  // namespace ksamp
