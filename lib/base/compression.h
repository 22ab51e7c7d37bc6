// SPDX-License-Identifier: Apache-2.0
// Compressed bytes in and out: zstd, xz, gzip/zlib. The only file that knows the three libraries.
//
// Every inflation has a limit, because four bytes may claim to be gigabytes: past it the answer is
// ResourceExhausted with nothing kept. Damaged input is DataLoss with the library's own words.
#ifndef KSAMP_LIB_BASE_COMPRESSION_H_
#define KSAMP_LIB_BASE_COMPRESSION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ksamp {

enum class Compression { kNone, kZstd, kXz, kGzip };

// What the first bytes say; kNone where none of the three magics is there.
Compression DetectCompression(std::span<const std::byte> bytes);

// All of `bytes` inflated, at most `limit` bytes.
absl::StatusOr<std::vector<std::byte>> Decompress(Compression kind, std::span<const std::byte> bytes,
                                                  size_t limit);

// zlib format (ELF SHF_COMPRESSED), whose size is known: exactly `size` bytes or an error.
absl::StatusOr<std::vector<std::byte>> InflateZlib(std::span<const std::byte> bytes, size_t size);

// The CRC-32 of zlib and .gnu_debuglink.
uint32_t Crc32(std::span<const std::byte> bytes);

// One complete zstd frame with its size in the header.
absl::StatusOr<std::vector<std::byte>> CompressZstd(std::span<const std::byte> bytes, int level);

// The inflated size of `bytes` where they are exactly one complete frame that tells it, as CompressZstd
// makes.
std::optional<uint64_t> ZstdFrameSize(std::span<const std::byte> bytes);
// Inflates such a frame into exactly `out`.
absl::Status DecompressZstdFrame(std::span<const std::byte> bytes, std::span<std::byte> out);

// A zstd stream whose pieces arrive one by one (perf.data: one decoder lives across COMPRESSED records).
// `sink` gets inflated bytes in pieces of at most 128 KiB. One thread.
class ZstdStreamDecoder {
 public:
  ZstdStreamDecoder();
  ~ZstdStreamDecoder();
  ZstdStreamDecoder(ZstdStreamDecoder&&) noexcept;
  ZstdStreamDecoder& operator=(ZstdStreamDecoder&&) noexcept;

  using Sink = std::function<absl::Status(std::span<const std::byte>)>;
  absl::Status Decode(std::span<const std::byte> piece, const Sink& sink);
  // True where everything so far formed complete frames.
  bool AtFrameEnd() const;

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_BASE_COMPRESSION_H_
