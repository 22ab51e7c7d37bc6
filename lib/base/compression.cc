// SPDX-License-Identifier: Apache-2.0
#include "lib/base/compression.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

constexpr size_t kPiece = 128 * 1024;

absl::Status TooLong(size_t limit) {
  return absl::ResourceExhaustedError(StrCat("decompress: more than ", limit, " bytes"));
}

// Appends a piece to `out` unless that passes `limit`.
absl::Status AppendWithin(std::span<const std::byte> piece, size_t limit, std::vector<std::byte>& out) {
  if (piece.size() > limit - std::min(limit, out.size())) return TooLong(limit);
  out.insert(out.end(), piece.begin(), piece.end());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::byte>> DecompressXz(std::span<const std::byte> bytes, size_t limit) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, UINT64_C(1) << 28, LZMA_CONCATENATED) != LZMA_OK)
    return absl::InternalError("decompress xz: decoder not available");
  std::vector<std::byte> out;
  std::array<std::byte, kPiece> piece;
  stream.next_in = reinterpret_cast<const uint8_t*>(bytes.data());
  stream.avail_in = bytes.size();
  lzma_ret result = LZMA_OK;
  absl::Status status;
  while (status.ok() && result == LZMA_OK) {
    stream.next_out = reinterpret_cast<uint8_t*>(piece.data());
    stream.avail_out = piece.size();
    result = lzma_code(&stream, LZMA_FINISH);
    status = AppendWithin(std::span(piece).first(piece.size() - stream.avail_out), limit, out);
  }
  lzma_end(&stream);
  if (!status.ok()) return status;
  if (result != LZMA_STREAM_END)
    return absl::DataLossError(
        StrCat("decompress xz: damaged or truncated (liblzma error ", static_cast<int>(result), ")"));
  return out;
}

constexpr int kZlibBits = 15, kGzipBits = 15 + 16;

// `window_bits` says which of the two formats. A gzip file may be several, one behind the other.
absl::StatusOr<std::vector<std::byte>> Inflate(std::span<const std::byte> bytes, size_t limit,
                                               int window_bits) {
  z_stream stream{};
  if (inflateInit2(&stream, window_bits) != Z_OK) return absl::InternalError("inflate: zlib not available");
  std::vector<std::byte> out;
  std::array<std::byte, kPiece> piece;
  int result = Z_OK;
  absl::Status status;
  while (status.ok() && result == Z_OK) {
    if (stream.avail_in == 0 && !bytes.empty()) {  // avail_in is 32 bits wide.
      const size_t part = std::min<size_t>(bytes.size(), size_t{1} << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
      stream.avail_in = static_cast<uInt>(part);
      bytes = bytes.subspan(part);
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    result = inflate(&stream, Z_NO_FLUSH);
    status = AppendWithin(std::span(piece).first(piece.size() - stream.avail_out), limit, out);
    const bool more = stream.avail_in > 0 || !bytes.empty();
    if (result == Z_STREAM_END && window_bits == kGzipBits && more) result = inflateReset(&stream);
  }
  inflateEnd(&stream);
  if (!status.ok()) return status;
  if (result != Z_STREAM_END)
    return absl::DataLossError(StrCat("inflate: damaged or truncated (zlib error ", result, ")"));
  return out;
}

}  // namespace

Compression DetectCompression(std::span<const std::byte> bytes) {
  auto starts_with = [&](std::initializer_list<uint8_t> magic) {
    return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.begin(), magic.size()) == 0;
  };
  if (starts_with({0x28, 0xb5, 0x2f, 0xfd})) return Compression::kZstd;
  if (starts_with({0xfd, '7', 'z', 'X', 'Z', 0})) return Compression::kXz;
  if (starts_with({0x1f, 0x8b})) return Compression::kGzip;
  return Compression::kNone;
}

