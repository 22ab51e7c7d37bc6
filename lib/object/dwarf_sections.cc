// SPDX-License-Identifier: Apache-2.0
#include "lib/object/dwarf_sections.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "lib/base/byte_reader.h"
#include "lib/base/checked_math.h"
#include "lib/base/compression.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/object/elf_symbols.h"

namespace ksamp {
namespace {

struct NamedSection {
  std::string_view name;  // after ".debug_"
  std::span<const std::byte> DwarfSections::*bytes;
  bool required;
};

constexpr NamedSection kSections[] = {
    {"info", &DwarfSections::info, true},          {"abbrev", &DwarfSections::abbrev, true},
    {"line", &DwarfSections::line, false},         {"str", &DwarfSections::str, false},
    {"line_str", &DwarfSections::line_str, false}, {"str_offsets", &DwarfSections::str_offsets, false},
    {"addr", &DwarfSections::addr, false},         {"ranges", &DwarfSections::ranges, false},
    {"rnglists", &DwarfSections::rnglists, false},
};

// deflate cannot do better than 1032 : 1. A claim beyond that is damage, not worth the memory it asks for.
constexpr uint64_t kMaxInflation = 1100;

// The size a compressed section says it has.
uint64_t ClaimedSize(const ElfImage& elf, std::span<const std::byte> raw) {
  if (elf.is_64()) return raw.size() < sizeof(Elf64_Chdr) ? 0 : elf.Number(raw.data() + 8, 8);
  return raw.size() < sizeof(Elf32_Chdr) ? 0 : elf.Number(raw.data() + 4, 4);
}

// ".zdebug_…": "ZLIB", the size as 8 big-endian bytes, the stream.
std::optional<uint64_t> OldClaimedSize(std::span<const std::byte> raw) {
  if (raw.size() < 12 || AsText(raw.first(4)) != "ZLIB") return std::nullopt;
  uint64_t size = 0;
  for (size_t i = 4; i < 12; ++i) size = size << 8 | static_cast<uint8_t>(raw[i]);
  return size;
}

enum class RelocationKind { kNone, kSet, kAdd, kSubtract };
struct Relocation {
  RelocationKind kind = RelocationKind::kNone;
  uint8_t width = 0;
};

// The relocations that compilers put into debug sections, by the psABI of each machine.
Relocation RelocationOf(uint16_t machine, uint64_t type) {
  struct Known {
    uint16_t machine;
    uint16_t type;
    Relocation relocation;
  };
  using enum RelocationKind;
  static constexpr Known kKnown[] = {
      {EM_X86_64, R_X86_64_64, {kSet, 8}},
      {EM_X86_64, R_X86_64_32, {kSet, 4}},
      {EM_X86_64, R_X86_64_32S, {kSet, 4}},
      {EM_386, R_386_32, {kSet, 4}},
      {EM_AARCH64, R_AARCH64_ABS64, {kSet, 8}},
      {EM_AARCH64, R_AARCH64_ABS32, {kSet, 4}},
      {EM_ARM, R_ARM_ABS32, {kSet, 4}},
      {EM_PPC64, R_PPC64_ADDR64, {kSet, 8}},
      {EM_PPC64, R_PPC64_ADDR32, {kSet, 4}},
      {EM_S390, R_390_64, {kSet, 8}},
      {EM_S390, R_390_32, {kSet, 4}},
      {EM_RISCV, R_RISCV_64, {kSet, 8}},
      {EM_RISCV, R_RISCV_32, {kSet, 4}},
      {EM_RISCV, R_RISCV_ADD8, {kAdd, 1}},
      {EM_RISCV, R_RISCV_ADD16, {kAdd, 2}},
      {EM_RISCV, R_RISCV_ADD32, {kAdd, 4}},
      {EM_RISCV, R_RISCV_ADD64, {kAdd, 8}},
      {EM_RISCV, R_RISCV_SUB8, {kSubtract, 1}},
      {EM_RISCV, R_RISCV_SUB16, {kSubtract, 2}},
      {EM_RISCV, R_RISCV_SUB32, {kSubtract, 4}},
      {EM_RISCV, R_RISCV_SUB64, {kSubtract, 8}},
  };
  for (const Known& known : kKnown) {
    if (known.machine == machine && known.type == type) return known.relocation;
  }
  return {};
}

// Applies one relocation section to a copy of the section it is for.
class Relocator {
 public:
  Relocator(const ElfImage& elf, const ElfSection& relocations, std::vector<std::byte>* target)
      : elf_(elf),
        target_(*target),
        with_addend_(relocations.type == SHT_RELA),
        entries_(elf.RawBytes(relocations)) {
    if (relocations.link < elf.sections().size()) symbols_ = elf.RawBytes(elf.sections()[relocations.link]);
  }

