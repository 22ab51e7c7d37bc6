// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/build_id_cache.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/byte_reader.h"
#include "lib/base/unique_fd.h"

namespace ksamp {
namespace {

// A hostile ELF may claim any number of headers and any size of notes; real ones need a few hundred bytes.
constexpr size_t kMaxProgramHeaders = 256;
constexpr size_t kMaxNoteBytes = 64 * 1024;

// Reads up to buffer.size() bytes at `offset`; what was there.
std::span<const std::byte> ReadAt(int fd, uint64_t offset, std::span<std::byte> buffer) {
  if (offset > static_cast<uint64_t>(INT64_MAX)) return {};
  ssize_t got = 0;
  do {
    got = pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  return buffer.first(got > 0 ? static_cast<size_t>(got) : 0);
}

template <typename Header, typename ProgramHeader>
StoredBuildId ReadNotes(int fd, std::span<const std::byte> start) {
  ByteReader reader(start);
  const Header header = reader.Read<Header>();
  if (!reader.ok() || header.e_phentsize != sizeof(ProgramHeader)) return {};
  std::vector<std::byte> buffer(std::min<size_t>(header.e_phnum, kMaxProgramHeaders) * sizeof(ProgramHeader));
  ByteReader headers(ReadAt(fd, header.e_phoff, buffer));
  std::vector<std::byte> notes;
  while (headers.remaining() >= sizeof(ProgramHeader)) {
    const auto program = headers.Read<ProgramHeader>();
    if (program.p_type != PT_NOTE || program.p_filesz > kMaxNoteBytes) continue;
    notes.resize(static_cast<size_t>(program.p_filesz));
    if (StoredBuildId id = FindBuildIdNote(ReadAt(fd, program.p_offset, notes)); id.size > 0) return id;
  }
  return {};
}

}  // namespace

StoredBuildId FindBuildIdNote(std::span<const std::byte> notes) {
  ByteReader reader(notes);
  while (reader.remaining() >= 12) {
    const uint32_t name_size = reader.Read<uint32_t>(), size = reader.Read<uint32_t>(),
                   type = reader.Read<uint32_t>();
    const std::string_view name = AsText(reader.ReadBytes(name_size));
    reader.Skip((4 - name_size % 4) % 4);
    const std::span<const std::byte> description = reader.ReadBytes(size);
    if (!reader.ok()) break;
    if (type == NT_GNU_BUILD_ID && name == std::string_view("GNU\0", 4) && size > 0) {
      StoredBuildId id;
      id.size = static_cast<uint8_t>(std::min<size_t>(size, id.bytes.size()));
      std::memcpy(id.bytes.data(), description.data(), id.size);
      return id;
    }
    // The last description need not be padded.
    reader.Skip(std::min<uint64_t>((4 - size % 4) % 4, reader.remaining()));
  }
  return {};
}

StoredBuildId ReadElfBuildId(int fd) {
  std::array<std::byte, sizeof(Elf64_Ehdr)> buffer;
  const std::span<const std::byte> start = ReadAt(fd, 0, buffer);
  if (start.size() < sizeof(Elf32_Ehdr) || std::memcmp(start.data(), ELFMAG, SELFMAG) != 0) return {};
  const int host = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  if (static_cast<int>(start[EI_DATA]) != host) return {};
  switch (static_cast<int>(start[EI_CLASS])) {
    case ELFCLASS64:
      return ReadNotes<Elf64_Ehdr, Elf64_Phdr>(fd, start);
    case ELFCLASS32:
      return ReadNotes<Elf32_Ehdr, Elf32_Phdr>(fd, start);
    default:
      return {};
  }
}

std::span<const uint8_t> BuildIdCache::Find(pid_t pid, const MapsLine& line) {
  if (line.inode == 0) return {};
  const Key key(static_cast<uint64_t>(line.maj) << 32 | line.min, line.inode);
  auto [it, is_new] = images_.try_emplace(key);
  if (is_new) it->second = Read(pid, line);
  return it->second.view();
}

StoredBuildId BuildIdCache::Read(pid_t pid, const MapsLine& line) const {
  // A mapped device is no image, and opening one may do something.
  if (line.path.starts_with("/dev/")) return {};
  std::array<char, 96> relative;
  std::snprintf(relative.data(), relative.size(), "%d/map_files/%llx-%llx", pid,
                static_cast<unsigned long long>(line.start), static_cast<unsigned long long>(line.end));
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  if (const UniqueFd fd(openat(proc_->descriptor(), relative.data(), kFlags)); fd)
    return ReadElfBuildId(fd.get());
  if (!line.path.starts_with('/')) return {};
  const UniqueFd fd(open(std::string(line.path).c_str(), kFlags));
  struct stat file {};
  // The device is not compared: overlayfs and btrfs give stat() another one than they give the mapping.
  if (!fd || fstat(fd.get(), &file) != 0 || !S_ISREG(file.st_mode) || file.st_ino != line.inode) return {};
  return ReadElfBuildId(fd.get());
}

}  // namespace ksamp
