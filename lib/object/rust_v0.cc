// SPDX-License-Identifier: Apache-2.0
#include "lib/object/rust_v0.h"

#include <charconv>
#include <cstdint>
#include <limits>
#include <vector>

#include "lib/base/str_cat.h"
#include "lib/object/utf8.h"

namespace ksamp {
namespace {

// Back-references may unfold exponentially even where they print nothing.
constexpr int kMaxSteps = 200'000;

std::string_view BasicType(char tag) {
  switch (tag) {
    case 'a':
      return "i8";
    case 'b':
      return "bool";
    case 'c':
      return "char";
    case 'd':
      return "f64";
    case 'e':
      return "str";
    case 'f':
      return "f32";
    case 'h':
      return "u8";
    case 'i':
      return "isize";
    case 'j':
      return "usize";
    case 'l':
      return "i32";
    case 'm':
      return "u32";
    case 'n':
      return "i128";
    case 'o':
      return "u128";
    case 'p':
      return "_";
    case 's':
      return "i16";
    case 't':
      return "u16";
    case 'u':
      return "()";
    case 'v':
      return "...";
    case 'x':
      return "i64";
    case 'y':
      return "u64";
    case 'z':
      return "!";
    default:
      return {};
  }
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

struct Identifier {
  std::string_view text;
  uint64_t disambiguator = 0;
  bool punycode = false;
};

// A recursive-descent parser that prints as it goes. After a failure everything does nothing.
class Demangler {
 public:
  Demangler(std::string_view symbol, size_t max_bytes) : input_(symbol), max_bytes_(max_bytes) {}

  std::optional<std::string> Run() {
    if (IsDigit(Peek())) return std::nullopt;  // an encoding version yet to be invented
    Path(/*in_value=*/true);
    if (!failed_ && position_ < input_.size()) {  // the crate that instantiated a generic
      Quietly([this] { Path(false); });
    }
    if (failed_ || position_ != input_.size()) return std::nullopt;
    return std::move(out_);
  }

 private:
  // Counts nesting and steps for as long as it lives.
  class Level {
   public:
    explicit Level(Demangler* d) : d_(d) {
      if (++d_->depth_ > kMaxRustNesting || ++d_->steps_ > kMaxSteps) d_->failed_ = true;
    }
    ~Level() { --d_->depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Demangler* d_;
  };

  char Peek() const { return !failed_ && position_ < input_.size() ? input_[position_] : '\0'; }
  char Next() {
    if (failed_ || position_ >= input_.size()) {
      failed_ = true;
      return '\0';
    }
    return input_[position_++];
  }
  bool Eat(char c) {
    if (Peek() != c || c == '\0') return false;
    ++position_;
    return true;
  }
  void Print(std::string_view text) {
    if (failed_ || quiet_ > 0) return;
    if (out_.size() + text.size() > max_bytes_) {
      failed_ = true;
      return;
    }
    out_.append(text);
  }
  template <typename Body>
  void Quietly(const Body& body) {
    ++quiet_;
    body();
    --quiet_;
  }

  // "_" is 0, "0_" is 1, …
  uint64_t Base62() {
    if (Eat('_')) return 0;
    uint64_t value = 0;
    while (!Eat('_')) {
      const char c = Next();
      uint64_t digit = 0;
      if (IsDigit(c)) {
        digit = static_cast<uint64_t>(c - '0');
      } else if (c >= 'a' && c <= 'z') {
        digit = static_cast<uint64_t>(c - 'a') + 10;
      } else if (c >= 'A' && c <= 'Z') {
        digit = static_cast<uint64_t>(c - 'A') + 36;
      } else {
        failed_ = true;
      }
      if (failed_ || value > (std::numeric_limits<uint64_t>::max() - 62) / 62) {
        failed_ = true;
        return 0;
      }
      value = value * 62 + digit;
    }
    return value + 1;
  }
  // 0 where the tag is not there, else one more than the number.
  uint64_t OptionalBase62(char tag) { return Eat(tag) ? Base62() + 1 : 0; }

  Identifier PlainIdentifier() {
    Identifier identifier;
    identifier.punycode = Eat('u');
    if (!IsDigit(Peek())) failed_ = true;
    uint64_t length = 0;
    if (!Eat('0')) {
      while (IsDigit(Peek()) && length <= input_.size())
        length = length * 10 + static_cast<uint64_t>(Next() - '0');
    }
    Eat('_');
    if (failed_ || length > input_.size() - position_) {
      failed_ = true;
      return {};
    }
    identifier.text = input_.substr(position_, length);
    position_ += length;
    return identifier;
  }
  Identifier FullIdentifier() {
    const uint64_t disambiguator = OptionalBase62('s');
    Identifier identifier = PlainIdentifier();
    identifier.disambiguator = disambiguator;
    return identifier;
  }
  void PrintIdentifier(const Identifier& identifier) {
    if (!identifier.punycode) return Print(identifier.text);
    const std::optional<std::string> decoded = DecodePunycode(identifier.text);
    Print(decoded ? *decoded : StrCat("punycode{", identifier.text, "}"));
  }

  // Goes on at an earlier place, then comes back.
  template <typename Body>
  void BackReference(const Body& body) {
    const size_t from = position_ - 1;
    const uint64_t target = Base62();
    if (failed_ || target >= from) {
      failed_ = true;
      return;
    }
    if (quiet_ > 0) return;
    const size_t back = position_;
    position_ = static_cast<size_t>(target);
    body();
    position_ = back;
  }

  void Path(bool in_value) {
    const Level level(this);
    const char tag = Next();
    switch (failed_ ? '\0' : tag) {
      case 'C':
        return PrintIdentifier(FullIdentifier());
      case 'N':
        return NestedPath(in_value);
      case 'M':
      case 'X':
      case 'Y':
        return ImplPath(tag);
      case 'I':
        Path(in_value);
        Print(in_value ? "::<" : "<");
        GenericArguments();
        return Print(">");
      case 'B':
        return BackReference([&] { Path(in_value); });
      default:
        failed_ = true;
    }
  }

  void NestedPath(bool in_value) {
    const char space = Next();
    Path(in_value);
    const Identifier identifier = FullIdentifier();
    if (space >= 'a' && space <= 'z') {
      if (identifier.text.empty()) return;
      Print("::");
      return PrintIdentifier(identifier);
    }
    if (space < 'A' || space > 'Z') {
      failed_ = true;
      return;
    }
    Print("::{");
    Print(space == 'C' ? "closure" : space == 'S' ? "shim" : std::string_view(&space, 1));
    if (!identifier.text.empty()) {
      Print(":");
      PrintIdentifier(identifier);
    }
    Print(StrCat("#", identifier.disambiguator, "}"));
  }

  void ImplPath(char tag) {
    if (tag != 'Y') {
      OptionalBase62('s');
      Quietly([this] { Path(false); });
    }
    Print("<");
    Type();
    if (tag != 'M') {
      Print(" as ");
      Path(false);
    }
    Print(">");
  }

  void GenericArguments() {
    for (bool first = true; !failed_ && !Eat('E'); first = false) {
      if (!first) Print(", ");
      GenericArgument();
    }
  }
  void GenericArgument() {
    if (Eat('L')) return Lifetime(Base62());
    if (Eat('K')) return Const();
    Type();
  }

  void Lifetime(uint64_t index) {
    if (index == 0) return Print("'_");
    if (index > bound_lifetimes_) {
      failed_ = true;
      return;
    }
    const uint64_t depth = bound_lifetimes_ - index;
    if (depth < 26) return Print(std::string{'\'', static_cast<char>('a' + depth)});
    Print(StrCat("'_", depth));
  }

  // "for<'a, 'b> " around what `body` prints.
  template <typename Body>
  void InBinder(const Body& body) {
    const uint64_t count = OptionalBase62('G');
    if (count > 1000) failed_ = true;
    if (!failed_ && count > 0) {
      Print("for<");
      for (uint64_t i = 0; i < count; ++i) {
        if (i > 0) Print(", ");
        ++bound_lifetimes_;
        Lifetime(1);
      }
      Print("> ");
    }
    if (!failed_) body();
    bound_lifetimes_ -= failed_ ? 0 : count;
  }

  void Type() {
    const Level level(this);
    const char tag = Next();
    if (const std::string_view basic = BasicType(tag); !failed_ && !basic.empty()) return Print(basic);
    switch (failed_ ? '\0' : tag) {
      case 'R':
      case 'Q':
        return Reference(tag == 'Q');
      case 'P':
        Print("*const ");
        return Type();
      case 'O':
        Print("*mut ");
        return Type();
      case 'A':
      case 'S':
        Print("[");
        Type();
        if (tag == 'A') {
          Print("; ");
          Const();
        }
        return Print("]");
      case 'T':
        return Tuple();
      case 'F':
        return InBinder([this] { Function(); });
      case 'D':
        return Dyn();
      case 'B':
        return BackReference([this] { Type(); });
      default:
        if (failed_) return;
        --position_;  // a path names a type too
        Path(false);
    }
  }

  void Reference(bool is_mutable) {
    Print("&");
    if (Eat('L')) {
      if (const uint64_t lifetime = Base62(); lifetime != 0) {
        Lifetime(lifetime);
        Print(" ");
      }
    }
    if (is_mutable) Print("mut ");
    Type();
  }

  void Tuple() {
    Print("(");
    size_t count = 0;
    for (; !failed_ && !Eat('E'); ++count) {
      if (count > 0) Print(", ");
      Type();
    }
    Print(count == 1 ? ",)" : ")");
  }

  void Function() {
    if (Eat('U')) Print("unsafe ");
    if (Eat('K')) {
      std::string abi = Eat('C') ? "C" : std::string(PlainIdentifier().text);
      for (char& c : abi) c = c == '_' ? '-' : c;
      Print(StrCat("extern \"", abi, "\" "));
    }
    Print("fn(");
    for (bool first = true; !failed_ && !Eat('E'); first = false) {
      if (!first) Print(", ");
      Type();
    }
    Print(")");
    if (Eat('u')) return;  // returns ()
    Print(" -> ");
    Type();
  }

  void Dyn() {
    Print("dyn ");
    InBinder([this] {
      for (bool first = true; !failed_ && !Eat('E'); first = false) {
        if (!first) Print(" + ");
        DynTrait();
      }
    });
    if (!Eat('L')) {
      failed_ = true;
      return;
    }
    if (const uint64_t lifetime = Base62(); lifetime != 0) {
      Print(" + ");
      Lifetime(lifetime);
    }
  }

  // Associated types stand among the generic arguments: Iterator<Item = u8>.
  void DynTrait() {
    bool open = PathWithOpenGenerics();
    while (!failed_ && Eat('p')) {
      Print(open ? ", " : "<");
      open = true;
      PrintIdentifier(PlainIdentifier());
      Print(" = ");
      Type();
    }
    if (open) Print(">");
  }
  bool PathWithOpenGenerics() {
    const Level level(this);
    bool open = false;
    if (Eat('B')) {
      BackReference([&] { open = PathWithOpenGenerics(); });
      return open;
    }
    if (!Eat('I')) {
      Path(false);
      return false;
    }
    Path(false);
    Print("<");
    GenericArguments();
    return true;
  }

  void Const() {
    const Level level(this);
    if (Eat('B')) return BackReference([this] { Const(); });
    const char tag = Next();
    switch (failed_ ? '\0' : tag) {
      case 'p':
        return Print("_");
      case 'b':
        return PrintBool(HexDigits());
      case 'c':
        return PrintChar(HexDigits());
      case 'a':
      case 's':
      case 'l':
      case 'x':
      case 'n':
      case 'i':
        if (Eat('n')) Print("-");
        return PrintNumber(HexDigits());
      case 'h':
      case 't':
      case 'm':
      case 'y':
      case 'o':
      case 'j':
        return PrintNumber(HexDigits());
      default:
        failed_ = true;
    }
  }
  std::string_view HexDigits() {
    const size_t begin = position_;
    while (!failed_ && !Eat('_')) {
      const char c = Next();
      if (!IsDigit(c) && (c < 'a' || c > 'f')) failed_ = true;
    }
    return failed_ ? std::string_view() : input_.substr(begin, position_ - 1 - begin);
  }
  static std::optional<uint64_t> Value(std::string_view digits) {
    uint64_t value = 0;
    if (digits.empty()) return 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (result.ec != std::errc()) return std::nullopt;
    return value;
  }
  void PrintNumber(std::string_view digits) {
    const std::optional<uint64_t> value = Value(digits);
    Print(value ? StrCat(*value) : StrCat("0x", digits));
  }
  void PrintBool(std::string_view digits) {
    const std::optional<uint64_t> value = Value(digits);
    if (!value || *value > 1) failed_ = true;
    Print(value == 1u ? "true" : "false");
  }
  void PrintChar(std::string_view digits) {
    const std::optional<uint64_t> value = Value(digits);
    if (!value || *value > 0x10ffff) {
      failed_ = true;
      return;
    }
    std::string text = "'";
    if (*value < 0x20 || *value == 0x7f) {
      text.append(StrCat("\\u{", Hex(*value), "}").replace(3, 2, ""));
    } else {
      AppendUtf8(&text, static_cast<uint32_t>(*value));
    }
    Print(text + "'");
  }

  std::string_view input_;
  size_t position_ = 0;
  size_t max_bytes_;
  std::string out_;
  uint64_t bound_lifetimes_ = 0;
  int depth_ = 0, steps_ = 0, quiet_ = 0;
  bool failed_ = false;
};

}  // namespace

std::optional<std::string> DemangleRustV0(std::string_view name, size_t max_bytes) {
  if (!name.starts_with("_R") || name.size() < 4) return std::nullopt;
  return Demangler(name.substr(2), max_bytes).Run();
}

}  // namespace ksamp
