// SPDX-License-Identifier: Apache-2.0
#include "lib/base/compression.h"

#include <lzma.h>
#include <zlib.h>

#include <cstring>
#include <string>

#include "lib/base/byte_reader.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::StatusIs;
using ::testing::HasSubstr;

using Bytes = std::vector<std::byte>;

// Text that is neither constant nor incompressible.
Bytes Text(size_t size) {
  Bytes bytes(size);
  uint32_t state = 1;
  for (std::byte& b : bytes) b = static_cast<std::byte>('a' + ((state = state * 1103515245 + 12345) >> 28));
  return bytes;
}

Bytes Zlib(const Bytes& text, int window_bits) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes out(deflateBound(&stream, text.size()));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

Bytes Xz(const Bytes& text) {
  Bytes out(lzma_stream_buffer_bound(text.size()));
  size_t size = 0;
  EXPECT_EQ(
      lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const uint8_t*>(text.data()),
                              text.size(), reinterpret_cast<uint8_t*>(out.data()), &size, out.size()),
      LZMA_OK);
  out.resize(size);
  return out;
}

Bytes Compressed(Compression kind, const Bytes& text) {
  switch (kind) {
    case Compression::kZstd:
      return *CompressZstd(text, 1);
    case Compression::kXz:
      return Xz(text);
    case Compression::kGzip:
      return Zlib(text, 15 + 16);
    case Compression::kNone:
      break;
  }
  return text;
}

class EveryKind : public ::testing::TestWithParam<Compression> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind,
                         ::testing::Values(Compression::kNone, Compression::kZstd, Compression::kXz,
                                           Compression::kGzip));

TEST_P(EveryKind, ComesBackWhole) {
  // 128 KiB is the size of the pieces inside: an end that meets the end of a piece is the interesting one.
  for (const size_t size : {1, 1000, 128 * 1024 - 1, 128 * 1024, 128 * 1024 + 1, 512 * 1024}) {
    const Bytes text = Text(size);
    const Bytes packed = Compressed(GetParam(), text);
    EXPECT_EQ(DetectCompression(packed), GetParam());
    absl::StatusOr<Bytes> unpacked = Decompress(GetParam(), packed, size);
    ASSERT_OK(unpacked) << size;
    EXPECT_TRUE(*unpacked == text) << size;
  }
}

TEST_P(EveryKind, StopsAtTheLimit) {
  const Bytes packed = Compressed(GetParam(), Bytes(1 << 20));
  EXPECT_THAT(Decompress(GetParam(), packed, (1 << 20) - 1),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("more than 1048575 bytes")));
}

class EveryCompression : public ::testing::TestWithParam<Compression> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryCompression,
                         ::testing::Values(Compression::kZstd, Compression::kXz, Compression::kGzip));
class EveryChecksum : public ::testing::TestWithParam<Compression> {};  // zstd: none asked for
INSTANTIATE_TEST_SUITE_P(Kinds, EveryChecksum, ::testing::Values(Compression::kXz, Compression::kGzip));

TEST_P(EveryCompression, EveryTruncationIsAnError) {
  const Bytes packed = Compressed(GetParam(), Text(500));
  for (size_t size = 0; size < packed.size(); ++size) {
    EXPECT_THAT(Decompress(GetParam(), std::span(packed).first(size), 1000),
                StatusIs(absl::StatusCode::kDataLoss, ::testing::_))
        << size;
  }
}

TEST_P(EveryChecksum, DamageIsAnError) {
  Bytes packed = Compressed(GetParam(), Text(500));
  packed[packed.size() / 2] ^= std::byte{0xff};
  EXPECT_THAT(Decompress(GetParam(), packed, 1000), StatusIs(absl::StatusCode::kDataLoss, ::testing::_));
}

TEST(Compression, SectionsHaveExactlyTheSizeTheyPromise) {
  const Bytes text = Text(300);
  const Bytes packed = Zlib(text, 15);
  absl::StatusOr<Bytes> unpacked = InflateZlib(packed, 300);
  ASSERT_OK(unpacked);
  EXPECT_TRUE(*unpacked == text);
  EXPECT_THAT(InflateZlib(packed, 301),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("300 bytes where 301")));
  EXPECT_THAT(InflateZlib(packed, 299), StatusIs(absl::StatusCode::kResourceExhausted, ::testing::_));
}

TEST(ZstdStreamDecoder, TakesAStreamInPiecesOfAnySize) {
  const Bytes text = Text(300'000);
  Bytes packed = *CompressZstd(text, 1);
  const Bytes second = packed;  // two frames behind one another
  packed.insert(packed.end(), second.begin(), second.end());
  for (const size_t step : {size_t{1}, size_t{777}, packed.size()}) {
    Bytes out;
    ZstdStreamDecoder decoder;
    for (size_t at = 0; at < packed.size(); at += step) {
      ASSERT_OK(decoder.Decode(std::span(packed).subspan(at, std::min(step, packed.size() - at)),
                               [&](std::span<const std::byte> piece) {
                                 out.insert(out.end(), piece.begin(), piece.end());
                                 return absl::OkStatus();
                               }));
    }
    EXPECT_TRUE(decoder.AtFrameEnd());
    ASSERT_EQ(out.size(), 2 * text.size());
    EXPECT_TRUE(std::equal(text.begin(), text.end(), out.begin() + 300'000));
  }
}

TEST(ZstdStreamDecoder, HandsOnWhatTheSinkSays) {
  ZstdStreamDecoder decoder;
  EXPECT_THAT(decoder.Decode(*CompressZstd(Text(10), 1),
                             [](std::span<const std::byte>) { return absl::CancelledError("enough"); }),
              StatusIs(absl::StatusCode::kCancelled, "enough"));
}

}  // namespace
}  // namespace ksamp
