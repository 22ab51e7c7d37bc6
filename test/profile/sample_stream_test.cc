// SPDX-License-Identifier: Apache-2.0
#include "ksamp/sample_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lib/base/str_cat.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::PerfDataBuilder;
using ::ksamp::testing::SampleAttr;
using ::ksamp::testing::StatusIs;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr uint64_t kKernelText = 0xffffffff81000000;
constexpr uint64_t kKernelMarker = static_cast<uint64_t>(-128), kUserMarker = static_cast<uint64_t>(-512);

PerfDataBuilder Chains() {
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}, SampleAttr(PERF_SAMPLE_CALLCHAIN));
  b.Mmap({.pid = ~0u,
          .addr = kKernelText,
          .length = 0x1000000,
          .file_offset = kKernelText,
          .path = "[kernel.kallsyms]_text",
          .mode = CpuMode::kKernel});
  b.Comm(10, 10, "server")
      .Mmap({.pid = 10, .addr = 0x400000, .length = 0x2000, .file_offset = 0x1000, .path = "/bin/server"});
  return b;
}

// "comm pid/tid cpu time period: image:address…", the address as a location's.
std::string Text(const SampleStream& stream, const AttributedSample& sample) {
  std::string text = StrCat(sample.comm, " ", *sample.pid, "/", *sample.tid, " cpu", *sample.cpu, " ",
                            *sample.time, " ", sample.period, ":");
  for (const SampleFrame& frame : sample.frames) {
    const ProfileLocation& location = stream.locations()[frame.location];
    const std::string image = location.image == kNone32 ? StrCat("[", Text(location.reason), "]")
                                                        : stream.images()[location.image].path;
    StrAppend(&text, " ", image, ":", Hex(location.address), frame.is_return_address ? "r" : "");
  }
  return text;
}

std::vector<std::string> Texts(const PerfDataBuilder& builder, const ProfileOptions& options = {}) {
  const absl::StatusOr<Recording> recording = builder.Open();
  EXPECT_OK(recording);
  const absl::StatusOr<SampleStream> stream = SampleStream::Create(*recording, options);
  EXPECT_OK(stream);
  std::vector<std::string> texts;
  stream->ForEach([&](const AttributedSample& sample) {
    texts.push_back(Text(*stream, sample));
    return true;
  });
  uint64_t counted = 0, taken = 0;
  for (const Conservation& sum : stream->conservation()) {
    EXPECT_TRUE(sum.Holds());
    counted += sum.counted;
    taken += sum.taken;
  }
  EXPECT_EQ(counted, texts.size());
  EXPECT_EQ(taken, recording->counts().samples);
  return texts;
}

TEST(SampleStreamTest, FramesAreAttributedLeafFirstReturnAddressesToTheCallBefore) {
  PerfDataBuilder b = Chains();
  b.Sample({.pid = 10,
            .tid = 10,
            .time = 100,
            .ip = kKernelText + 0x10,
            .mode = CpuMode::kKernel,
            .cpu = 1,
            .callchain = {kKernelMarker, kKernelText + 0x10, kKernelText + 0x20, kUserMarker, 0x400100,
                          0x500000}});
  EXPECT_THAT(
      Texts(b),
      ElementsAre(
          "server 10/10 cpu1 100 1000000: vmlinux:0xffffffff81000010 "
          "vmlinux:0xffffffff8100001fr /bin/server:0x1100 [no mapping covers the address]:0x4fffffr"));
}

TEST(SampleStreamTest, ASampleWithAnEmptyChainStillHasItsLeaf) {
  PerfDataBuilder b = Chains();
  b.Sample({.pid = 10, .tid = 10, .time = 100, .ip = 0x400100});
  EXPECT_THAT(Texts(b), ElementsAre("server 10/10 cpu0 100 1000000: /bin/server:0x1100"));
}

TEST(SampleStreamTest, ComesInOrderOfTimeWithTheNameOfThatTime) {
  PerfDataBuilder b;
  b.Comm(10, 10, "sh").Comm(10, 10, "ls", 150, true);
  b.Sample({.pid = 10, .tid = 10, .time = 200, .ip = 0x1})
      .Sample({.pid = 10, .tid = 10, .time = 100, .ip = 0x1});
  b.Sample({.pid = 30, .tid = 31, .time = 150, .ip = 0x1});
  EXPECT_THAT(Texts(b), ElementsAre(HasSubstr("sh 10/10 cpu0 100"), HasSubstr(":31 30/31 cpu0 150"),
                                    HasSubstr("ls 10/10 cpu0 200")));
}