absl::StatusOr<std::vector<std::byte>> Decompress(Compression kind, std::span<const std::byte> bytes,
                                                  size_t limit) {
  switch (kind) {
    case Compression::kZstd: {
      std::vector<std::byte> out;
      ZstdStreamDecoder decoder;
      absl::Status status = decoder.Decode(
          bytes, [&](std::span<const std::byte> piece) { return AppendWithin(piece, limit, out); });
      if (!status.ok()) return status;
      if (bytes.empty() || !decoder.AtFrameEnd()) return absl::DataLossError("decompress zstd: truncated");
      return out;
    }
    case Compression::kXz:
      return DecompressXz(bytes, limit);
    case Compression::kGzip:
      return Inflate(bytes, limit, kGzipBits);
    case Compression::kNone:
      break;
  }
  if (bytes.size() > limit) return TooLong(limit);
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

absl::StatusOr<std::vector<std::byte>> InflateZlib(std::span<const std::byte> bytes, size_t size) {
  absl::StatusOr<std::vector<std::byte>> out = Inflate(bytes, size, kZlibBits);
  if (out.ok() && out->size() != size)
    return absl::DataLossError(StrCat("inflate: ", out->size(), " bytes where ", size, " were promised"));
  return out;
}

uint32_t Crc32(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

absl::StatusOr<std::vector<std::byte>> CompressZstd(std::span<const std::byte> bytes, int level) {
  std::vector<std::byte> out(ZSTD_compressBound(bytes.size()));
  const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), level);
  if (ZSTD_isError(size)) return absl::InternalError(StrCat("compress zstd: ", ZSTD_getErrorName(size)));
  out.resize(size);
  return out;
}

std::optional<uint64_t> ZstdFrameSize(std::span<const std::byte> bytes) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) return std::nullopt;
  if (ZSTD_findFrameCompressedSize(bytes.data(), bytes.size()) != bytes.size()) return std::nullopt;
  return size;
}

absl::Status DecompressZstdFrame(std::span<const std::byte> bytes, std::span<std::byte> out) {
  const size_t size = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size)) return absl::DataLossError(StrCat("decompress zstd: ", ZSTD_getErrorName(size)));
  if (size != out.size())
    return absl::DataLossError(
        StrCat("decompress zstd: ", size, " bytes where ", out.size(), " were promised"));
  return absl::OkStatus();
}

struct ZstdStreamDecoder::Context {
  ZSTD_DCtx* decoder = ZSTD_createDCtx();
  std::vector<std::byte> piece = std::vector<std::byte>(kPiece);
  size_t hint = 0;  // Zstd's wish for more input; 0 at the end of a frame.
  ~Context() { ZSTD_freeDCtx(decoder); }
};

ZstdStreamDecoder::ZstdStreamDecoder() : context_(std::make_unique<Context>()) {}
ZstdStreamDecoder::~ZstdStreamDecoder() = default;
ZstdStreamDecoder::ZstdStreamDecoder(ZstdStreamDecoder&&) noexcept = default;
ZstdStreamDecoder& ZstdStreamDecoder::operator=(ZstdStreamDecoder&&) noexcept = default;

bool ZstdStreamDecoder::AtFrameEnd() const {
  return context_->hint == 0;
}

absl::Status ZstdStreamDecoder::Decode(std::span<const std::byte> piece, const Sink& sink) {
  ZSTD_inBuffer in{piece.data(), piece.size(), 0};
  bool full =
      context_->hint != 0;  // An earlier piece may have left output behind; between frames nothing can.
  while (in.pos < in.size || full) {
    ZSTD_outBuffer out{context_->piece.data(), context_->piece.size(), 0};
    const size_t hint = ZSTD_decompressStream(context_->decoder, &out, &in);
    if (ZSTD_isError(hint)) return absl::DataLossError(StrCat("decompress zstd: ", ZSTD_getErrorName(hint)));
    context_->hint = hint;
    // Behind a full buffer there may be more without new input, but not behind the end of a frame: asked
    // again there, zstd would begin the next one.
    full = out.pos == out.size && hint != 0;
    if (out.pos == 0) continue;
    if (absl::Status status = sink(std::span(context_->piece).first(out.pos)); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace ksamp
