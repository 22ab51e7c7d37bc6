// SPDX-License-Identifier: Apache-2.0
// Text helpers shared by several rooms: escaping what a recording brings, and "did you mean".
//
// Names in a recording are input (D10): a comm may hold an escape sequence, a path a newline.
#ifndef KSAMP_LIB_BASE_TEXT_H_
#define KSAMP_LIB_BASE_TEXT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ksamp {

// Control characters, marks that turn the writing direction, and bytes that are not UTF-8 become \xNN;
// everything else stays. Safe on a terminal.
std::string EscapeForTerminal(std::string_view text);
// The same, then & < > " ' as entities. Safe in XML, HTML and SVG, in text and in attributes.
std::string EscapeForXml(std::string_view text);
// One CSV field: quoted where it holds a comma, quote or line break; quotes doubled (RFC 4180). A leading = +
// - @ is left alone: these are program names, and readers that evaluate cells must not be fed untrusted
// files.
std::string EscapeForCsv(std::string_view text);

// The candidate nearest to `word` by edit distance (at most a third of its length, at least 1), for "did you
// mean".
std::optional<std::string> NearestWord(std::string_view word, std::span<const std::string> candidates);

// Shell-style match: * ? [set]; the whole text must match. No special treatment of '/' (as opreport's globs).
bool MatchesGlob(std::string_view pattern, std::string_view text);

// "79 864": digits in groups of three, for sentences meant for people (never for columns).
std::string GroupDigits(uint64_t value);
// "1.9 MB", "56.1 GB": decimal units, one decimal from KB on.
std::string HumanBytes(uint64_t bytes);

}  // namespace ksamp

#endif  // KSAMP_LIB_BASE_TEXT_H_
