// SPDX-License-Identifier: Apache-2.0
// Build-ids of running images, each image read once.
//
//   BuildIdCache cache(&proc);
//   std::span<const uint8_t> build_id = cache.Find(pid, line);   // empty: it has none, or cannot be opened
//
// An image is its (device, inode): a hundred processes map the same libc. The file is opened through
// /proc/PID/map_files, which is the very file that is mapped, also when it was deleted, replaced, or lies in
// another mount namespace; without the right to that, by its path, and believed only if the inode is the
// same.
//
// Only the ELF header, the program headers and the PT_NOTE segments are read, the way the kernel reads them
// for attr.build_id. That is why this does not use the object room's ELF images: they map and index whole
// files.
//
// One thread. Memory: one entry per distinct image.
#ifndef KSAMP_LIB_RECORDER_BUILD_ID_CACHE_H_
#define KSAMP_LIB_RECORDER_BUILD_ID_CACHE_H_

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/container/node_hash_map.h"
#include "lib/os/proc_fs.h"

namespace ksamp {

// A build-id by value: 1 to 20 bytes, or none.
struct StoredBuildId {
  std::array<uint8_t, 20> bytes{};
  uint8_t size = 0;
  std::span<const uint8_t> view() const { return {bytes.data(), size}; }
};

// The build-id among ELF notes (a PT_NOTE segment, /sys/kernel/notes): the "GNU" note of type 3. Longer than
// 20 bytes: cut, as the kernel does.
StoredBuildId FindBuildIdNote(std::span<const std::byte> notes);

// The build-id of an open ELF file in host byte order, 32 or 64 bit; none for anything else.
StoredBuildId ReadElfBuildId(int fd);

class BuildIdCache {
 public:
  // `proc` outlives the cache.
  explicit BuildIdCache(const ProcFs* proc) : proc_(proc) {}

  // Build-id of what `line` of `pid` maps. The view lives as long as the cache.
  std::span<const uint8_t> Find(pid_t pid, const MapsLine& line);

  size_t size() const { return images_.size(); }

 private:
  using Key = std::pair<uint64_t, uint64_t>;  // device, inode
  StoredBuildId Read(pid_t pid, const MapsLine& line) const;

  const ProcFs* proc_;
  absl::node_hash_map<Key, StoredBuildId> images_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_RECORDER_BUILD_ID_CACHE_H_
