// SPDX-License-Identifier: Apache-2.0
#include "lib/object/elf_image.h"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "lib/base/byte_reader.h"
#include "lib/base/checked_math.h"
#include "lib/base/compression.h"
#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

absl::Status Damaged(const std::string& name, std::string_view what) {
  return absl::DataLossError(StrCat("read ELF ", name, ": ", what));
}

// Executable mappings are rounded to pages of the machine that ran them. Larger pages than 4 KiB exist on the
// others; a segment's alignment bounds them.
uint64_t PageSize(uint16_t machine, uint64_t align) {
  const uint64_t largest = machine == EM_X86_64 || machine == EM_386 ? 4096 : 65536;
  return std::has_single_bit(align) ? std::clamp<uint64_t>(align, 4096, largest) : 4096;
}

bool IsExecutableLoad(const ElfSegment& segment) {
  return segment.type == PT_LOAD && (segment.flags & PF_X) != 0;
}

bool HoldsOffset(const ElfSegment& segment, uint64_t offset) {
  return offset >= segment.offset && offset - segment.offset < segment.filesz;
}

bool HoldsOffsetInPages(const ElfSegment& segment, uint64_t offset, uint64_t page) {
  const uint64_t begin = segment.offset & ~(page - 1);
  const std::optional<uint64_t> file_end = CheckedAdd(segment.offset, segment.filesz);
  if (!file_end || segment.filesz == 0) return false;
  const std::optional<uint64_t> end = CheckedAlign(*file_end, page);
  return end && offset >= begin && offset < *end;
}

// Calls `visit(type, name, descriptor)` for each note until it returns true. `number(p)` reads 4 bytes.
template <typename Number, typename Visit>
bool WalkNotes(std::span<const std::byte> notes, uint64_t align, const Number& number, const Visit& visit) {
  if (align != 8) align = 4;
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    const uint64_t name_size = number(notes.data()), size = number(notes.data() + 4);
    const uint64_t type = number(notes.data() + 8);
    const uint64_t name_at = sizeof(Elf64_Nhdr);
    const uint64_t at = (name_at + name_size + align - 1) & ~(align - 1);
    const uint64_t next = (at + size + align - 1) & ~(align - 1);
    if (!RangeFits(name_at, name_size, notes.size()) || !RangeFits(at, size, notes.size())) return false;
    if (visit(type, AsText(notes.subspan(name_at, name_size)), notes.subspan(at, size))) return true;
    notes = notes.subspan(std::min<uint64_t>(next, notes.size()));
  }
  return false;
}

constexpr size_t kMaxBuildIdBytes = 64;  // SHA-1 has 20; longer than this is damage.

bool IsBuildId(uint64_t type, std::string_view name, std::span<const std::byte> descriptor) {
  return type == NT_GNU_BUILD_ID && name == std::string_view("GNU\0", 4) && !descriptor.empty() &&
         descriptor.size() <= kMaxBuildIdBytes;
}

}  // namespace

std::string_view StringAt(std::span<const std::byte> table, uint64_t offset) {
  if (offset >= table.size()) return {};
  const char* begin = reinterpret_cast<const char*>(table.data()) + offset;
  return {begin, strnlen(begin, table.size() - offset)};
}

std::vector<uint8_t> BuildIdOfNotes(std::span<const std::byte> notes) {
  std::vector<uint8_t> found;
  const auto number = [](const std::byte* p) {
    uint32_t value;
    std::memcpy(&value, p, sizeof(value));
    return uint64_t{value};
  };
  WalkNotes(notes, 4, number, [&](uint64_t type, std::string_view name, std::span<const std::byte> bytes) {
    if (!IsBuildId(type, name, bytes)) return false;
    const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
    found.assign(begin, begin + bytes.size());
    return true;
  });
  return found;
}

absl::StatusOr<ElfImage> ElfImage::Open(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return ErrnoStatus(errno, StrCat("open ", path));
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(StrCat("open ", path, ": not a regular file"));
  }
  ElfImage image;
  KSAMP_ASSIGN_OR_RETURN(image.file_, MappedRegion::MapFile(path));
  image.bytes_ = image.file_.bytes();
  if (const Compression kind = DetectCompression(image.bytes_); kind != Compression::kNone) {
    KSAMP_ASSIGN_OR_RETURN(image.owned_, Decompress(kind, image.bytes_, kMaxInflatedBytes));
    image.bytes_ = image.owned_;
    image.file_ = MappedRegion();
  }
  KSAMP_RETURN_IF_ERROR(image.Parse(path));
  return image;
}

