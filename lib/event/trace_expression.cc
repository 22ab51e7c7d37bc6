// SPDX-License-Identifier: Apache-2.0
#include "lib/event/trace_expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "lib/base/byte_reader.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

constexpr int kMaxDepth = 100, kMaxTreeDepth = 1000;

struct Operator {
  std::string_view text;
  int strength;
};
// Longer ones before those they begin with.
constexpr std::array<Operator, 18> kOperators = {{{"||", 1},
                                                  {"&&", 2},
                                                  {"==", 6},
                                                  {"!=", 6},
                                                  {"<<", 8},
                                                  {">>", 8},
                                                  {"<=", 7},
                                                  {">=", 7},
                                                  {"|", 3},
                                                  {"^", 4},
                                                  {"&", 5},
                                                  {"<", 7},
                                                  {">", 7},
                                                  {"+", 9},
                                                  {"-", 9},
                                                  {"*", 10},
                                                  {"/", 10},
                                                  {"%", 10}}};

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

struct CastType {
  unsigned bits = 64;
  bool is_signed = false;
};

// What `word` of a type's name says; nothing: it is no type.
bool AddTypeWord(std::string_view word, CastType& type) {
  if (word == "unsigned" || word == "const" || word == "struct" || word == "enum" || word == "void")
    return true;
  if (word == "signed") return type.is_signed = true;
  static constexpr std::array<std::pair<std::string_view, CastType>, 14> kTypes = {{{"char", {8, true}},
                                                                                    {"short", {16, true}},
                                                                                    {"int", {32, true}},
                                                                                    {"long", {64, true}},
                                                                                    {"u8", {8, false}},
                                                                                    {"u16", {16, false}},
                                                                                    {"u32", {32, false}},
                                                                                    {"u64", {64, false}},
                                                                                    {"s8", {8, true}},
                                                                                    {"s16", {16, true}},
                                                                                    {"s32", {32, true}},
                                                                                    {"s64", {64, true}},
                                                                                    {"bool", {8, false}},
                                                                                    {"pid_t", {32, true}}}};
  const std::string_view plain = word.starts_with("__") ? word.substr(2) : word;
  for (const auto& [name, of_name] : kTypes) {
    if (plain != name) continue;
    type = of_name;
    return true;
  }
  return word.ends_with("_t");
}

uint64_t Truncate(uint64_t value, unsigned bits, bool is_signed) {
  const unsigned unused = 64 - bits;
  if (unused == 0) return value;
  if (is_signed) return static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
  return value << unused >> unused;
}

uint64_t Apply(std::string_view op, uint64_t a, uint64_t b) {
  const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
  if (op == "||") return a != 0 || b != 0;
  if (op == "&&") return a != 0 && b != 0;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<=") return x <= y;
  if (op == ">=") return x >= y;
  if (op == "<") return x < y;
  if (op == ">") return x > y;
  if (op == "<<") return b < 64 ? a << b : 0;
  if (op == ">>") return b < 64 ? a >> b : 0;
  if (op == "|") return a | b;
  if (op == "^") return a ^ b;
  if (op == "&") return a & b;
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (b == 0 || (y == -1 && x == std::numeric_limits<int64_t>::min())) return 0;
  return static_cast<uint64_t>(op == "/" ? x / y : x % y);
}

std::string NamesOfBits(uint64_t value, std::string_view delimiter,
                        const std::vector<std::pair<uint64_t, std::string>>& names) {
  std::string text;
  for (const auto& [bits, name] : names) {
    if (bits == 0 || static_cast<int64_t>(bits) < 0 || (value & bits) != bits) continue;
    StrAppend(&text, text.empty() ? "" : delimiter, name);
    value &= ~bits;
  }
  if (value != 0) StrAppend(&text, text.empty() ? "" : delimiter, Hex(value));
  return text;
}

}  // namespace

class TraceExpressionParser {
 public:
  TraceExpressionParser(std::string_view text, const TraceFields& fields) : text_(text), fields_(fields) {}

  std::optional<TraceExpression> Parse(std::string_view& rest) {
    const std::optional<size_t> root = Conditional(0);
    if (!root || too_deep_) return std::nullopt;
    made_.root_ = *root;
    rest = text_;
    return std::move(made_);
  }

 private:
  using Node = TraceExpression::Node;
  using Kind = TraceExpression::Kind;
  using Index = std::optional<size_t>;

