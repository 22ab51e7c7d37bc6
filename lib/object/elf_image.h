// SPDX-License-Identifier: Apache-2.0
// ElfImage: an ELF file as a profiler needs it: segments, sections, build-id, and the one place where file
// offsets become the addresses `nm` prints.
//
//   KSAMP_ASSIGN_OR_RETURN(ElfImage elf, ElfImage::Open("/usr/lib/libfoo.so.1"));
//   std::optional<ElfAddress> address = elf.ToElfAddress(FileOffset(0x1234));
//
// Own parser over the mapped file rather than libelf: nothing is copied, every read is checked against the
// file's size, counts are capped by the bytes that could hold them, and both byte orders and classes read
// alike. Compressed files (.ko.xz, .ko.zst, .ko.gz) are inflated into memory first, at most
// kMaxInflatedBytes.
//
// Views point into the image's bytes and live as long as it (moving it keeps them). Immutable after Open, so
// any number of threads may read it.
#ifndef KSAMP_LIB_OBJECT_ELF_IMAGE_H_
#define KSAMP_LIB_OBJECT_ELF_IMAGE_H_

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ksamp/address.h"
#include "lib/base/mapped_region.h"

namespace ksamp {

// A program header, widened to 64 bits and in host order.
struct ElfSegment {
  uint32_t type = 0, flags = 0;
  uint64_t offset = 0, vaddr = 0, filesz = 0, memsz = 0, align = 0;
};

// A section header, likewise.
struct ElfSection {
  std::string_view name;
  uint32_t type = 0, link = 0, info = 0;
  uint64_t flags = 0, addr = 0, offset = 0, size = 0, entsize = 0;
  bool executable() const { return (flags & SHF_ALLOC) != 0 && (flags & SHF_EXECINSTR) != 0; }
};

class ElfImage {
 public:
  static constexpr size_t kMaxInflatedBytes = size_t{512} << 20;

  // Errors: NotFound/PermissionDenied… with errno; InvalidArgument "not a regular file", "not an ELF file";
  // DataLoss where headers lie outside of the file. FIFOs and devices are refused without opening them.
  static absl::StatusOr<ElfImage> Open(const std::string& path);
  // Bytes from elsewhere (the vdso, .gnu_debugdata, a fuzzer). `name` appears in errors.
  static absl::StatusOr<ElfImage> FromBytes(std::vector<std::byte> bytes, const std::string& name);

  std::span<const std::byte> bytes() const { return bytes_; }
  bool is_64() const { return is_64_; }
  bool foreign_byte_order() const { return swap_; }
  uint16_t type() const { return type_; }        // ET_EXEC, ET_DYN, ET_REL, ET_CORE
  uint16_t machine() const { return machine_; }  // EM_X86_64, …
  const std::vector<ElfSegment>& segments() const { return segments_; }
  const std::vector<ElfSection>& sections() const { return sections_; }
  std::span<const std::byte> build_id() const { return build_id_; }  // empty: none

  const ElfSection* FindSection(std::string_view name) const;
  // The section's bytes as they are in the file; empty for NOBITS and where they lie outside of the file.
  std::span<const std::byte> RawBytes(const ElfSection& section) const;
  // The same, inflated where SHF_COMPRESSED (zlib); then `storage` owns them.
  absl::StatusOr<std::span<const std::byte>> Contents(const ElfSection& section,
                                                      std::vector<std::byte>* storage) const;

  // By PT_LOAD segments and p_filesz. An executable mapping begins at a page boundary below p_offset and ends
  // at one above, so executable segments are asked first, then their page-rounded neighbourhood, then other
  // segments. Nothing where no segment holds the offset (always so for ET_REL).
  std::optional<ElfAddress> ToElfAddress(FileOffset offset) const;
  // The other way; only bytes that are in the file.
  std::optional<FileOffset> ToFileOffset(ElfAddress address) const;

  // Unsigned number of `width` bytes (1, 2, 4, 8) at `p`, in host order. Requires: the bytes exist.
  uint64_t Number(const std::byte* p, size_t width) const;
  // Entry `index` of a symbol table's bytes, widened. Requires: it lies inside `table`.
  Elf64_Sym SymbolAt(std::span<const std::byte> table, size_t index) const;
  size_t symbol_entry_size() const { return is_64_ ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym); }

 private:
  ElfImage() = default;
  absl::Status Parse(const std::string& name);
  absl::Status ParseSections(uint64_t shoff, uint64_t count, uint64_t names_index, uint64_t entry_size,
                             const std::string& name);
  absl::Status ParseSegments(uint64_t phoff, uint64_t count, uint64_t entry_size, const std::string& name);
  ElfSection SectionAt(uint64_t offset) const;
  ElfSegment SegmentAt(uint64_t offset) const;
  void NameSections(const std::vector<uint32_t>& name_offsets, uint64_t names_index);
  void FindBuildId();
  bool FindBuildIdIn(std::span<const std::byte> notes, uint64_t align);

  MappedRegion file_;
  std::vector<std::byte> owned_;
  std::span<const std::byte> bytes_;
  bool is_64_ = true, swap_ = false;
  uint16_t type_ = 0, machine_ = 0;
  std::vector<ElfSegment> segments_;
  std::vector<ElfSection> sections_;
  std::span<const std::byte> build_id_;
};

// "NUL-terminated text at `offset` of a string table"; empty where outside.
std::string_view StringAt(std::span<const std::byte> table, uint64_t offset);

// The GNU build-id inside a sequence of notes in host byte order (/sys/kernel/notes, module notes); empty:
// none.
std::vector<uint8_t> BuildIdOfNotes(std::span<const std::byte> notes);

}  // namespace ksamp

#endif  // KSAMP_LIB_OBJECT_ELF_IMAGE_H_
