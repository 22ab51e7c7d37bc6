// SPDX-License-Identifier: Apache-2.0
#include "tools/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"

namespace ksamp {
namespace {

bool IsFlag(const CLI::Option& option) {
  return option.get_items_expected_max() == 0;
}

bool HasOptionalValue(const CLI::Option& option) {
  return !IsFlag(option) && option.get_items_expected_min() == 0;
}

// Whether `word` behind an option with an optional value is that value.
bool IsValueOf(CLI::Option& option, const std::string& word) {
  if (word.empty() || word[0] == '-') return false;
  try {
    return (*option.get_validator())(word).empty();
  } catch (const CLI::OptionNotFound&) {
    return true;  // No validator: any word that is no option.
  }
}

class Splitter {
 public:
  Splitter(CLI::App& app, std::span<const std::string> arguments, WordsAre words)
      : arguments_(arguments), words_are_(words) {
    for (CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) long_[name] = option;
      for (const std::string& name : option->get_snames()) short_[name[0]] = option;
    }
  }

  absl::StatusOr<SplitArguments> Run() {
    while (at_ < arguments_.size()) {
      const std::string& word = arguments_[at_++];
      if (word == "--") {
        TakeRest();
      } else if (word.starts_with("--")) {
        KSAMP_RETURN_IF_ERROR(TakeLong(word));
      } else if (word.size() > 1 && word[0] == '-') {
        KSAMP_RETURN_IF_ERROR(TakeShort(word));
      } else {
        split_.words.push_back(word);
        if (words_are_ == WordsAre::kCommand) TakeRest();
      }
    }
    return std::move(split_);
  }

 private:
  void TakeRest() {
    split_.words.insert(split_.words.end(), arguments_.begin() + static_cast<std::ptrdiff_t>(at_),
                        arguments_.end());
    at_ = arguments_.size();
  }

  absl::Status TakeLong(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    const auto found = long_.find(name);
    if (found == long_.end()) return UnknownLong(name);
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    if (value && IsFlag(*found->second))
      return absl::InvalidArgumentError(StrCat("option --", name, " takes no value"));
    return Take(*found->second, "--" + name, value);
  }

  // -dl, -lwp DIR, -lwpDIR, -g=fp.
  absl::Status TakeShort(const std::string& word) {
    for (size_t i = 1; i < word.size(); ++i) {
      const auto found = short_.find(word[i]);
      const std::string shown = {'-', word[i]};
      if (found == short_.end())
        return absl::InvalidArgumentError(
            StrCat("unknown option ", shown, i > 1 || word.size() > 2 ? StrCat(" in ", word) : ""));
      CLI::Option& option = *found->second;
      if (IsFlag(option)) {
        KSAMP_RETURN_IF_ERROR(Take(option, shown, std::nullopt));
        continue;
      }
      std::string rest = word.substr(i + 1);
      // -ga: what follows an option with an optional value is the value only where it can be one.
      if (HasOptionalValue(option) && !rest.empty() && rest[0] != '=' && !IsValueOf(option, rest)) {
        split_.options.push_back(Canonical(option, option.get_default_str()));
        continue;
      }
      if (rest.starts_with('=')) rest.erase(0, 1);
      return Take(option, shown, i + 1 == word.size() ? std::nullopt : std::optional(rest));
    }
    return absl::OkStatus();
  }

  absl::Status Take(CLI::Option& option, const std::string& shown, std::optional<std::string> value) {
    if (IsFlag(option)) {
      split_.options.push_back(Name(option));
      return absl::OkStatus();
    }
    if (!value && HasOptionalValue(option)) {
      const bool next = at_ < arguments_.size() && IsValueOf(option, arguments_[at_]);
      value = next ? arguments_[at_++] : option.get_default_str();
    } else if (!value && at_ < arguments_.size()) {
      value = arguments_[at_++];
    }
    if (!value || value->empty())
      return absl::InvalidArgumentError(StrCat("option ", shown, " needs a value"));
    split_.options.push_back(Canonical(option, *value));
    return absl::OkStatus();
  }

  static std::string Name(const CLI::Option& option) {
    return option.get_lnames().empty() ? "-" + option.get_snames().front()
                                       : "--" + option.get_lnames().front();
  }
  static std::string Canonical(const CLI::Option& option, const std::string& value) {
    return StrCat(Name(option), option.get_lnames().empty() ? "" : "=", value);
  }

  absl::Status UnknownLong(const std::string& name) const {
    std::vector<std::string> known;
    for (const auto& [candidate, option] : long_) known.push_back(candidate);
    const std::optional<std::string> near = NearestWord(name, known);
    return absl::InvalidArgumentError(
        StrCat("unknown option --", name, near ? StrCat("; did you mean --", *near, "?") : ""));
  }

  std::span<const std::string> arguments_;
  WordsAre words_are_;
  size_t at_ = 0;
  std::map<std::string, CLI::Option*> long_;
  std::map<char, CLI::Option*> short_;
  SplitArguments split_;
};

}  // namespace

absl::StatusOr<SplitArguments> Split(CLI::App& app, std::span<const std::string> arguments, WordsAre words) {
  return Splitter(app, arguments, words).Run();
}

}  // namespace ksamp
