// SPDX-License-Identifier: Apache-2.0
#include "lib/report/percent.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "ksamp/report.h"

namespace ksamp {
namespace {

constexpr size_t kWidth = 7;              // two digits, point, four digits
constexpr double kSmallestFixed = 0.001;  // below, four decimals would show too little

}  // namespace

void AppendBarePercent(double percent, std::string* out) {
  if (percent == 0) {
    out->push_back('0');
    return;
  }
  char text[64];
  const bool fixed = std::fabs(percent) > kSmallestFixed;
  const char* end =
      std::to_chars(text, text + sizeof(text), percent,
                    fixed ? std::chars_format::fixed : std::chars_format::scientific, fixed ? 4 : 1)
          .ptr;
  std::string_view digits(text, static_cast<size_t>(end - text));
  if (digits.starts_with("100.")) digits.remove_suffix(1);
  out->append(digits);
}

void AppendPercent(double percent, std::string* out) {
  const size_t begin = out->size();
  AppendBarePercent(percent, out);
  if (const size_t size = out->size() - begin; size < kWidth) out->insert(begin, kWidth - size, ' ');
}

std::string FormatPercent(double percent) {
  std::string text;
  AppendPercent(percent, &text);
  return text;
}

}  // namespace ksamp
