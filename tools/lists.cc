// SPDX-License-Identifier: Apache-2.0
#include "tools/lists.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

constexpr size_t kMaxNumbers = 65536;

std::optional<uint32_t> ParseNumber(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::vector<std::string> SplitCommas(std::span<const std::string> values) {
  std::vector<std::string> words;
  for (const std::string& value : values) {
    std::string word;
    for (size_t i = 0; i <= value.size(); ++i) {
      if (i == value.size() || value[i] == ',') {
        if (!word.empty()) words.push_back(std::move(word));
        word.clear();
      } else {
        if (value[i] == '\\' && i + 1 < value.size() && value[i + 1] == ',') ++i;
        word += value[i];
      }
    }
  }
  return words;
}

absl::StatusOr<std::vector<uint32_t>> ParseNumbers(std::span<const std::string> values,
                                                   std::string_view what) {
  std::vector<uint32_t> numbers;
  for (const std::string& word : SplitCommas(values)) {
    const size_t dash = word.find('-');
    const std::optional<uint32_t> first = ParseNumber(std::string_view(word).substr(0, dash));
    const std::optional<uint32_t> last =
        dash == std::string::npos ? first : ParseNumber(std::string_view(word).substr(dash + 1));
    if (!first || !last || *last < *first)
      return absl::InvalidArgumentError(StrCat(what, ": ", word, " is no number and no range like 0-3"));
    if (*last - *first >= kMaxNumbers - numbers.size())
      return absl::InvalidArgumentError(StrCat(what, ": more than ", kMaxNumbers, " numbers"));
    for (uint32_t n = *first; n <= *last && n >= *first; ++n) numbers.push_back(n);
  }
  return numbers;
}

absl::StatusOr<uint64_t> ParseNanoseconds(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  const double scale = unit.empty() || unit == "s" ? 1e9
                       : unit == "ms"              ? 1e6
                       : unit == "us"              ? 1e3
                       : unit == "ns"              ? 1
                                                   : 0;
  if (error != std::errc() || scale == 0 || !(value >= 0) || value * scale > 9.2e18)
    return absl::InvalidArgumentError(StrCat(text, " is no time like 1.5, 20ms or 7us"));
  return static_cast<uint64_t>(std::llround(value * scale));
}

}  // namespace ksamp
