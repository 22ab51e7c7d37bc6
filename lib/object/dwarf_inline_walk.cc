// SPDX-License-Identifier: Apache-2.0
#include "lib/object/dwarf_inline_walk.h"

#include <algorithm>

namespace ksamp {
namespace {

// Compilers nest inlined calls some tens deep; deeper ones than this are folded into the one at the limit.
constexpr size_t kMaxDepth = 512;

class Walk {
 public:
  // `everywhere`: look into types and functions without a wanted address too.
  Walk(const DwarfUnitReader& reader, std::span<const uint64_t> wanted, DwarfWork* work, bool everywhere,
       InlinedCalls* found)
      : reader_(reader), wanted_(wanted), work_(*work), everywhere_(everywhere), found_(*found) {}

  void Run() {
    const DwarfUnit& unit = reader_.unit();
    const DwarfSections& sections = reader_.file().sections();
    at_ = DwarfCursor(sections.info.first(unit.end), unit.first_entry, sections.foreign_byte_order);
    work_.Spend(unit.end - unit.first_entry);
    do {
      if (!Step()) return;
    } while (depth_ != 0 && !work_.spent());
  }

 private:
  // A function or inlined call around the place of the walk.
  struct Open {
    uint64_t entry;
    uint32_t file, line;
    uint32_t call;   // index into found_.calls once one of its addresses is wanted
    uint32_t depth;  // of its children
    bool inlined;
  };

  // One entry. False at the unit's end or damage.
  bool Step() {
    const uint64_t entry = at_.position();
    const uint64_t code = at_.Uleb();
    if (!at_.ok()) return false;
    if (code == 0) {
      if (depth_ == 0) return false;
      --depth_;
      while (!open_.empty() && open_.back().depth > depth_) open_.pop_back();
      return true;
    }
    const DwarfAbbrev* abbrev = reader_.abbrevs().Find(code);
    if (abbrev == nullptr) return false;
    if (depth_ < skip_depth_) skip_depth_ = kNoSkip;
    const bool skipping = skip_depth_ != kNoSkip;
    const bool function = abbrev->tag == kTagSubprogram || abbrev->tag == kTagInlinedSubroutine;
    if (function && !skipping) {
      const bool wanted = Enter(entry, *abbrev);
      if (!wanted && abbrev->has_children) SkipChildren();
      return at_.ok();
    }
    if (abbrev->has_children && (skipping || !MayHoldCode(abbrev->tag))) {
      StepOver(*abbrev);
      if (!jumped_ && !skipping) SkipChildren();
      return at_.ok();
    }
    reader_.SkipEntry(&at_, *abbrev);
    if (abbrev->has_children) ++depth_;
    return at_.ok();
  }

  bool MayHoldCode(uint16_t tag) const {
    return everywhere_ || tag == kTagCompileUnit || tag == kTagPartialUnit || tag == kTagNamespace ||
           tag == kTagModule || tag == kTagSkeletonUnit || !open_.empty();
  }

  // Past the entry and, where it says where the next one is, past its children.
  void StepOver(const DwarfAbbrev& abbrev) {
    jumped_ = false;
    const uint64_t begin = at_.position();
    if (abbrev.sibling_at != DwarfAbbrev::kVariable && !everywhere_) {
      at_.Skip(abbrev.sibling_at);
      const DwarfValue value = reader_.Read(&at_, abbrev.sibling);
      if (JumpTo(value, begin)) return;
      at_.Seek(begin);
    }
    reader_.SkipEntry(&at_, abbrev);
    ++depth_;
  }

  // Only forwards: a sibling behind us would walk in circles.
  bool JumpTo(const DwarfValue& sibling, uint64_t from) {
    const auto target = reader_.ReferenceOf(sibling);
    if (!target || target->file != &reader_.file() || target->offset <= from ||
        target->offset > reader_.unit().end) {
      return false;
    }
    at_.Seek(target->offset);
    jumped_ = true;
    return true;
  }

  // The children just entered, and theirs, are of no interest.
  void SkipChildren() { skip_depth_ = depth_; }

