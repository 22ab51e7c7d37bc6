// SPDX-License-Identifier: Apache-2.0
#include "lib/object/utf8.h"

#include <algorithm>
#include <vector>

namespace ksamp {
namespace {

constexpr uint64_t kBase = 36, kThresholdMin = 1, kThresholdMax = 26, kMaxCodePoint = 0x10ffff;
constexpr size_t kMaxCodePoints = 256;  // inserting is quadratic; identifiers are short

std::optional<uint64_t> Digit(char c) {
  if (c >= 'a' && c <= 'z') return static_cast<uint64_t>(c - 'a');
  if (c >= '0' && c <= '9') return static_cast<uint64_t>(c - '0') + 26;
  return std::nullopt;
}

// The bias adaptation of RFC 3492 §6.1.
uint64_t Adapt(uint64_t delta, uint64_t points, bool first) {
  delta = first ? delta / 700 : delta / 2;
  delta += delta / points;
  uint64_t k = 0;
  for (; delta > (kBase - kThresholdMin) * kThresholdMax / 2; k += kBase) delta /= kBase - kThresholdMin;
  return k + (kBase - kThresholdMin + 1) * delta / (delta + 38);
}

// One variable-length number, taken off `text`.
std::optional<uint64_t> TakeDelta(std::string_view* text, uint64_t bias) {
  uint64_t delta = 0, weight = 1;
  for (uint64_t k = kBase;; k += kBase) {
    if (text->empty()) return std::nullopt;
    const std::optional<uint64_t> digit = Digit(text->front());
    if (!digit || weight > (uint64_t{1} << 40)) return std::nullopt;
    text->remove_prefix(1);
    delta += *digit * weight;
    const uint64_t threshold = k <= bias ? kThresholdMin : std::min(k - bias, kThresholdMax);
    if (*digit < threshold) return delta;
    weight *= kBase - threshold;
  }
}

}  // namespace

void AppendUtf8(std::string* out, uint32_t c) {
  const auto put = [out](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
    return;
  }
  if (c < 0x800) {
    put(0xc0 | c >> 6);
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3f));
  } else {
    put(0xf0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3f));
    put(0x80 | (c >> 6 & 0x3f));
  }
  put(0x80 | (c & 0x3f));
}

std::optional<std::string> DecodePunycode(std::string_view text) {
  std::vector<uint32_t> points;
  if (const size_t split = text.rfind('_'); split != std::string_view::npos) {
    points.assign(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(split));
    text.remove_prefix(split + 1);
  }
  uint64_t point = 128, at = 0, bias = 72;
  for (bool first = true; !text.empty(); first = false) {
    const std::optional<uint64_t> delta = TakeDelta(&text, bias);
    if (!delta || points.size() >= kMaxCodePoints) return std::nullopt;
    const uint64_t count = points.size() + 1;
    at += *delta;
    point += at / count;
    at %= count;
    if (point > kMaxCodePoint) return std::nullopt;
    points.insert(points.begin() + static_cast<std::ptrdiff_t>(at), static_cast<uint32_t>(point));
    bias = Adapt(*delta, count, first);
    ++at;
  }
  std::string decoded;
  for (uint32_t c : points) AppendUtf8(&decoded, c);
  return decoded;
}

}  // namespace ksamp