absl::StatusOr<ElfImage> ElfImage::FromBytes(std::vector<std::byte> bytes, const std::string& name) {
  ElfImage image;
  image.owned_ = std::move(bytes);
  image.bytes_ = image.owned_;
  KSAMP_RETURN_IF_ERROR(image.Parse(name));
  return image;
}

uint64_t ElfImage::Number(const std::byte* p, size_t width) const {
  const auto load = [&]<typename T>(T value) {
    std::memcpy(&value, p, sizeof(value));
    return value;
  };
  switch (width) {
    case 1:
      return load(uint8_t{});
    case 2:
      return swap_ ? __builtin_bswap16(load(uint16_t{})) : load(uint16_t{});
    case 4:
      return swap_ ? __builtin_bswap32(load(uint32_t{})) : load(uint32_t{});
    default:
      return swap_ ? __builtin_bswap64(load(uint64_t{})) : load(uint64_t{});
  }
}

Elf64_Sym ElfImage::SymbolAt(std::span<const std::byte> table, size_t index) const {
  Elf64_Sym symbol;
  const std::byte* p = table.data() + index * symbol_entry_size();
  if (is_64_ && !swap_) {
    std::memcpy(&symbol, p, sizeof(symbol));
    return symbol;
  }
  symbol.st_name = static_cast<uint32_t>(Number(p, 4));
  if (is_64_) {
    symbol.st_info = static_cast<uint8_t>(p[4]);
    symbol.st_other = static_cast<uint8_t>(p[5]);
    symbol.st_shndx = static_cast<uint16_t>(Number(p + 6, 2));
    symbol.st_value = Number(p + 8, 8);
    symbol.st_size = Number(p + 16, 8);
  } else {
    symbol.st_value = Number(p + 4, 4);
    symbol.st_size = Number(p + 8, 4);
    symbol.st_info = static_cast<uint8_t>(p[12]);
    symbol.st_other = static_cast<uint8_t>(p[13]);
    symbol.st_shndx = static_cast<uint16_t>(Number(p + 14, 2));
  }
  return symbol;
}

absl::Status ElfImage::Parse(const std::string& name) {
  if (bytes_.size() < EI_NIDENT || std::memcmp(bytes_.data(), ELFMAG, SELFMAG) != 0) {
    return absl::InvalidArgumentError(StrCat("read ELF ", name, ": not an ELF file"));
  }
  const auto elf_class = static_cast<uint8_t>(bytes_[EI_CLASS]),
             order = static_cast<uint8_t>(bytes_[EI_DATA]);
  if ((elf_class != ELFCLASS32 && elf_class != ELFCLASS64) ||
      (order != ELFDATA2LSB && order != ELFDATA2MSB)) {
    return Damaged(name, "unknown class or byte order");
  }
  is_64_ = elf_class == ELFCLASS64;
  swap_ = (order == ELFDATA2LSB) != (std::endian::native == std::endian::little);
  if (bytes_.size() < (is_64_ ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr))) {
    return Damaged(name, "file header ends past the end of the file");
  }
  const std::byte* p = bytes_.data();
  type_ = static_cast<uint16_t>(Number(p + 16, 2));
  machine_ = static_cast<uint16_t>(Number(p + 18, 2));
  const size_t word = is_64_ ? 8 : 4;
  const uint64_t phoff = Number(p + 24 + word, word), shoff = Number(p + 24 + 2 * word, word);
  const std::byte* counts = p + 24 + 3 * word + 6;  // after e_flags and e_ehsize
  const uint64_t phentsize = Number(counts, 2), phnum = Number(counts + 2, 2);
  const uint64_t shentsize = Number(counts + 4, 2), shnum = Number(counts + 6, 2);
  const uint64_t shstrndx = Number(counts + 8, 2);
  KSAMP_RETURN_IF_ERROR(ParseSections(shoff, shnum, shstrndx, shentsize, name));
  // More than 65534 segments are counted in the first section header.
  const uint64_t segment_count = phnum == PN_XNUM && !sections_.empty() ? sections_[0].info : phnum;
  KSAMP_RETURN_IF_ERROR(ParseSegments(phoff, segment_count, phentsize, name));
  FindBuildId();
  return absl::OkStatus();
}

