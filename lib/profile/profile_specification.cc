// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "ksamp/profile.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

// "a,b\,c" -> "a", "b,c".
std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> parts(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      parts.back().push_back(text[++i]);
    } else if (text[i] == ',') {
      parts.emplace_back();
    } else {
      parts.back().push_back(text[i]);
    }
  }
  return parts;
}

absl::Status AppendNumbers(std::string_view tag, const std::vector<std::string>& parts,
                           std::vector<uint32_t>& numbers) {
  for (const std::string& part : parts) {
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size())
      return absl::InvalidArgumentError(
          StrCat("profile specification ", tag, ": \"", part, "\" is no number"));
    numbers.push_back(number);
  }
  return absl::OkStatus();
}

void Append(const std::vector<std::string>& parts, std::vector<std::string>& list) {
  list.insert(list.end(), parts.begin(), parts.end());
}

enum class Tag { kNone, kImage, kImageExclude, kLibImage, kEvent, kCpu, kTid, kTgid, kForeign };

Tag TagNamed(std::string_view name) {
  static constexpr struct {
    std::string_view name;
    Tag tag;
  } kTags[] = {{"image", Tag::kImage},
               {"image-exclude", Tag::kImageExclude},
               {"lib-image", Tag::kLibImage},
               {"event", Tag::kEvent},
               {"cpu", Tag::kCpu},
               {"tid", Tag::kTid},
               {"tgid", Tag::kTgid},
               {"session", Tag::kForeign},
               {"archive", Tag::kForeign},
               {"session-exclude", Tag::kForeign},
               {"count", Tag::kForeign},
               {"unit-mask", Tag::kForeign}};
  for (const auto& known : kTags)
    if (known.name == name) return known.tag;
  return Tag::kNone;
}

absl::Status ParseTagged(Tag tag, std::string_view name, std::string_view value, ProfileOptions& options,
                         SymbolFilters& filters) {
  if (tag == Tag::kForeign)
    return absl::InvalidArgumentError(StrCat("profile specification ", name,
                                             ": a recording has no such thing; name the recording with -i"));
  if (value.empty())
    return absl::InvalidArgumentError(StrCat("profile specification ", name, ": empty value"));
  const std::vector<std::string> parts = SplitList(value);
  for (const std::string& part : parts)
    if (part.empty())
      return absl::InvalidArgumentError(
          StrCat("profile specification ", name, ": empty element in its list"));
  switch (tag) {
    case Tag::kCpu:
      return AppendNumbers(name, parts, options.cpus);
    case Tag::kTid:
      return AppendNumbers(name, parts, options.tids);
    case Tag::kTgid:
      return AppendNumbers(name, parts, options.pids);
    case Tag::kEvent:
      Append(parts, options.events);
      break;
    case Tag::kLibImage:
      Append(parts, filters.images);
      break;
    case Tag::kImageExclude:
      Append(parts, filters.exclude_images);
      break;
    default:
      Append(parts, filters.apps);
      break;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ParseProfileSpecification(const std::vector<std::string>& words, ProfileOptions& options,
                                       SymbolFilters& filters) {
  std::set<std::string_view> seen;
  for (const std::string& word : words) {
    if (word.empty()) return absl::InvalidArgumentError("profile specification: empty word");
    if (!seen.insert(word).second)
      return absl::InvalidArgumentError(
          StrCat("profile specification ", word, ": tag specified more than once"));
    const size_t colon = word.find(':');
    const std::string_view name = std::string_view(word).substr(0, colon);
    const Tag tag = colon == word.npos ? Tag::kNone : TagNamed(name);
    if (tag == Tag::kNone) {
      filters.apps.push_back(word);
      continue;
    }
    KSAMP_RETURN_IF_ERROR(ParseTagged(tag, name, std::string_view(word).substr(colon + 1), options, filters));
  }
  return absl::OkStatus();
}

}  // namespace ksamp
