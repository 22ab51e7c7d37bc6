// SPDX-License-Identifier: Apache-2.0
#include "lib/event/trace_format.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <utility>

#include "lib/base/byte_reader.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

constexpr std::string_view kId = "ID: ", kName = "name: ", kPrintFormat = "print fmt: ";
constexpr size_t kMaxWidth = 3;  // digits of a width or precision

std::string_view NextLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// "-08.3" at the start of `text`; nothing: widths that come as arguments, or senseless ones.
std::optional<std::string_view> TakeFlags(std::string_view& text) {
  const size_t end = std::min(text.find_first_not_of("-+ #0123456789."), text.size());
  const std::string_view flags = text.substr(0, end);
  size_t digits = 0;
  for (const char c : flags) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > kMaxWidth) return std::nullopt;
  }
  text.remove_prefix(end);
  return flags;
}

unsigned TakeLength(std::string_view& text) {
  const size_t end = std::min(text.find_first_not_of("hlLzjt"), text.size());
  const std::string_view length = text.substr(0, end);
  text.remove_prefix(end);
  if (length == "hh") return 8;
  if (length == "h") return 16;
  return length.empty() ? 32 : 64;
}

void AppendNumber(char conversion, const std::string& flags, unsigned bits, uint64_t value,
                  std::string& out) {
  const bool is_signed = conversion == 'd' || conversion == 'i';
  const unsigned unused = 64 - bits;
  if (is_signed) {
    value = static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
  } else {
    value = value << unused >> unused;
  }
  const std::string format = StrCat("%", flags, "ll", std::string(1, conversion));
  char text[1100];
  const int size = std::snprintf(text, sizeof(text), format.c_str(), static_cast<unsigned long long>(value));
  if (size > 0) out.append(text, std::min(static_cast<size_t>(size), sizeof(text) - 1));
}

void AppendText(const std::string& flags, const std::string& value, std::string& out) {
  const std::string format = StrCat("%", flags, "s");
  const std::string until_nul = value.substr(0, value.find('\0'));
  if (flags.empty()) {
    out += until_nul;
    return;
  }
  std::string text(until_nul.size() + 1100, '\0');
  const int size = std::snprintf(text.data(), text.size(), format.c_str(), until_nul.c_str());
  if (size > 0) out.append(text, 0, std::min(static_cast<size_t>(size), text.size() - 1));
}

// Addresses of the network, from their bytes.
bool AppendAddress(std::string_view kind, const std::string& bytes, std::string& out) {
  char text[INET6_ADDRSTRLEN] = {};
  if (kind.starts_with("I4") && bytes.size() >= 4) {
    inet_ntop(AF_INET, bytes.data(), text, sizeof(text));
  } else if (kind.starts_with("I6") && bytes.size() >= 16) {
    inet_ntop(AF_INET6, bytes.data(), text, sizeof(text));
  } else if (kind.starts_with('M') && bytes.size() >= 6) {
    const auto* b = reinterpret_cast<const unsigned char*>(bytes.data());
    std::snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5]);
  } else {
    return false;
  }
  out += text;
  return true;
}

void AppendHexBytes(std::span<const std::byte> bytes, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const std::byte byte : bytes) {
    out.push_back(kDigits[std::to_integer<size_t>(byte) >> 4]);
    out.push_back(kDigits[std::to_integer<size_t>(byte) & 15]);
  }
}

}  // namespace

std::optional<TraceFormat> TraceFormat::Parse(std::string_view text, bool foreign) {
  TraceFormat format(foreign);
  bool has_id = false;
  while (!text.empty()) {
    const std::string_view line = NextLine(text);
    if (line.starts_with(kName)) format.name_ = line.substr(kName.size());
    if (line.starts_with(kId))
      has_id =
          std::from_chars(line.data() + kId.size(), line.data() + line.size(), format.id_).ec == std::errc();
    if (line.find("field:") != line.npos) ParseTraceField(line, format.fields_);
    if (line.starts_with(kPrintFormat) && !format.ParsePrintFormat(line.substr(kPrintFormat.size())))
      format.pieces_.clear();
  }
  if (!has_id || format.name_.empty()) return std::nullopt;
  return format;
}

