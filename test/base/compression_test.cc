// SPDX-License-Identifier: Apache-2.0
#include "lib/base/compression.h"

#include <lzma.h>
#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/byte_reader.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ksamp::testing::IsOkAndHolds;
using ksamp::testing::StatusIs;
using ::testing::_;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr size_t kNoLimit = size_t{1} << 30;

std::string Zstd(std::string_view text) {
  auto bytes = CompressZstd(AsBytes(text), 3);
  return bytes.ok() ? std::string(AsText(*bytes)) : "";
}

std::string Xz(std::string_view text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  EXPECT_EQ(
      lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t*>(text.data()),
                              text.size(), reinterpret_cast<uint8_t*>(out.data()), &size, out.size()),
      LZMA_OK);
  out.resize(size);
  return out;
}

std::string Deflated(std::string_view text, int window_bits) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Gzip(std::string_view text) {
  return Deflated(text, 15 + 16);
}

// Text that compresses, but not to nothing.
std::string Sample(size_t size) {
  std::string text(size, '\0');
  uint32_t state = 1;
  for (char& c : text) {
    state = state * 1664525 + 1013904223;
    c = static_cast<char>('a' + (state >> 28));
  }
  return text;
}

struct Format {
  const char* name;
  Compression kind;
  std::string (*compress)(std::string_view);
};
const Format kFormats[] = {
    {"zstd", Compression::kZstd, Zstd}, {"xz", Compression::kXz, Xz}, {"gzip", Compression::kGzip, Gzip}};

absl::StatusOr<std::string> Inflated(Compression kind, std::string_view bytes, size_t limit) {
  auto out = Decompress(kind, AsBytes(bytes), limit);
  if (!out.ok()) return out.status();
  return std::string(AsText(*out));
}

TEST(Compression, EveryFormatComesBackWhole) {
  // 128 KiB is the piece the decoders work in: its multiples are the edges.
  for (size_t size : {0, 1, 1000, 131071, 131072, 131073, 262144, 1000000}) {
    const std::string text = Sample(size);
    for (const Format& format : kFormats) {
      const std::string packed = format.compress(text);
      EXPECT_EQ(DetectCompression(AsBytes(packed)), format.kind) << format.name;
      auto out = Inflated(format.kind, packed, kNoLimit);
      ASSERT_OK(out) << format.name << " " << size;
      EXPECT_TRUE(*out == text) << format.name << " " << size;
    }
  }
}

TEST(Compression, TheLimitIsExact) {
  const std::string text = Sample(200000);
  for (const Format& format : kFormats) {
    const std::string packed = format.compress(text);
    EXPECT_OK(Inflated(format.kind, packed, text.size())) << format.name;
    EXPECT_THAT(Inflated(format.kind, packed, text.size() - 1).status(),
                StatusIs(absl::StatusCode::kResourceExhausted, "decompress: more than 199999 bytes"))
        << format.name;
    EXPECT_THAT(Inflated(format.kind, packed, 0).status(), StatusIs(absl::StatusCode::kResourceExhausted, _))
        << format.name;
  }
}

// A few kilobytes that unfold to very much.
TEST(Compression, ABombIsStoppedAtTheLimit) {
  const std::string zeros(size_t{32} << 20, '\0');
  for (const Format& format : kFormats) {
    const std::string packed = format.compress(zeros);
    EXPECT_LT(packed.size(), zeros.size() / 100) << format.name;
    EXPECT_THAT(Inflated(format.kind, packed, 1 << 20).status(),
                StatusIs(absl::StatusCode::kResourceExhausted, _))
        << format.name;
  }
}

TEST(Compression, TruncatedAnywhereIsDataLoss) {
  const std::string text = Sample(2000);
  for (const Format& format : kFormats) {
    const std::string packed = format.compress(text);
    for (size_t size = 0; size < packed.size(); ++size) {
      EXPECT_THAT(Inflated(format.kind, packed.substr(0, size), kNoLimit).status(),
                  StatusIs(absl::StatusCode::kDataLoss, _))
          << format.name << " " << size;
    }
  }
}

TEST(Compression, DamagedAnywhereIsAnErrorOrTheText) {
  const std::string text = Sample(2000);
  for (const Format& format : kFormats) {
    const std::string packed = format.compress(text);
    for (size_t at = 0; at < packed.size(); ++at) {
      std::string bad = packed;
      bad[at] = static_cast<char>(bad[at] ^ 0x55);
      auto out = Inflated(format.kind, bad, 1 << 20);
      if (!out.ok()) {
        EXPECT_THAT(out.status().code(),
                    AnyOf(absl::StatusCode::kDataLoss, absl::StatusCode::kResourceExhausted))
            << format.name;
      } else if (format.kind != Compression::kZstd) {  // Our frames carry no checksum; the others do.
        EXPECT_EQ(*out, text) << format.name << " " << at;
      }
    }
  }
}

TEST(Compression, SeveralPartsBehindEachOtherAreOne) {
  for (const Format& format : kFormats) {
    const std::string packed =
        format.compress("one ") + format.compress(Sample(131072)) + format.compress(" three");
    EXPECT_THAT(Inflated(format.kind, packed, kNoLimit), IsOkAndHolds("one " + Sample(131072) + " three"))
        << format.name;
  }
}

