// SPDX-License-Identifier: Apache-2.0
#include "lib/object/symbol_table.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "lib/object/elf_image.h"

namespace ksamp {
namespace {

// Entry::kind, worst first.
constexpr uint8_t kBoundary = 0;  // ends the one before it, owns nothing
constexpr uint8_t kUnsized = 1;
constexpr uint8_t kSized = 2;

constexpr uint32_t kNoParent = std::numeric_limits<uint32_t>::max();

// Real tables nest two or three deep; a made-up one must not turn each look-up into a walk over all of it.
constexpr int kMaxNesting = 64;

size_t LeadingUnderscores(std::string_view name) {
  const size_t end = name.find_first_not_of('_');
  return end == std::string_view::npos ? name.size() : end;
}

// Smaller is better.
auto NameRank(std::string_view name, uint8_t traits) {
  return std::tuple(name == "Letext", name.starts_with("??"), (traits & kSymbolHidden) != 0,
                    name.starts_with('_'), (traits & kSymbolWeak) != 0, (traits & kSymbolGlobal) == 0,
                    LeadingUnderscores(name), std::numeric_limits<size_t>::max() - name.size(), name);
}

}  // namespace

bool IsBetterSymbolName(std::string_view a, uint8_t a_traits, std::string_view b, uint8_t b_traits) {
  return NameRank(a, a_traits) < NameRank(b, b_traits);
}

std::string_view SymbolTable::NameOf(const Entry& entry) const {
  return StringAt(names_[entry.names], entry.name_offset);
}

std::optional<SymbolTable::Match> SymbolTable::Find(uint64_t address) const {
  const auto after = std::upper_bound(entries_.begin(), entries_.end(), address,
                                      [](uint64_t a, const Entry& entry) { return a < entry.start; });
  if (after == entries_.begin()) return std::nullopt;
  uint32_t index = static_cast<uint32_t>(after - entries_.begin() - 1);
  for (int depth = 0; depth < kMaxNesting && index != kNoParent; ++depth) {
    const Entry& entry = entries_[index];
    if (address < entry.end) return Match{NameOf(entry), entry.start, entry.end - entry.start, index};
    index = entry.parent;
  }
  return std::nullopt;
}

SymbolTableBuilder::SymbolTableBuilder(std::span<const uint64_t> wanted) : wanted_(wanted) {
  if (!wanted.empty()) gaps_.resize(wanted.size() + 1);
}

uint16_t SymbolTableBuilder::AddNames(std::span<const std::byte> strings) {
  table_.names_.push_back(strings);
  return static_cast<uint16_t>(table_.names_.size() - 1);
}

uint16_t SymbolTableBuilder::AddOwnedNames(std::string strings) {
  const auto& kept = table_.owned_names_.emplace_back(std::make_unique<std::string>(std::move(strings)));
  return AddNames({reinterpret_cast<const std::byte*>(kept->data()), kept->size()});
}

bool SymbolTableBuilder::Better(const Entry& a, const Entry& b) const {
  if (a.kind != b.kind) return a.kind > b.kind;
  if (a.kind == kBoundary) return false;
  return IsBetterSymbolName(table_.NameOf(a), a.traits, table_.NameOf(b), b.traits);
}

void SymbolTableBuilder::Add(const SymbolCandidate& candidate) {
  ++added_;
  const bool sized = candidate.size != 0;
  uint64_t end = candidate.limit;
  if (sized && (candidate.limit <= candidate.start || candidate.size < candidate.limit - candidate.start)) {
    end = candidate.start + candidate.size;
    if (end < candidate.start) end = std::numeric_limits<uint64_t>::max();
  }
  const Entry entry{
      candidate.start,          end, candidate.name_offset, kNoParent, candidate.names, candidate.traits,
      sized ? kSized : kUnsized};
  if (wanted_.empty()) {
    table_.entries_.push_back(entry);
    return;
  }
  const auto next = std::lower_bound(wanted_.begin(), wanted_.end(), entry.start);
  if (sized && next != wanted_.end() && *next < entry.end) {
    table_.entries_.push_back(entry);
  }
  AddToGap(static_cast<size_t>(next - wanted_.begin()), entry);
}

void SymbolTableBuilder::AddToGap(size_t index, const Entry& entry) {
  Gap& gap = gaps_[index];
  gap.first = std::min(gap.first, entry.start);
  if (!gap.used || entry.start > gap.last.start ||
      (entry.start == gap.last.start && Better(entry, gap.last))) {
    gap.last = entry;
  }
  if (entry.kind == kSized && entry.end > gap.widest.end) gap.widest = entry;
  gap.used = true;
}

// In a gap little matters to the wanted addresses at its ends: where it first begins to belong to somebody
// else, the last symbol before the next wanted address, and whether that one lies inside of another. (Sized
// ones that hold a wanted address are kept already.)
void SymbolTableBuilder::KeepGaps() {
  for (size_t i = 0; i < gaps_.size(); ++i) {
    const Gap& gap = gaps_[i];
    if (!gap.used) continue;
    table_.entries_.push_back({gap.first, gap.first, 0, kNoParent, 0, 0, kBoundary});
    const auto holds_next = [&](const Entry& entry) { return i < wanted_.size() && wanted_[i] < entry.end; };
    if (gap.last.kind == kUnsized || !holds_next(gap.last)) table_.entries_.push_back(gap.last);
    if (gap.last.kind == kUnsized && gap.widest.kind == kSized && !holds_next(gap.widest)) {
      table_.entries_.push_back(gap.widest);
    }
  }
}

// One sweep in order of start with a stack of the sized symbols still open.
void SymbolTableBuilder::LinkParents() {
  std::vector<Entry>& entries = table_.entries_;
  std::vector<uint32_t> open;
  const auto close_before = [&](uint64_t start) {
    while (!open.empty() && entries[open.back()].end <= start) open.pop_back();
  };
  uint64_t next_start = std::numeric_limits<uint64_t>::max();
  // Ends of symbols without a size first: they look forward. Beside a sized one they own nothing.
  for (size_t i = entries.size(); i-- > 0;) {
    Entry& entry = entries[i];
    const Entry* next = i + 1 < entries.size() ? &entries[i + 1] : nullptr;
    if (next != nullptr && next->start != entry.start) next_start = next->start;
    if (entry.kind != kUnsized) continue;
    const bool beside_sized = next != nullptr && next->start == entry.start && next->kind == kSized;
    entry.end = beside_sized ? entry.start : std::max(entry.start, std::min(entry.end, next_start));
  }
  for (uint32_t i = 0; i < entries.size(); ++i) {
    Entry& entry = entries[i];
    close_before(entry.start);
    entry.parent = open.empty() ? kNoParent : open.back();
    if (entry.kind == kUnsized && !open.empty()) entry.end = entry.start;
    if (entry.kind == kSized) open.push_back(i);
  }
}

SymbolTable SymbolTableBuilder::Build() && {
  KeepGaps();
  std::vector<Entry>& entries = table_.entries_;
  // At one address the best comes last, since look-ups begin there.
  std::sort(entries.begin(), entries.end(), [this](const Entry& a, const Entry& b) {
    if (a.start != b.start) return a.start < b.start;
    return Better(b, a);
  });
  LinkParents();
  return std::move(table_);
}

}  // namespace ksamp
