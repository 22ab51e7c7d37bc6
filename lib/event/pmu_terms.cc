// SPDX-License-Identifier: Apache-2.0
#include "lib/event/pmu_terms.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "lib/event/event_table.h"
#include "lib/event/perf_constants.h"

namespace ksamp {
namespace {

constexpr int kHybridTypeShift = 32;

struct Term {
  std::string_view name, value;
  bool has_value = false;
  size_t at = 0;
};

std::vector<Term> SplitTerms(std::string_view text) {
  std::vector<Term> terms;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string_view piece = text.substr(at, end - at);
    const size_t equals = piece.find('=');
    Term term{piece.substr(0, equals), {}, equals != std::string_view::npos, at};
    if (term.has_value) term.value = piece.substr(equals + 1);
    terms.push_back(term);
    at = end + 1;
  }
  return terms;
}

std::string_view WithoutQuotes(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0];
  return quoted ? text.substr(1, text.size() - 2) : text;
}

uint64_t& WordOf(EventSpec& spec, int word) {
  uint64_t* const words[] = {&spec.config, &spec.config1, &spec.config2, &spec.config3};
  return *words[word & 3];
}

// Replaces the term's bits in its word by those of `value`; the rest of `value` is returned: not zero means
// it was too large.
uint64_t PlaceBits(const PmuTerm& term, uint64_t value, uint64_t& word) {
  for (const auto& [first, last] : term.bit_ranges) {
    if (first < 0 || last < first || last > 63) continue;
    const int width = last - first + 1;
    const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    word = (word & ~(mask << first)) | (value & mask) << first;
    value = width == 64 ? 0 : value >> width;
  }
  return value;
}

class TermApplier {
 public:
  TermApplier(const Pmu& pmu, bool hybrid, EventSpec& spec) : pmu_(pmu), hybrid_(hybrid), spec_(spec) {}

  // `inside_alias`: text from the machine's events folder, where aliases are not looked up again.
  std::optional<TermError> ApplyAll(std::string_view text, bool inside_alias) {
    for (const Term& term : SplitTerms(text)) {
      std::string problem = term.has_value ? ApplyValue(term) : ApplyWord(term, inside_alias);
      if (!problem.empty()) return TermError{term.at, std::move(problem)};
    }
    return std::nullopt;
  }

 private:
  // NAME=VALUE. Returns what is wrong, or nothing.
  std::string ApplyValue(const Term& term) {
    if (term.name == "name") {
      if (term.value.empty()) return "name= needs a name";
      spec_.name = std::string(WithoutQuotes(term.value));
      return "";
    }
    if (term.value == "?") return StrCat("term ", term.name, " needs a value: ", term.name, "=NUMBER");
    const std::optional<uint64_t> value = ParseEventNumber(term.value);
    if (std::string problem; ApplyCommonTerm(term, value, &problem)) return problem;
    const PmuTerm* format = FindFormat(term.name);
    if (format == nullptr) return UnknownTerm(term.name);
    if (!value) return NotANumber(term);
    return Place(*format, *value);
  }

  // Terms every PMU has. False: not one of them.
  bool ApplyCommonTerm(const Term& term, std::optional<uint64_t> value, std::string* problem) {
    const bool is_rate = term.name == "period" || term.name == "freq";
    const bool is_word =
        term.name == "config" || term.name == "config1" || term.name == "config2" || term.name == "config3";
    if (!is_rate && !is_word) return false;
    if (!value) {
      *problem = NotANumber(term);
    } else if (is_rate && *value == 0) {
      *problem = StrCat(term.name, " must not be 0");
    } else if (is_word) {
      WordOf(spec_, term.name.size() == 6 ? 0 : term.name.back() - '0') = *value;
    } else {
      spec_.period.reset();
      spec_.frequency.reset();
      (term.name == "period" ? spec_.period : spec_.frequency) = value;
    }
    return true;
  }

  // A word alone: an alias, a generic event, rNNN, or a flag.
  std::string ApplyWord(const Term& term, bool inside_alias) {
    if (term.name.empty()) return "a term is missing";
    for (const Pmu::Alias& alias : pmu_.aliases) {
      if (inside_alias || alias.name != term.name) continue;
      const std::optional<TermError> error = ApplyAll(alias.terms, true);
      return error ? StrCat("event ", alias.name, " of ", pmu_.name, ": ", error->message) : "";
    }
    if (!inside_alias && pmu_.core && ApplyGenericEvent(pmu_, term.name, hybrid_, spec_)) return "";
    if (const PmuTerm* format = FindFormat(term.name)) return Place(*format, 1);
    const std::optional<uint64_t> raw =
        term.name[0] == 'r' ? ParseEventNumber(StrCat("0x", term.name.substr(1))) : std::nullopt;
    if (!raw) return UnknownTerm(term.name);
    spec_.config = *raw;
    return "";
  }

  std::string Place(const PmuTerm& format, uint64_t value) {
    if (PlaceBits(format, value, WordOf(spec_, format.word)) == 0) return "";
    return StrCat("value ", Hex(value), " is too large for term ", format.name, " of ", pmu_.name);
  }

  const PmuTerm* FindFormat(std::string_view name) const {
    const auto found = std::find_if(pmu_.terms.begin(), pmu_.terms.end(),
                                    [&](const PmuTerm& term) { return term.name == name; });
    return found == pmu_.terms.end() ? nullptr : &*found;
  }

  static std::string NotANumber(const Term& term) {
    return StrCat("term ", term.name, ": '", term.value, "' is no number");
  }

  std::string UnknownTerm(std::string_view name) const {
    std::vector<std::string> known = {"config", "config1", "config2", "config3", "freq", "name", "period"};
    for (const PmuTerm& term : pmu_.terms) known.push_back(term.name);
    for (const Pmu::Alias& alias : pmu_.aliases) known.push_back(alias.name);
    const std::optional<std::string> nearest = NearestWord(name, known);
    return StrCat("PMU ", pmu_.name, " has no term or event '", name, "'",
                  nearest ? StrCat("; did you mean '", *nearest, "'?") : "");
  }

  const Pmu& pmu_;
  const bool hybrid_;
  EventSpec& spec_;
};

}  // namespace

std::optional<uint64_t> ParseEventNumber(std::string_view text) {
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (hex) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<TermError> ApplyPmuTerms(const Pmu& pmu, std::string_view terms, bool hybrid, EventSpec& spec) {
  std::optional<TermError> error = TermApplier(pmu, hybrid, spec).ApplyAll(terms, false);
  if (!error && spec.config3 != 0 && sizeof(perf_event_attr) < kAttrSizeVer8)
    error = TermError{0, "config3 needs a newer kernel interface than ksamp was built with"};
  return error;
}

bool ApplyGenericEvent(const Pmu& pmu, std::string_view name, bool hybrid, EventSpec& spec) {
  const GenericEvent* generic = FindGenericEvent(name);
  if (generic != nullptr && generic->type == PERF_TYPE_HARDWARE) {
    spec.type = PERF_TYPE_HARDWARE;
    spec.config = generic->config;
  } else if (const std::optional<uint64_t> cache = ParseCacheEvent(name)) {
    spec.type = PERF_TYPE_HW_CACHE;
    spec.config = *cache;
  } else {
    return false;
  }
  if (hybrid) spec.config |= uint64_t{pmu.type} << kHybridTypeShift;
  return true;
}

}  // namespace ksamp