  size_t Add(Node node) {
    int depth = 0;
    for (const size_t child : node.children)
      if (child < depths_.size()) depth = std::max(depth, depths_[child]);
    depths_.push_back(depth + 1);
    too_deep_ |= depth >= kMaxTreeDepth;
    made_.nodes_.push_back(std::move(node));
    return made_.nodes_.size() - 1;
  }
  void SkipBlanks() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\t')) text_.remove_prefix(1);
  }
  bool Take(std::string_view token) {
    SkipBlanks();
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  std::string_view Word() {
    SkipBlanks();
    size_t end = 0;
    while (end < text_.size() && IsNameByte(text_[end])) ++end;
    const std::string_view word = text_.substr(0, end);
    text_.remove_prefix(end);
    return word;
  }

  Index Conditional(int depth) {
    const Index condition = Binary(1, depth + 1);
    if (!condition || !Take("?")) return condition;
    const Index yes = Conditional(depth + 1);
    if (!yes || !Take(":")) return std::nullopt;
    const Index no = Conditional(depth + 1);
    if (!no) return std::nullopt;
    return Add({.kind = Kind::kConditional, .text = {}, .children = {*condition, *yes, *no}, .names = {}});
  }

  const Operator* NextOperator() {
    SkipBlanks();
    const auto found = std::find_if(kOperators.begin(), kOperators.end(),
                                    [this](const Operator& op) { return text_.starts_with(op.text); });
    return found == kOperators.end() ? nullptr : &*found;
  }
  Index Binary(int weakest, int depth) {
    Index left = Unary(depth + 1);
    while (left) {
      const Operator* op = NextOperator();
      if (op == nullptr || op->strength < weakest) break;
      text_.remove_prefix(op->text.size());
      const Index right = Binary(op->strength + 1, depth + 1);
      if (!right) return std::nullopt;
      left = Add(
          {.kind = Kind::kBinary, .text = std::string(op->text), .children = {*left, *right}, .names = {}});
    }
    return left;
  }

  Index Unary(int depth) {
    if (depth > kMaxDepth) return std::nullopt;
    for (const std::string_view op : {"!", "~", "-", "+"}) {
      if (!Take(op)) continue;
      const Index operand = Unary(depth + 1);
      if (!operand) return std::nullopt;
      return Add({.kind = Kind::kUnary, .text = std::string(op), .children = {*operand}, .names = {}});
    }
    if (Take("(")) return Parenthesis(depth + 1);
    if (!text_.empty() && text_.front() == '"') {
      std::optional<std::string> text = Text();
      if (!text) return std::nullopt;
      return Add({.kind = Kind::kText, .text = *std::move(text), .names = {}});
    }
    return Named(depth + 1);
  }

  // A cast, or an expression.
  Index Parenthesis(int depth) {
    const std::string_view before = text_;
    CastType type;
    bool is_type = false;
    for (std::string_view word = Word(); !word.empty(); word = Word()) {
      is_type = AddTypeWord(word, type);
      if (!is_type) break;
    }
    if (is_type) {
      bool pointer = false;
      while (Take("*")) pointer = true;
      if (Take(")")) {
        const bool is_signed = type.is_signed && !pointer && !IsUnsigned(before);
        const Index operand = Unary(depth + 1);
        if (!operand) return std::nullopt;
        return Add({.kind = Kind::kCast,
                    .number = pointer ? 64 : type.bits,
                    .text = {},
                    .children = {*operand},
                    .is_signed = is_signed,
                    .names = {}});
      }
    }
    text_ = before;
    const Index inner = Conditional(depth + 1);
    return inner && Take(")") ? inner : std::nullopt;
  }
  static bool IsUnsigned(std::string_view type) {
    return type.substr(0, type.find(')')).find("unsigned") != type.npos;
  }

  // Adjacent literals are one.
  std::optional<std::string> Text() {
    std::string text;
    while (Take("\"")) {
      while (!text_.empty() && text_.front() != '"') {
        if (text_.front() == '\\' && text_.size() > 1) text_.remove_prefix(1);
        text.push_back(text_.front());
        text_.remove_prefix(1);
      }
      if (text_.empty()) return std::nullopt;
      text_.remove_prefix(1);
      SkipBlanks();
    }
    return text;
  }

  Index Named(int depth) {
    const std::string_view word = Word();
    if (word.empty()) return std::nullopt;
    if (word.front() >= '0' && word.front() <= '9') return Number(word);
    if (word == "REC" && Take("->")) return Field(Word());
    if (!Take("(")) return Add({.number = ~uint64_t{0}, .text = {}, .names = {}});  // a constant nobody told
    if (word == "__get_str" || word == "__get_rel_str" || word == "__get_dynamic_array" ||
        word == "__get_rel_dynamic_array") {
      const Index field = Field(Word());
      return field && Take(")") ? field : std::nullopt;
    }
    if (word == "__print_flags") return Names(Kind::kFlags, depth);
    if (word == "__print_symbolic") return Names(Kind::kSymbolic, depth);
    return std::nullopt;
  }
  Index Number(std::string_view word) {
    const bool hexadecimal = word.starts_with("0x") || word.starts_with("0X");
    if (hexadecimal) word.remove_prefix(2);
    uint64_t value = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value, hexadecimal ? 16 : 10);
    const std::string_view suffix = word.substr(static_cast<size_t>(parsed.ptr - word.data()));
    if (parsed.ec != std::errc() || suffix.find_first_not_of("uUlL") != suffix.npos) return std::nullopt;
    return Add({.number = value, .text = {}, .names = {}});
  }
  Index Field(std::string_view name) {
    for (size_t i = 0; i < fields_.all().size(); ++i)
      if (fields_.all()[i].name == name)
        return Add({.kind = Kind::kField, .number = i, .text = {}, .names = {}});
    return std::nullopt;
  }

  // (value, "delimiter", { number, "name" }, …), the delimiter only of flags.
  Index Names(Kind kind, int depth) {
    const Index value = Conditional(depth + 1);
    if (!value || !Take(",")) return std::nullopt;
    Node node{.kind = kind, .text = {}, .children = {*value}, .names = {}};
    if (kind == Kind::kFlags) {
      std::optional<std::string> delimiter = Text();
      if (!delimiter || !Take(",")) return std::nullopt;
      node.text = *std::move(delimiter);
    }
    do {
      if (!Take("{")) return std::nullopt;
      const Index number = Conditional(depth + 1);
      if (!number || too_deep_ || !Take(",")) return std::nullopt;
      SkipBlanks();
      const bool named = text_.starts_with('"');  // The last may be { 0, NULL }.
      const Index name = Conditional(depth + 1);
      if (!name || !Take("}")) return std::nullopt;
      if (named)
        node.names.emplace_back(made_.Evaluate(*number, fields_, {}).number, made_.nodes_[*name].text);
    } while (Take(","));
    if (!Take(")")) return std::nullopt;
    return Add(std::move(node));
  }

  std::string_view text_;
  const TraceFields& fields_;
  TraceExpression made_;
  std::vector<int> depths_;  // of the nodes' trees: evaluation recurses
  bool too_deep_ = false;
};

