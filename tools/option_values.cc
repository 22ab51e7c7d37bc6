// SPDX-License-Identifier: Apache-2.0
#include "tools/option_values.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "lib/base/checked_math.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

constexpr size_t kMaxNumbers = 65'536;
constexpr double kLongestSeconds = 1e9;

template <typename T>
std::optional<T> WholeNumber(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

absl::Status Bad(std::string_view what, std::string_view text) {
  return absl::InvalidArgumentError(StrCat("'", text, "' is no ", what));
}

}  // namespace

absl::StatusOr<std::vector<int>> ParseNumberList(std::string_view text) {
  std::vector<int> numbers;
  for (std::string_view rest = text;;) {
    const std::string_view piece = rest.substr(0, rest.find(','));
    const size_t dash = piece.find('-');
    const std::optional<int> first = WholeNumber<int>(piece.substr(0, dash));
    const std::optional<int> last =
        dash == std::string_view::npos ? first : WholeNumber<int>(piece.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first) return Bad("list of numbers", text);
    if (static_cast<size_t>(*last - *first) >= kMaxNumbers - numbers.size())
      return Bad("list of numbers", text);
    for (int number = *first; number <= *last; ++number) numbers.push_back(number);
    if (piece.size() == rest.size()) break;
    rest.remove_prefix(piece.size() + 1);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

absl::StatusOr<uint64_t> ParseSize(std::string_view text) {
  std::string_view digits = text;
  if (digits.ends_with('B')) digits.remove_suffix(1);
  uint64_t unit = 1;
  constexpr std::string_view kUnits = "KMGT";
  if (!digits.empty()) {
    const size_t power = kUnits.find(static_cast<char>(digits.back() & ~0x20));
    if (power != std::string_view::npos) {
      unit = uint64_t{1} << (10 * (power + 1));
      digits.remove_suffix(1);
    }
  }
  const std::optional<uint64_t> number = WholeNumber<uint64_t>(digits);
  const std::optional<uint64_t> bytes = number ? CheckedMultiply(*number, unit) : std::nullopt;
  if (!bytes) return Bad("size (64K, 10M, 2G)", text);
  return *bytes;
}

absl::StatusOr<std::chrono::nanoseconds> ParseDuration(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};
  std::string_view digits = text;
  double unit = 1;
  for (const auto& [suffix, seconds] : kUnits) {
    if (!digits.ends_with(suffix)) continue;
    digits.remove_suffix(suffix.size());
    unit = seconds;
    break;
  }
  const std::optional<double> number = WholeNumber<double>(digits);
  if (!number || !(*number >= 0) || *number * unit > kLongestSeconds)
    return Bad("duration (10, 0.5, 500ms, 5m)", text);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(*number * unit));
}

}  // namespace ksamp