  void ApplyAll() {
    const size_t word = elf_.is_64() ? 8 : 4, size = word * (with_addend_ ? 3 : 2);
    for (size_t at = 0; at + size <= entries_.size(); at += size) Apply(entries_.data() + at, word);
  }

 private:
  void Apply(const std::byte* entry, size_t word) {
    const uint64_t offset = elf_.Number(entry, word), info = elf_.Number(entry + word, word);
    const uint64_t type = elf_.is_64() ? info & 0xffffffff : info & 0xff;
    const Relocation relocation = RelocationOf(elf_.machine(), type);
    if (relocation.kind == RelocationKind::kNone || !RangeFits(offset, relocation.width, target_.size())) {
      return;
    }
    std::byte* place = target_.data() + offset;
    const uint64_t old = elf_.Number(place, relocation.width);
    const uint64_t addend = with_addend_                              ? elf_.Number(entry + 2 * word, word)
                            : relocation.kind == RelocationKind::kSet ? old
                                                                      : 0;
    const uint64_t value = ValueOf(elf_.is_64() ? info >> 32 : info >> 8, addend, relocation);
    switch (relocation.kind) {
      case RelocationKind::kAdd:
        return Store(place, old + value, relocation.width);
      case RelocationKind::kSubtract:
        return Store(place, old - value, relocation.width);
      default:
        return Store(place, value, relocation.width);
    }
  }

  uint64_t ValueOf(uint64_t symbol_index, uint64_t addend, const Relocation& relocation) const {
    if (symbol_index >= symbols_.size() / elf_.symbol_entry_size()) return addend;
    const Elf64_Sym symbol = elf_.SymbolAt(symbols_, symbol_index);
    const uint64_t value = symbol.st_value + addend;
    if (symbol.st_shndx >= elf_.sections().size() || relocation.kind != RelocationKind::kSet) return value;
    const bool code = elf_.sections()[symbol.st_shndx].executable() && relocation.width == 8;
    return code ? RelocatableAddress(symbol.st_shndx, value) : value;
  }

  void Store(std::byte* place, uint64_t value, size_t width) const {
    for (size_t i = 0; i < width; ++i) {
      const size_t shift = 8 * (IsBigEndian() ? width - 1 - i : i);
      place[i] = static_cast<std::byte>(value >> shift);
    }
  }
  bool IsBigEndian() const {
    return elf_.foreign_byte_order() == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  }

  const ElfImage& elf_;
  std::vector<std::byte>& target_;
  const bool with_addend_;
  std::span<const std::byte> entries_, symbols_;
};

// Finds, inflates and relocates sections.
class Loader {
 public:
  Loader(const ElfImage& elf, std::vector<std::vector<std::byte>>* owned) : elf_(elf), owned_(*owned) {}

  absl::StatusOr<std::span<const std::byte>> Load(const std::string& name) {
    const ElfSection* section = elf_.FindSection(StrCat(".debug_", name));
    if (section != nullptr) return Relocated(*section);
    section = elf_.FindSection(StrCat(".zdebug_", name));
    if (section == nullptr) return std::span<const std::byte>();
    const std::span<const std::byte> raw = elf_.RawBytes(*section);
    const std::optional<uint64_t> size = OldClaimedSize(raw);
    if (!size) return absl::DataLossError(StrCat("inflate ", section->name, ": no header"));
    KSAMP_RETURN_IF_ERROR(Reserve(section->name, raw.size(), *size));
    KSAMP_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, InflateZlib(raw.subspan(12), *size));
    return Keep(std::move(bytes));
  }

