// SPDX-License-Identifier: Apache-2.0
#include "lib/object/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "lib/object/rust_v0.h"
#include "lib/object/utf8.h"

namespace ksamp {
namespace {

struct Free {
  void operator()(char* p) const { std::free(p); }  // NOLINT: what __cxa_demangle returns is malloc'ed
};

// "17h0123456789abcdef" at the end of a Rust legacy path, with the E behind it.
bool HasRustHash(std::string_view demangled) {
  constexpr size_t kHash = 19;  // "::h" and 16 digits
  if (demangled.size() <= kHash) return false;
  const std::string_view tail = demangled.substr(demangled.size() - kHash);
  return tail.starts_with("::h") && std::all_of(tail.begin() + 3, tail.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

struct Escape {
  std::string_view code, text;
};
constexpr Escape kRustEscapes[] = {{"SP", "@"}, {"BP", "*"}, {"RF", "&"}, {"LT", "<"},
                                   {"GT", ">"}, {"LP", "("}, {"RP", ")"}, {"C", ","}};

// "$LT$", "$u7b$": appends what it stands for; false where it stands for nothing.
bool AppendRustEscape(std::string_view code, std::string* out) {
  for (const Escape& escape : kRustEscapes) {
    if (escape.code == code) {
      out->append(escape.text);
      return true;
    }
  }
  if (code.size() < 2 || code.size() > 7 || code[0] != 'u') return false;
  uint32_t value = 0;
  for (char c : code.substr(1)) {
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
    value = value * 16 + static_cast<uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  if (value < 0x20 || value == 0x7f || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return false;
  AppendUtf8(out, value);
  return true;
}

// A Rust legacy name is an Itanium nested name with a hash, and its own escapes inside of identifiers.
std::string RustLegacy(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  bool begins = true;  // of an identifier: "_$LT$" hides that one cannot begin with '$'
  while (!path.empty()) {
    if (begins && path.starts_with("_$")) path.remove_prefix(1);
    begins = false;
    if (path.starts_with("..")) {
      out.append("::");
      path.remove_prefix(2);
    } else if (path.starts_with("::")) {
      out.append("::");
      path.remove_prefix(2);
      begins = true;
    } else if (const size_t close = path.find('$', 1); path[0] == '$' && close != std::string_view::npos &&
                                                       AppendRustEscape(path.substr(1, close - 1), &out)) {
      path.remove_prefix(close + 1);
    } else {
      out.push_back(path[0]);
      path.remove_prefix(1);
    }
  }
  return out;
}

std::optional<std::string> Itanium(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, Free> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status));
  if (status != 0 || text == nullptr) return std::nullopt;
  std::string demangled(text.get());
  if (demangled.size() > kMaxDemangledBytes) return std::nullopt;
  if (HasRustHash(demangled)) {
    demangled.resize(demangled.size() - 19);
    return RustLegacy(demangled);
  }
  return demangled;
}

void ReplaceAll(std::string* text, std::string_view from, std::string_view to) {
  std::string out;
  size_t begin = 0;
  for (size_t at; (at = text->find(from, begin)) != std::string::npos; begin = at + from.size()) {
    out.append(*text, begin, at - begin).append(to);
  }
  *text = out.append(*text, begin);
}

// Template arguments that are nearly always the default, as they begin.
constexpr std::string_view kDefaultArguments[] = {", std::char_traits<", ", std::allocator<",
                                                  ", std::less<",        ", std::hash<",
                                                  ", std::equal_to<",    ", std::default_delete<"};
constexpr Escape kShortSpellings[] = {{"std::basic_string<char>", "string"},
                                      {"std::basic_string_view<char>", "string_view"},
                                      {"std::basic_ostream<char>", "ostream"},
                                      {"std::basic_istream<char>", "istream"},
                                      {"std::basic_string<wchar_t>", "wstring"}};

// ", std::allocator<int> >" -> ">": each argument that begins so, up to its own closing bracket.
void DropDefaultArgument(std::string* name, std::string_view argument) {
  std::string out;
  size_t begin = 0;
  for (size_t at; (at = name->find(argument, begin)) != std::string::npos;) {
    out.append(*name, begin, at - begin);
    size_t end = at + argument.size();
    for (int depth = 1; end < name->size() && depth > 0; ++end) {
      depth += (*name)[end] == '<' ? 1 : (*name)[end] == '>' ? -1 : 0;
    }
    if (end + 1 < name->size() && (*name)[end] == ' ' && (*name)[end + 1] == '>') ++end;
    begin = end;
  }
  *name = out.append(*name, begin);
}

}  // namespace

std::optional<std::string> DemangleSymbol(std::string_view name) {
  if (name.size() < 3 || name.size() > kMaxMangledBytes || name.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  if (name.starts_with("_R")) {
    const size_t end = std::min(name.find_first_of(".@$"), name.size());
    std::optional<std::string> demangled = DemangleRustV0(name.substr(0, end), kMaxDemangledBytes);
    if (demangled) demangled->append(name.substr(end));
    return demangled;
  }
  if (!name.starts_with("_Z") && !name.starts_with("__Z")) return std::nullopt;
  if (std::optional<std::string> whole = Itanium(std::string(name))) return whole;
  // Stubs ("@plt") and suffixes the C++ runtime does not take for a clone's: cut from the right.
  size_t end = name.size();
  constexpr int kMaxSuffixes = 4;
  for (int i = 0; i < kMaxSuffixes; ++i) {
    end = name.substr(0, end).find_last_of(".@");
    if (end == std::string_view::npos) break;
    if (std::optional<std::string> stem = Itanium(std::string(name.substr(0, end)))) {
      return stem->append(name.substr(end));
    }
  }
  return std::nullopt;
}

std::string ShortenCxxName(std::string name) {
  if (name.find('<') == std::string::npos && name.find("std::") == std::string::npos) return name;
  for (std::string_view version : {"std::__cxx11::", "std::__1::"}) ReplaceAll(&name, version, "std::");
  for (std::string_view argument : kDefaultArguments) DropDefaultArgument(&name, argument);
  for (const Escape& spelling : kShortSpellings) ReplaceAll(&name, spelling.code, spelling.text);
  ReplaceAll(&name, "std::", "");
  ReplaceAll(&name, "> >", ">>");
  return name;
}

}  // namespace ksamp
