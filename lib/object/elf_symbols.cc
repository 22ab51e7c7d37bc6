// SPDX-License-Identifier: Apache-2.0
#include "lib/object/elf_symbols.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ksamp {
namespace {

bool HasMappingSymbols(uint16_t machine) {
  return machine == EM_ARM || machine == EM_AARCH64 || machine == EM_RISCV || machine == EM_CSKY;
}

// "$x", "$x.foo", "$d.12": where code and literals begin, on machines that mark it.
bool IsMappingSymbol(std::string_view name) {
  return name.size() >= 2 && name[0] == '$' &&
         (name[1] == 'a' || name[1] == 't' || name[1] == 'd' || name[1] == 'x') &&
         (name.size() == 2 || name[2] == '.' || name[1] == 'x');
}

bool IsLabelForPeople(std::string_view name, uint16_t machine) {
  if (name.empty() || name.starts_with(".L") || name == "gcc2_compiled.") return false;
  return !HasMappingSymbols(machine) || !IsMappingSymbol(name);
}

// One symbol table section with what its entries refer to.
class SymbolReader {
 public:
  SymbolReader(const ElfImage& elf, size_t table_index, SymbolTableBuilder* builder)
      : elf_(elf), builder_(*builder) {
    const ElfSection& table = elf.sections()[table_index];
    symbols_ = elf.RawBytes(table);
    if (table.link < elf.sections().size()) strings_ = elf.RawBytes(elf.sections()[table.link]);
    for (const ElfSection& section : elf.sections()) {
      if (section.type == SHT_SYMTAB_SHNDX && section.link == table_index) indices_ = elf.RawBytes(section);
    }
  }

  size_t AddAll() {
    const size_t count = symbols_.size() / elf_.symbol_entry_size();
    if (count == 0 || strings_.empty()) return 0;
    names_ = builder_.AddNames(strings_);
    size_t added = 0;
    for (size_t i = 1; i < count; ++i) added += Add(i) ? 1 : 0;
    return added;
  }

 private:
  std::optional<uint64_t> SectionIndex(size_t index, const Elf64_Sym& symbol) const {
    if (symbol.st_shndx == SHN_XINDEX) {
      if ((index + 1) * 4 > indices_.size()) return std::nullopt;
      return elf_.Number(indices_.data() + index * 4, 4);
    }
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE) return std::nullopt;
    return symbol.st_shndx;
  }

  bool Add(size_t index) {
    const Elf64_Sym symbol = elf_.SymbolAt(symbols_, index);
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if (type == STT_SECTION || type == STT_FILE || type == STT_TLS || type == STT_COMMON) return false;
    const std::optional<uint64_t> section_index = SectionIndex(index, symbol);
    if (!section_index || *section_index >= elf_.sections().size()) return false;
    const ElfSection& section = elf_.sections()[*section_index];
    if (!section.executable()) return false;
    const bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
    // Functions are named by people; only labels need their text looked at.
    if (!function && !IsLabelForPeople(StringAt(strings_, symbol.st_name), elf_.machine())) return false;
    if (symbol.st_name == 0) return false;
    builder_.Add(Candidate(symbol, *section_index, section, function));
    return true;
  }

  SymbolCandidate Candidate(const Elf64_Sym& symbol, uint64_t section_index, const ElfSection& section,
                            bool function) const {
    SymbolCandidate candidate;
    candidate.start = symbol.st_value;
    if (elf_.machine() == EM_ARM && function) candidate.start &= ~uint64_t{1};  // the Thumb bit
    candidate.size = symbol.st_size;
    candidate.limit = section.addr + section.size;
    if (elf_.type() == ET_REL) {
      candidate.start = RelocatableAddress(section_index, candidate.start);
      candidate.limit = RelocatableAddress(section_index, section.size);
    }
    candidate.names = names_;
    candidate.name_offset = symbol.st_name;
    const unsigned binding = ELF64_ST_BIND(symbol.st_info);
    const unsigned visibility = ELF64_ST_VISIBILITY(symbol.st_other);
    if (binding == STB_WEAK) candidate.traits |= kSymbolWeak;
    if (binding == STB_GLOBAL || binding == STB_GNU_UNIQUE) candidate.traits |= kSymbolGlobal;
    if (visibility == STV_HIDDEN || visibility == STV_INTERNAL) candidate.traits |= kSymbolHidden;
    return candidate;
  }