 private:
  absl::StatusOr<std::span<const std::byte>> Relocated(const ElfSection& section) {
    std::vector<std::byte> storage;
    if ((section.flags & SHF_COMPRESSED) != 0) {
      const std::span<const std::byte> raw = elf_.RawBytes(section);
      KSAMP_RETURN_IF_ERROR(Reserve(section.name, raw.size(), ClaimedSize(elf_, raw)));
    }
    KSAMP_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, elf_.Contents(section, &storage));
    if (elf_.type() == ET_REL) {
      if (storage.empty()) storage.assign(bytes.begin(), bytes.end());
      const auto index = static_cast<uint64_t>(&section - elf_.sections().data());
      for (const ElfSection& other : elf_.sections()) {
        const bool relocates = other.type == SHT_RELA || other.type == SHT_REL;
        if (relocates && other.info == index) Relocator(elf_, other, &storage).ApplyAll();
      }
    }
    if (storage.empty()) return bytes;
    return Keep(std::move(storage));
  }

  absl::Status Reserve(std::string_view name, uint64_t compressed, uint64_t size) {
    if (size / kMaxInflation > compressed) {
      return absl::DataLossError(StrCat("inflate ", name, ": ", compressed, " bytes claim to hold ", size));
    }
    if (size > left_) {
      return absl::ResourceExhaustedError(StrCat("inflate ", name, ": ", size, " bytes are too many"));
    }
    left_ -= size;
    return absl::OkStatus();
  }

  std::span<const std::byte> Keep(std::vector<std::byte> bytes) {
    owned_.push_back(std::move(bytes));
    return owned_.back();
  }

  const ElfImage& elf_;
  std::vector<std::vector<std::byte>>& owned_;
  uint64_t left_ = DwarfSections::kMaxInflatedBytes;
};

std::vector<DwarfSections::Code> CodeOf(const ElfImage& elf) {
  std::vector<DwarfSections::Code> code;
  for (size_t i = 0; i < elf.sections().size(); ++i) {
    const ElfSection& section = elf.sections()[i];
    if (!section.executable()) continue;
    const uint64_t begin = elf.type() == ET_REL ? RelocatableAddress(i, 0) : section.addr;
    if (const auto end = CheckedAdd(begin, section.size)) code.push_back({begin, *end});
  }
  std::sort(code.begin(), code.end(),
            [](const DwarfSections::Code& a, const DwarfSections::Code& b) { return a.begin < b.begin; });
  return code;
}

}  // namespace

absl::StatusOr<DwarfSections> DwarfSections::Load(const ElfImage& elf, Kind kind) {
  DwarfSections sections;
  sections.foreign_byte_order = elf.foreign_byte_order();
  sections.owned_.reserve(std::size(kSections) + 1);
  Loader loader(elf, &sections.owned_);
  const std::string_view suffix = kind == Kind::kSplit ? ".dwo" : "";
  for (const NamedSection& named : kSections) {
    KSAMP_ASSIGN_OR_RETURN(sections.*named.bytes, loader.Load(StrCat(named.name, suffix)));
    if (named.required && (sections.*named.bytes).empty()) {
      return absl::NotFoundError(StrCat("read debug info: no .debug_", named.name, suffix));
    }
  }
  if (kind == Kind::kSplit) {
    KSAMP_ASSIGN_OR_RETURN(sections.unit_index, loader.Load("cu_index"));
  }
  sections.code = CodeOf(elf);
  return sections;
}

bool DwarfSections::IsCode(uint64_t address) const {
  if (code.empty()) return true;
  const auto after = std::upper_bound(code.begin(), code.end(), address,
                                      [](uint64_t a, const Code& section) { return a < section.begin; });
  return after != code.begin() && address < (after - 1)->end;
}

uint64_t DwarfSections::size() const {
  uint64_t total = unit_index.size();
  for (const NamedSection& named : kSections) total += (this->*named.bytes).size();
  return total;
}

}  // namespace ksamp