std::optional<TraceExpression> TraceExpression::Parse(std::string_view& rest, const TraceFields& fields) {
  return TraceExpressionParser(rest, fields).Parse(rest);
}

TraceValue TraceExpression::Evaluate(size_t at, const TraceFields& fields,
                                     std::span<const std::byte> raw) const {
  const Node& node = nodes_[at];
  const auto child = [&](size_t i) { return Evaluate(node.children[i], fields, raw); };
  switch (node.kind) {
    case Kind::kNumber:
      return {.number = node.number, .text = {}};
    case Kind::kText:
      return {.text = node.text, .is_text = true};
    case Kind::kField: {
      const TraceField& field = fields.all()[node.number];
      if (!field.is_array && !field.is_dynamic) return {.number = fields.Number(field, raw), .text = {}};
      return {.text = std::string(AsText(fields.Bytes(field, raw))), .is_text = true};
    }
    case Kind::kUnary: {
      const uint64_t value = child(0).number;
      if (node.text == "!") return {.number = value == 0, .text = {}};
      return {.number = node.text == "~" ? ~value : node.text == "-" ? 0 - value : value, .text = {}};
    }
    case Kind::kBinary:
      return {.number = Apply(node.text, child(0).number, child(1).number), .text = {}};
    case Kind::kConditional:
      return child(child(0).number != 0 ? 1 : 2);
    case Kind::kCast: {
      TraceValue value = child(0);
      value.number = Truncate(value.number, static_cast<unsigned>(node.number), node.is_signed);
      return value;
    }
    case Kind::kFlags:
      return {.text = NamesOfBits(child(0).number, node.text, node.names), .is_text = true};
    case Kind::kSymbolic: {
      const uint64_t value = child(0).number;
      for (const auto& [number, name] : node.names)
        if (number == value) return {.text = name, .is_text = true};
      return {.text = StrCat(Hex(value)), .is_text = true};
    }
  }
  return {};
}

}  // namespace ksamp