  // Reads a function's entry and goes to its children. False where these do not matter.
  bool Enter(uint64_t entry, const DwarfAbbrev& abbrev) {
    DwarfCodeAttributes code;
    DwarfValue sibling;
    Open open{.entry = entry,
              .file = 0,
              .line = 0,
              .call = InlinedCalls::kNone,
              .depth = static_cast<uint32_t>(depth_ + 1),
              .inlined = abbrev.tag == kTagInlinedSubroutine && !open_.empty()};
    const uint64_t begin = at_.position();
    for (const DwarfAttributeSpec& spec : reader_.abbrevs().AttributesOf(abbrev)) {
      const DwarfValue value = reader_.Read(&at_, spec);
      switch (spec.name) {
        case kAtLowPc:
          code.low = value;
          break;
        case kAtHighPc:
          code.high = value;
          break;
        case kAtRanges:
          code.ranges = value;
          break;
        case kAtCallFile:
          open.file = static_cast<uint32_t>(value.number);
          break;
        case kAtCallLine:
          open.line = static_cast<uint32_t>(value.number);
          break;
        case kAtSibling:
          sibling = value;
          break;
        default:
          break;
      }
    }
    if (!at_.ok()) return false;
    if (open_.size() >= kMaxDepth) {
      if (abbrev.has_children) ++depth_;
      return true;
    }
    open_.push_back(open);
    const bool holds = Match(code);
    const bool descend = holds || open.inlined || everywhere_;
    if (!abbrev.has_children || !descend) open_.pop_back();
    if (!abbrev.has_children) return true;
    if (!descend && JumpTo(sibling, begin)) return true;
    ++depth_;
    return descend;
  }

  // Tells the wanted addresses in the code of the function opened last that it is theirs.
  bool Match(const DwarfCodeAttributes& code) {
    bool any = false;
    reader_.ForEachRange(code, &work_, [&](uint64_t low, uint64_t high) {
      auto it = std::lower_bound(wanted_.begin(), wanted_.end(), low);
      for (; it != wanted_.end() && *it < high; ++it) {
        any = true;
        if (!work_.Spend(1)) return;
        found_.innermost[static_cast<size_t>(it - wanted_.begin())] = CallOf(open_.size() - 1);
      }
    });
    return any;
  }

  // The call of an open function, made with those around it where it is not yet. A function that is not
  // inlined has nobody around it, wherever it stands.
  uint32_t CallOf(size_t index) {
    size_t first = index;
    while (first != 0 && open_[first].inlined && open_[first].call == InlinedCalls::kNone) --first;
    for (size_t i = first; i <= index; ++i) {
      Open& open = open_[i];
      if (open.call != InlinedCalls::kNone) continue;
      const uint32_t outer = open.inlined && i != 0 ? open_[i - 1].call : InlinedCalls::kNone;
      open.call = static_cast<uint32_t>(found_.calls.size());
      const uint32_t depth = outer == InlinedCalls::kNone ? 1 : found_.calls[outer].depth + 1;
      found_.calls.push_back(
          {.entry = open.entry, .outer = outer, .file = open.file, .line = open.line, .depth = depth});
    }
    return open_[index].call;
  }

  static constexpr uint64_t kNoSkip = 0;

  const DwarfUnitReader& reader_;
  std::span<const uint64_t> wanted_;
  DwarfWork& work_;
  const bool everywhere_;
  InlinedCalls& found_;
  DwarfCursor at_{{}, 0, false};
  uint64_t depth_ = 0;
  uint64_t skip_depth_ = kNoSkip;
  bool jumped_ = false;
  std::vector<Open> open_;
};

// In these languages a function may stand in another one only where it says so (GNU C's reach out by a static
// link), and code never stands in types. Of others everything is expected.
bool MayNestFunctions(const DwarfUnitReader& reader) {
  switch (reader.root().language) {
    case kLanguageC:
    case kLanguageC89:
    case kLanguageC99:
    case kLanguageC11:
    case kLanguageCxx:
    case kLanguageCxx11:
    case kLanguageCxx14:
    case kLanguageRust:
    case kLanguageMipsAssembler:
      return reader.abbrevs().has_nested_functions();
    default:
      return true;
  }
}

}  // namespace

InlinedCalls FindInlinedCalls(const DwarfUnitReader& reader, std::span<const uint64_t> addresses,
                              DwarfWork* work) {
  InlinedCalls found;
  found.innermost.assign(addresses.size(), InlinedCalls::kNone);
  Walk(reader, addresses, work, false, &found).Run();
  if (!MayNestFunctions(reader)) return found;
  std::vector<uint64_t> left;
  std::vector<size_t> left_index;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (found.innermost[i] != InlinedCalls::kNone) continue;
    left.push_back(addresses[i]);
    left_index.push_back(i);
  }
  if (left.empty()) return found;
  InlinedCalls nested;
  nested.innermost.assign(left.size(), InlinedCalls::kNone);
  Walk(reader, left, work, true, &nested).Run();
  const auto offset = static_cast<uint32_t>(found.calls.size());
  for (InlinedCalls::Call& call : nested.calls) {
    if (call.outer != InlinedCalls::kNone) call.outer += offset;
    found.calls.push_back(call);
  }
  for (size_t i = 0; i < left.size(); ++i) {
    if (nested.innermost[i] != InlinedCalls::kNone)
      found.innermost[left_index[i]] = nested.innermost[i] + offset;
  }
  return found;
}

}  // namespace ksamp