  const ElfImage& elf_;
  SymbolTableBuilder& builder_;
  std::span<const std::byte> symbols_, strings_, indices_;
  uint16_t names_ = 0;
};

// Where the stubs are and how long.
struct PltLayout {
  const ElfSection* section = nullptr;
  uint64_t header = 0, stub = 16;
};

std::optional<PltLayout> FindPlt(const ElfImage& elf) {
  const ElfSection* plt = elf.FindSection(".plt");
  if (elf.machine() == EM_X86_64 || elf.machine() == EM_386) {
    // With IBT the callable stubs stand in .plt.sec and .plt only binds lazily.
    if (const ElfSection* second = elf.FindSection(".plt.sec")) return PltLayout{second, 0, 16};
    if (plt != nullptr) return PltLayout{plt, 16, 16};
  }
  if (elf.machine() == EM_AARCH64 && plt != nullptr) return PltLayout{plt, 32, 16};
  return std::nullopt;
}

// The names of the functions that .rela.plt (.rel.plt) binds, in the stubs' order.
std::vector<std::string_view> PltFunctions(const ElfImage& elf) {
  const ElfSection* relocations = elf.FindSection(".rela.plt");
  const bool with_addend = relocations != nullptr;
  if (relocations == nullptr) relocations = elf.FindSection(".rel.plt");
  if (relocations == nullptr || relocations->link >= elf.sections().size()) return {};
  const ElfSection& table = elf.sections()[relocations->link];
  if (table.link >= elf.sections().size()) return {};
  const std::span<const std::byte> symbols = elf.RawBytes(table);
  const std::span<const std::byte> strings = elf.RawBytes(elf.sections()[table.link]);
  const std::span<const std::byte> bytes = elf.RawBytes(*relocations);
  const size_t word = elf.is_64() ? 8 : 4, size = word * (with_addend ? 3 : 2);
  std::vector<std::string_view> names;
  names.reserve(bytes.size() / size);
  for (size_t at = 0; at + size <= bytes.size(); at += size) {
    const uint64_t info = elf.Number(bytes.data() + at + word, word);
    const uint64_t index = elf.is_64() ? info >> 32 : info >> 8;
    const bool known = index != 0 && index < symbols.size() / elf.symbol_entry_size();
    names.push_back(known ? StringAt(strings, elf.SymbolAt(symbols, index).st_name) : std::string_view());
  }
  return names;
}

}  // namespace

bool HasSymtab(const ElfImage& elf) {
  return std::any_of(elf.sections().begin(), elf.sections().end(),
                     [](const ElfSection& section) { return section.type == SHT_SYMTAB; });
}

size_t AddElfSymbols(const ElfImage& elf, SymbolTableBuilder* builder) {
  size_t added = 0;
  constexpr size_t kMaxTables =
      16;  // a file has two; a made-up one may not have its strings read 60 000 times
  size_t tables = 0;
  for (size_t i = 0; i < elf.sections().size() && tables < kMaxTables; ++i) {
    const uint32_t type = elf.sections()[i].type;
    if (type != SHT_SYMTAB && type != SHT_DYNSYM) continue;
    ++tables;
    added += SymbolReader(elf, i, builder).AddAll();
  }
  return added;
}

size_t AddPltSymbols(const ElfImage& elf, SymbolTableBuilder* builder) {
  const std::optional<PltLayout> layout = FindPlt(elf);
  if (!layout) return 0;
  const std::vector<std::string_view> functions = PltFunctions(elf);
  std::string names(1, '\0');
  std::vector<SymbolCandidate> stubs;
  const ElfSection& plt = *layout->section;
  for (size_t i = 0; i < functions.size(); ++i) {
    const uint64_t at = layout->header + i * layout->stub;
    if (at + layout->stub > plt.size || functions[i].size() > 65536 || names.size() > (64u << 20)) break;
    if (functions[i].empty()) continue;
    stubs.push_back({.start = plt.addr + at,
                     .size = layout->stub,
                     .limit = plt.addr + plt.size,
                     .name_offset = static_cast<uint32_t>(names.size())});
    names.append(functions[i]).append("@plt").push_back('\0');
  }
  const uint16_t table = builder->AddOwnedNames(std::move(names));
  for (SymbolCandidate& stub : stubs) {
    stub.names = table;
    builder->Add(stub);
  }
  return stubs.size();
}

}  // namespace ksamp
