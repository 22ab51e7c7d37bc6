// SPDX-License-Identifier: Apache-2.0
// SymbolTable: immutable symbols sorted by address, found in O(log n); names stay where they were read.
//
//   SymbolTableBuilder builder(addresses);               // what will be asked for, sorted; {} = everything
//   const uint16_t names = builder.AddNames(strtab);     // must outlive the table
//   builder.Add({.start = 0x1000, .size = 32, .names = names, .name_offset = 17});
//   SymbolTable table = std::move(builder).Build();
//   if (auto match = table.Find(0x1010)) std::cout << match->name;
//
// What an address belongs to:
//
//   foo [--------)          padding        a symbol with a size owns exactly that: padding and gaps stay free
//         bar [--)                         the innermost of nested symbols wins
//   label |------------|next               one without a size reaches to the next symbol or its section's
//   end,
//                                          and yields to a sized symbol around it
//
// Of several symbols at one address the best is found first, by: has a size; not named "Letext"; not starting
// with "??"; not hidden; not starting with "_"; not weak (opreport's order, down to here); global; fewer
// leading underscores; longer; alphabetical. The others show where the best has ended.
//
// Building for known addresses drops what cannot matter to them while the symbols stream by, so that 100 000
// symbols are not sorted for the sake of 50 addresses.
//
// Immutable: any number of threads may ask.
#ifndef KSAMP_LIB_OBJECT_SYMBOL_TABLE_H_
#define KSAMP_LIB_OBJECT_SYMBOL_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ksamp {

// What a symbol is named and how good a name that is, apart from where it lies.
enum SymbolTrait : uint8_t {
  kSymbolWeak = 1,
  kSymbolGlobal = 2,
  kSymbolHidden = 4,
};

struct SymbolCandidate {
  uint64_t start = 0;
  uint64_t size = 0;              // 0: not known
  uint64_t limit = ~uint64_t{0};  // end of its section
  uint16_t names = 0;             // from AddNames
  uint32_t name_offset = 0;
  uint8_t traits = 0;  // SymbolTrait
};

// True where `a` is the better name of two for one address.
bool IsBetterSymbolName(std::string_view a, uint8_t a_traits, std::string_view b, uint8_t b_traits);

class SymbolTable {
 public:
  struct Match {
    std::string_view name;
    uint64_t start = 0, size = 0;
    uint32_t id = 0;  // the same for each address of this symbol
  };

  std::optional<Match> Find(uint64_t address) const;
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }

 private:
  friend class SymbolTableBuilder;
  struct Entry {
    uint64_t start, end;
    uint32_t name_offset;
    uint32_t parent;  // the next one to ask where this one does not hold the address
    uint16_t names;
    uint8_t traits, kind;
  };
  std::string_view NameOf(const Entry& entry) const;

  std::vector<Entry> entries_;
  std::vector<std::span<const std::byte>> names_;
  std::vector<std::unique_ptr<std::string>> owned_names_;
};

class SymbolTableBuilder {
 public:
  // `wanted`: ascending; must outlive the builder. Empty: build for any address.
  explicit SymbolTableBuilder(std::span<const uint64_t> wanted = {});

  // A string table; the number goes into SymbolCandidate::names. At most 65 535 of them.
  uint16_t AddNames(std::span<const std::byte> strings);
  uint16_t AddOwnedNames(std::string strings);  // NUL-terminated pieces
  void Add(const SymbolCandidate& candidate);
  size_t added() const { return added_; }  // all that were offered, kept or not
  SymbolTable Build() &&;

 private:
  using Entry = SymbolTable::Entry;
  // What lies between two wanted addresses.
  struct Gap {
    uint64_t first = ~uint64_t{0};  // smallest start: where a symbol without size before it ends
    Entry last{};                   // best symbol with the greatest start
    Entry widest{};                 // sized symbol with the greatest end: `last` may lie inside of it
    bool used = false;
  };
  bool Better(const Entry& a, const Entry& b) const;
  void AddToGap(size_t gap, const Entry& entry);
  void KeepGaps();
  void LinkParents();

  std::span<const uint64_t> wanted_;
  std::vector<Gap> gaps_;
  SymbolTable table_;
  size_t added_ = 0;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_SYMBOL_TABLE_H_
