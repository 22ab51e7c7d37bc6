// SPDX-License-Identifier: Apache-2.0
// walk_headers FILE: the floor for readers of a recording. Maps the file, steps over every record header of
// the data section, counts samples; no other byte is looked at.
#include <linux/perf_event.h>

#include <cstdint>
#include <cstring>
#include <iostream>

#include "lib/base/mapped_region.h"

namespace {

uint64_t WordAt(std::span<const std::byte> bytes, size_t at) {
  uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof(word));
  return word;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: walk_headers FILE\n";
    return 64;
  }
  const auto file = ksamp::MappedRegion::MapFile(argv[1]);
  if (!file.ok()) {
    std::cerr << "walk_headers: " << file.status() << "\n";
    return 2;
  }
  constexpr size_t kHeaderSize = 104,
                   kDataSection = 40;  // of perf.data's header: offset and size of the data
  const std::span<const std::byte> bytes = file->bytes();
  if (bytes.size() < kHeaderSize || std::memcmp(bytes.data(), "PERFILE2", 8) != 0) {
    std::cerr << "walk_headers: " << argv[1] << " is no perf.data of this byte order\n";
    return 2;
  }
  uint64_t at = WordAt(bytes, kDataSection), samples = 0, records = 0;
  const uint64_t end = at + WordAt(bytes, kDataSection + 8);
  while (at <= bytes.size() - sizeof(perf_event_header) && at < end) {
    perf_event_header header{};
    std::memcpy(&header, bytes.data() + at, sizeof(header));
    if (header.size < sizeof(header)) break;
    ++records;
    samples += header.type == PERF_RECORD_SAMPLE ? 1 : 0;
    at += header.size;
  }
  std::cout << records << " records, " << samples << " samples\n";
  return 0;
}