ElfSection ElfImage::SectionAt(uint64_t offset) const {
  const std::byte* p = bytes_.data() + offset;
  const size_t word = is_64_ ? 8 : 4;
  ElfSection section;
  section.type = static_cast<uint32_t>(Number(p + 4, 4));
  section.flags = Number(p + 8, word);
  section.addr = Number(p + 8 + word, word);
  section.offset = Number(p + 8 + 2 * word, word);
  section.size = Number(p + 8 + 3 * word, word);
  section.link = static_cast<uint32_t>(Number(p + 8 + 4 * word, 4));
  section.info = static_cast<uint32_t>(Number(p + 12 + 4 * word, 4));
  section.entsize = Number(p + 16 + 5 * word, word);
  return section;
}

absl::Status ElfImage::ParseSections(uint64_t shoff, uint64_t count, uint64_t names_index,
                                     uint64_t entry_size, const std::string& name) {
  if (shoff == 0) return absl::OkStatus();  // sstrip'ed, or the memory of a process
  const uint64_t smallest = is_64_ ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  if (entry_size < smallest) return Damaged(name, "section headers are too small");
  if (!RangeFits(shoff, smallest, bytes_.size())) {
    return Damaged(name, StrCat("section headers at ", Hex(shoff), " lie past the end of the file"));
  }
  const ElfSection first = SectionAt(shoff);
  if (count == 0) count = first.size;
  if (names_index == SHN_XINDEX) names_index = first.link;
  const std::optional<uint64_t> size = CheckedMultiply(count, entry_size);
  if (!size || !RangeFits(shoff, *size, bytes_.size())) {
    return Damaged(name, StrCat(count, " section headers at ", Hex(shoff), " end past the end of the file"));
  }
  std::vector<uint32_t> name_offsets;
  sections_.reserve(count);
  name_offsets.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    sections_.push_back(SectionAt(shoff + i * entry_size));
    name_offsets.push_back(static_cast<uint32_t>(Number(bytes_.data() + shoff + i * entry_size, 4)));
  }
  NameSections(name_offsets, names_index);
  return absl::OkStatus();
}

void ElfImage::NameSections(const std::vector<uint32_t>& name_offsets, uint64_t names_index) {
  if (names_index >= sections_.size()) return;
  const std::span<const std::byte> names = RawBytes(sections_[names_index]);
  for (size_t i = 0; i < sections_.size(); ++i) sections_[i].name = StringAt(names, name_offsets[i]);
}

ElfSegment ElfImage::SegmentAt(uint64_t offset) const {
  const std::byte* p = bytes_.data() + offset;
  ElfSegment segment;
  segment.type = static_cast<uint32_t>(Number(p, 4));
  if (is_64_) {
    segment.flags = static_cast<uint32_t>(Number(p + 4, 4));
    segment.offset = Number(p + 8, 8);
    segment.vaddr = Number(p + 16, 8);
    segment.filesz = Number(p + 32, 8);
    segment.memsz = Number(p + 40, 8);
    segment.align = Number(p + 48, 8);
  } else {
    segment.offset = Number(p + 4, 4);
    segment.vaddr = Number(p + 8, 4);
    segment.filesz = Number(p + 16, 4);
    segment.memsz = Number(p + 20, 4);
    segment.flags = static_cast<uint32_t>(Number(p + 24, 4));
    segment.align = Number(p + 28, 4);
  }
  return segment;
}

absl::Status ElfImage::ParseSegments(uint64_t phoff, uint64_t count, uint64_t entry_size,
                                     const std::string& name) {
  if (phoff == 0 || count == 0) return absl::OkStatus();
  if (entry_size < (is_64_ ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr))) {
    return Damaged(name, "program headers are too small");
  }
  const std::optional<uint64_t> size = CheckedMultiply(count, entry_size);
  if (!size || !RangeFits(phoff, *size, bytes_.size())) {
    return Damaged(name, StrCat(count, " program headers at ", Hex(phoff), " end past the end of the file"));
  }
  segments_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) segments_.push_back(SegmentAt(phoff + i * entry_size));
  return absl::OkStatus();
}