bool TraceFormat::ParsePrintFormat(std::string_view text) {
  // The literal is an expression too: its parser knows about quotes and adjacent literals.
  std::string_view rest = text;
  const std::optional<TraceExpression> literal = TraceExpression::Parse(rest, fields_);
  if (!text.starts_with('"') || !literal) return false;
  std::optional<std::vector<Piece>> pieces = SplitFormat(literal->Evaluate(fields_, {}).text);
  if (!pieces) return false;
  for (Piece& piece : *pieces) {
    if (piece.conversion == 0) continue;
    const size_t comma = rest.find_first_not_of(' ');
    if (comma == rest.npos || rest[comma] != ',') return false;
    rest.remove_prefix(comma + 1);
    piece.argument = TraceExpression::Parse(rest, fields_);
    if (!piece.argument) return false;
  }
  pieces_ = *std::move(pieces);
  return rest.find_first_not_of(' ') == rest.npos;
}

std::optional<std::vector<TraceFormat::Piece>> TraceFormat::SplitFormat(std::string_view format) {
  std::vector<Piece> pieces;
  Piece piece;
  while (!format.empty()) {
    const char c = format.front();
    format.remove_prefix(1);
    if (c != '%' || format.starts_with('%')) {
      if (c == '%') format.remove_prefix(1);
      piece.literal.push_back(c);
      continue;
    }
    const std::optional<std::string_view> flags = TakeFlags(format);
    if (!flags) return std::nullopt;
    piece.flags = *flags;
    piece.bits = TakeLength(format);
    if (format.empty() || std::string_view("diuxXoscp").find(format.front()) == std::string_view::npos)
      return std::nullopt;
    piece.conversion = format.front();
    format.remove_prefix(1);
    if (piece.conversion == 'p') {
      const size_t end = std::min(format.find_first_not_of("SsFfBbMIR46cKxhnil"), format.size());
      piece.pointer = format.substr(0, end);
      format.remove_prefix(end);
    }
    pieces.push_back(std::exchange(piece, {}));
  }
  pieces.push_back(std::move(piece));
  return pieces;
}

void TraceFormat::AppendText(std::span<const std::byte> raw, std::string& out) const {
  if (pieces_.empty()) {
    AppendFields(raw, out);
    return;
  }
  for (const Piece& piece : pieces_) AppendPiece(piece, raw, out);
}

void TraceFormat::AppendPiece(const Piece& piece, std::span<const std::byte> raw, std::string& out) const {
  out += piece.literal;
  if (piece.conversion == 0) return;
  const TraceValue value = piece.argument->Evaluate(fields_, raw);
  if (piece.conversion == 'p') {
    if (value.is_text && AppendAddress(piece.pointer, value.text, out)) return;
    StrAppend(&out, value.number == 0 ? std::string("(nil)") : StrCat(Hex(value.number)));
  } else if (value.is_text) {
    ksamp::AppendText(piece.conversion == 's' ? piece.flags : "", value.text, out);
  } else if (piece.conversion == 's') {
    StrAppend(&out, Hex(value.number));
  } else if (piece.conversion == 'c') {
    out.push_back(static_cast<char>(value.number));
  } else {
    AppendNumber(piece.conversion, piece.flags, piece.bits, value.number, out);
  }
}

void TraceFormat::AppendFields(std::span<const std::byte> raw, std::string& out) const {
  for (const TraceField& field : fields_.all()) {
    if (field.name.starts_with("common_")) continue;
    StrAppend(&out, " ", field.name, "=");
    if (field.is_text) {
      out += TextOf(fields_.Bytes(field, raw));
    } else if (field.is_array || field.is_dynamic) {
      AppendHexBytes(fields_.Bytes(field, raw), out);
    } else if (field.is_pointer) {
      StrAppend(&out, Hex(fields_.Number(field, raw)));
    } else if (field.is_signed) {
      StrAppend(&out, static_cast<int64_t>(fields_.Number(field, raw)));
    } else {
      StrAppend(&out, fields_.Number(field, raw));
    }
  }
}

}  // namespace ksamp