TEST(SampleStreamTest, WhatCannotBeShownIsADropWithItsCause) {
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}).AddEvent("cycles", {8});
  b.Sample({.pid = 10, .tid = 10, .time = 100, .ip = 0x1});
  b.Sample({.pid = 10, .tid = 10, .time = 101, .ip = 0x1, .id = 99});  // nobody's
  b.AddRecord(PERF_RECORD_SAMPLE, std::vector<std::byte>(8), PERF_RECORD_MISC_USER);
  EXPECT_THAT(Texts(b), ElementsAre(HasSubstr(" 100 ")));
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  ASSERT_OK_AND_ASSIGN(const SampleStream stream, SampleStream::Create(recording, {}));
  uint64_t dropped = 0;
  for (const Conservation& sum : stream.conservation())
    for (const auto& [cause, samples] : sum.dropped) dropped += samples;
  EXPECT_EQ(dropped, 2u);
}

TEST(SampleStreamTest, FiltersAsAProfileDoes) {
  PerfDataBuilder b;
  b.Comm(10, 10, "a").Comm(20, 20, "b");
  for (uint32_t i = 0; i < 4; ++i)
    b.Sample(
        {.pid = i % 2 == 0 ? 10u : 20u, .tid = i % 2 == 0 ? 10u : 20u, .time = 100 + i, .ip = 1, .cpu = i});
  EXPECT_THAT(Texts(b, {.comms = {"b"}}), ElementsAre(HasSubstr("cpu1"), HasSubstr("cpu3")));
  EXPECT_THAT(Texts(b, {.cpus = {2}}), ElementsAre(HasSubstr("cpu2")));
  EXPECT_THAT(Texts(b, {.pids = {10}}), SizeIs(2));
  EXPECT_THAT(Texts(b, {.time = TimeRange{1, 3}}), ElementsAre(HasSubstr("cpu1"), HasSubstr("cpu2")));
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  EXPECT_THAT(SampleStream::Create(recording, {.events = {"nonsense"}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nonsense")));
}

TEST(SampleStreamTest, StopsWhereToldToAndRunsAgain) {
  PerfDataBuilder b;
  for (uint64_t time : {1, 2, 3}) b.Sample({.pid = 1, .tid = 1, .time = time, .ip = 1});
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  ASSERT_OK_AND_ASSIGN(const SampleStream stream, SampleStream::Create(recording));
  for (int round = 0; round < 2; ++round) {
    std::vector<uint64_t> times;
    stream.ForEach([&](const AttributedSample& sample) {
      times.push_back(*sample.time);
      return times.size() < 2;
    });
    EXPECT_THAT(times, ElementsAre(1, 2));
  }
}

// Knows one image and calls everything in it "main".
class OneNameSymbolizer : public Symbolizer {
 public:
  ImageSymbols Resolve(const Image& image, std::span<const uint64_t> addresses) override {
    ImageSymbols found;
    const bool known = image.path == "/bin/server";
    if (known) found.symbols.push_back({.name = "main", .start = 0x1000, .size = 0x1000});
    for (const uint64_t address : addresses) {
      ResolvedAddress resolved{
          .symbol = {}, .reason = UnresolvedReason::kFileNotFound, .elf = ElfAddress(address)};
      if (known) resolved = {.symbol = 0, .reason = UnresolvedReason::kNone, .elf = ElfAddress(address)};
      found.addresses.push_back(resolved);
    }
    return found;
  }
};

TEST(SampleStreamTest, NamesAreThereAfterSymbolize) {
  PerfDataBuilder b = Chains();
  b.Sample({.pid = 10, .tid = 10, .time = 1, .ip = 0x400100, .callchain = {kUserMarker, 0x400100, 0x900000}});
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  ASSERT_OK_AND_ASSIGN(SampleStream stream, SampleStream::Create(recording));
  OneNameSymbolizer symbolizer;
  stream.Symbolize(symbolizer);
  std::vector<std::string> names;
  stream.ForEach([&](const AttributedSample& sample) {
    for (const SampleFrame& frame : sample.frames) names.emplace_back(stream.SymbolName(frame).value_or("?"));
    return true;
  });
  EXPECT_THAT(names, ElementsAre("main", "?"));
}

}  // namespace
}  // namespace ksamp