bool ElfImage::FindBuildIdIn(std::span<const std::byte> notes, uint64_t align) {
  const auto number = [this](const std::byte* p) { return Number(p, 4); };
  return WalkNotes(notes, align, number,
                   [this](uint64_t type, std::string_view name, std::span<const std::byte> descriptor) {
                     if (!IsBuildId(type, name, descriptor)) return false;
                     build_id_ = descriptor;
                     return true;
                   });
}

void ElfImage::FindBuildId() {
  // Sections first: in a separate debug file the program headers describe the stripped file (its notes stay).
  for (const ElfSection& section : sections_) {
    if (section.type == SHT_NOTE && FindBuildIdIn(RawBytes(section), 4)) return;
  }
  for (const ElfSegment& segment : segments_) {
    if (segment.type != PT_NOTE || !RangeFits(segment.offset, segment.filesz, bytes_.size())) continue;
    if (FindBuildIdIn(bytes_.subspan(segment.offset, segment.filesz), segment.align)) return;
  }
}

const ElfSection* ElfImage::FindSection(std::string_view name) const {
  const auto it = std::find_if(sections_.begin(), sections_.end(),
                               [&](const ElfSection& section) { return section.name == name; });
  return it == sections_.end() ? nullptr : &*it;
}

std::span<const std::byte> ElfImage::RawBytes(const ElfSection& section) const {
  if (section.type == SHT_NOBITS || !RangeFits(section.offset, section.size, bytes_.size())) return {};
  return bytes_.subspan(section.offset, section.size);
}

absl::StatusOr<std::span<const std::byte>> ElfImage::Contents(const ElfSection& section,
                                                              std::vector<std::byte>* storage) const {
  const std::span<const std::byte> raw = RawBytes(section);
  if ((section.flags & SHF_COMPRESSED) == 0) return raw;
  const size_t header = is_64_ ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
  if (raw.size() < header) return Damaged(std::string(section.name), "compression header is cut off");
  const uint64_t kind = Number(raw.data(), 4);
  const uint64_t size = is_64_ ? Number(raw.data() + 8, 8) : Number(raw.data() + 4, 4);
  if (size > kMaxInflatedBytes) {
    return absl::ResourceExhaustedError(
        StrCat("inflate section ", section.name, ": claims ", size, " bytes"));
  }
  if (kind == ELFCOMPRESS_ZLIB) {
    KSAMP_ASSIGN_OR_RETURN(*storage, InflateZlib(raw.subspan(header), size));
  } else {
    KSAMP_ASSIGN_OR_RETURN(*storage,
                           Decompress(DetectCompression(raw.subspan(header)), raw.subspan(header), size));
  }
  return std::span<const std::byte>(*storage);
}

std::optional<ElfAddress> ElfImage::ToElfAddress(FileOffset offset) const {
  const auto translate = [&](const ElfSegment& segment) {
    return ElfAddress(offset.value - segment.offset + segment.vaddr);  // wraps below p_offset, as meant
  };
  for (const ElfSegment& segment : segments_) {
    if (IsExecutableLoad(segment) && HoldsOffset(segment, offset.value)) return translate(segment);
  }
  for (const ElfSegment& segment : segments_) {
    if (IsExecutableLoad(segment) &&
        HoldsOffsetInPages(segment, offset.value, PageSize(machine_, segment.align))) {
      return translate(segment);
    }
  }
  for (const ElfSegment& segment : segments_) {
    if (segment.type == PT_LOAD && HoldsOffset(segment, offset.value)) return translate(segment);
  }
  return std::nullopt;
}

std::optional<FileOffset> ElfImage::ToFileOffset(ElfAddress address) const {
  for (const ElfSegment& segment : segments_) {
    if (segment.type != PT_LOAD || address.value < segment.vaddr) continue;
    if (address.value - segment.vaddr < segment.filesz) {
      return FileOffset(address.value - segment.vaddr + segment.offset);
    }
  }
  return std::nullopt;
}

}  // namespace ksamp