TEST(Compression, RubbishBehindTheEndIsDataLoss) {
  for (const Format& format : kFormats) {
    EXPECT_THAT(Inflated(format.kind, format.compress("text") + "rubbish", kNoLimit).status(),
                StatusIs(absl::StatusCode::kDataLoss, _))
        << format.name;
  }
}

TEST(Compression, NoneIsACopyWithinTheLimit) {
  EXPECT_EQ(DetectCompression(AsBytes("")), Compression::kNone);
  EXPECT_EQ(DetectCompression(AsBytes("\x28\xb5\x2f")), Compression::kNone);
  EXPECT_THAT(Inflated(Compression::kNone, "plain", 5), IsOkAndHolds("plain"));
  EXPECT_THAT(Inflated(Compression::kNone, "plain", 4).status(),
              StatusIs(absl::StatusCode::kResourceExhausted, _));
}

TEST(InflateZlib, WantsExactlyThePromisedSize) {
  const std::string packed = Deflated("four", 15);
  ASSERT_OK_AND_ASSIGN(std::vector<std::byte> out, InflateZlib(AsBytes(packed), 4));
  EXPECT_EQ(AsText(out), "four");
  EXPECT_THAT(InflateZlib(AsBytes(packed), 5).status(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("4 bytes where 5 were promised")));
  EXPECT_THAT(InflateZlib(AsBytes(packed), 3).status(), StatusIs(absl::StatusCode::kResourceExhausted, _));
  EXPECT_THAT(InflateZlib(AsBytes("no zlib"), 5).status(), StatusIs(absl::StatusCode::kDataLoss, _));
  EXPECT_THAT(InflateZlib({}, 0).status(), StatusIs(absl::StatusCode::kDataLoss, _));
}

TEST(ZstdFrame, OnlyWholeSingleFramesTellTheirSize) {
  const std::string_view text = "a text that is long enough to be worth it, worth it, worth it";
  const std::vector<std::byte> frame = *CompressZstd(AsBytes(text), 3);
  EXPECT_EQ(ZstdFrameSize(frame), text.size());
  std::vector<std::byte> out(text.size());
  EXPECT_OK(DecompressZstdFrame(frame, out));
  EXPECT_EQ(AsText(out), text);
  for (size_t size = 0; size < frame.size(); ++size)
    EXPECT_EQ(ZstdFrameSize(std::span(frame).first(size)), std::nullopt) << size;
  std::vector<std::byte> twice = frame;
  twice.insert(twice.end(), frame.begin(), frame.end());
  EXPECT_EQ(ZstdFrameSize(twice), std::nullopt);
  EXPECT_EQ(ZstdFrameSize(AsBytes(text)), std::nullopt);
}

TEST(ZstdFrame, DamageAndAWrongSizeAreDataLoss) {
  const std::string_view text = "a text that is long enough to be worth it, worth it, worth it";
  std::vector<std::byte> frame = *CompressZstd(AsBytes(text), 3);
  for (const size_t size : {text.size() - 1, text.size() + 1}) {
    std::vector<std::byte> out(size);
    EXPECT_THAT(DecompressZstdFrame(frame, out), StatusIs(absl::StatusCode::kDataLoss, ::testing::_));
  }
  frame.resize(frame.size() - 1);
  std::vector<std::byte> out(text.size());
  EXPECT_THAT(DecompressZstdFrame(frame, out), StatusIs(absl::StatusCode::kDataLoss, ::testing::_));
}

TEST(ZstdStreamDecoder, TakesPiecesOfAnySize) {
  const std::string text = Sample(400000), packed = Zstd(text) + Zstd("second");
  for (size_t piece : {size_t{1}, size_t{7}, size_t{4096}, packed.size()}) {
    ZstdStreamDecoder decoder;
    std::string out;
    for (size_t at = 0; at < packed.size(); at += piece) {
      ASSERT_OK(decoder.Decode(AsBytes(std::string_view(packed).substr(at, piece)),
                               [&](std::span<const std::byte> bytes) {
                                 EXPECT_LE(bytes.size(), 128u * 1024u);
                                 out += AsText(bytes);
                                 return absl::OkStatus();
                               }));
    }
    EXPECT_TRUE(out == text + "second") << piece;
    EXPECT_TRUE(decoder.AtFrameEnd()) << piece;
  }
}

TEST(ZstdStreamDecoder, KnowsWhetherAFrameIsOpen) {
  const std::string packed = Zstd("some text");
  const auto ignore = [](std::span<const std::byte>) { return absl::OkStatus(); };
  ZstdStreamDecoder decoder;
  EXPECT_TRUE(decoder.AtFrameEnd());
  ASSERT_OK(decoder.Decode({}, ignore));
  EXPECT_TRUE(decoder.AtFrameEnd());
  ASSERT_OK(decoder.Decode(AsBytes(packed.substr(0, 5)), ignore));
  EXPECT_FALSE(decoder.AtFrameEnd());
  ASSERT_OK(decoder.Decode(AsBytes(packed.substr(5)), ignore));
  EXPECT_TRUE(decoder.AtFrameEnd());
}

TEST(ZstdStreamDecoder, HandsOnTheSinksError) {
  ZstdStreamDecoder decoder;
  EXPECT_THAT(decoder.Decode(AsBytes(Zstd("text")),
                             [](std::span<const std::byte>) { return absl::CancelledError("stop"); }),
              StatusIs(absl::StatusCode::kCancelled, "stop"));
}

}  // namespace
}  // namespace ksamp
