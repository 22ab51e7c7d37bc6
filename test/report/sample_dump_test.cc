// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "ksamp/dump.h"
#include "lib/base/byte_reader.h"
#include "lib/base/byte_writer.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::PerfDataBuilder;
using ::ksamp::testing::SampleAttr;
using ::ksamp::testing::StatusIs;

constexpr uint64_t kKernelText = 0xffffffff81000000;
constexpr uint64_t kKernelMarker = static_cast<uint64_t>(-128), kUserMarker = static_cast<uint64_t>(-512);

// The kernel's first page is "start_kernel", /bin/gzip's file offsets from 0x1000 on are "_Z7deflatev" at
// 0x401000; nothing else has names.
class TwoNames : public Symbolizer {
 public:
  ImageSymbols Resolve(const Image& image, std::span<const uint64_t> addresses) override {
    ImageSymbols found;
    const bool kernel = image.kind == ImageKind::kKernel, gzip = image.path == "/bin/gzip";
    if (kernel) found.symbols.push_back({.name = "start_kernel", .start = kKernelText, .size = 0x1000});
    if (gzip) found.symbols.push_back({.name = "_Z7deflatev", .start = 0x401000, .size = 0x1000});
    for (const uint64_t address : addresses) {
      const ElfAddress elf(gzip ? address + 0x400000 : address);
      ResolvedAddress resolved{.symbol = {}, .reason = UnresolvedReason::kImageHasNoSymbols, .elf = elf};
      if (kernel || gzip) resolved = {.symbol = 0, .reason = UnresolvedReason::kNone, .elf = elf};
      found.addresses.push_back(resolved);
    }
    return found;
  }
};

PerfDataBuilder Machine(uint64_t more_sample_type = 0) {
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}, SampleAttr(more_sample_type));
  b.Mmap({.pid = ~0u,
          .addr = kKernelText,
          .length = 0x10000,
          .file_offset = kKernelText,
          .path = "[kernel.kallsyms]_text",
          .mode = CpuMode::kKernel});
  b.Mmap({.pid = ~0u,
          .addr = 0xffffffffc0000000,
          .length = 0x1000,
          .path = "/lib/modules/6.1/kernel/kvm-intel.ko.xz",
          .mode = CpuMode::kKernel});
  b.Comm(10, 10, "gzip")
      .Mmap({.pid = 10, .addr = 0x500000, .length = 0x2000, .file_offset = 0x1000, .path = "/bin/gzip"});
  b.Mmap({.pid = 10, .addr = 0x600000, .length = 0x1000, .path = "/bin/old (deleted)"});
  b.Mmap({.pid = 10, .addr = 0x700000, .length = 0x1000, .path = "//anon"});
  return b;
}

std::string Dumped(const PerfDataBuilder& builder, const DumpOptions& options = {}) {
  const absl::StatusOr<Recording> recording = builder.Open();
  EXPECT_OK(recording);
  absl::StatusOr<SampleStream> stream = SampleStream::Create(*recording);
  EXPECT_OK(stream);
  TwoNames symbolizer;
  stream->Symbolize(symbolizer);
  std::ostringstream out;
  EXPECT_OK(WriteSamples(*stream, options, out));
  return out.str();
}

TEST(SampleDumpTest, OneLineASampleWithPerfScriptsWidths) {
  PerfDataBuilder b = Machine();
  b.Sample({.pid = 10, .tid = 12, .time = 6028'837'808'999, .ip = 0x500010, .cpu = 1, .period = 250689});
  b.Sample({.pid = 10,
            .tid = 10,
            .time = 123'456'000'001'000,
            .ip = kKernelText + 0x1f,
            .mode = CpuMode::kKernel});
  EXPECT_EQ(Dumped(b),
            "             :12    12 [001]  6028.837808:     250689 cpu-clock:            500010 "
            "_Z7deflatev+0x10 (/bin/gzip)\n"
            "            gzip    10 [000] 123456.000001:    1000000 cpu-clock:  ffffffff8100001f "
            "start_kernel+0x1f ([kernel.kallsyms])\n");
}

TEST(SampleDumpTest, ImagesAreCalledAsPerfScriptCallsThem) {
  PerfDataBuilder b = Machine();
  b.Sample({.pid = 10, .tid = 10, .time = 1, .ip = 0x600010});
  b.Sample({.pid = 10, .tid = 10, .time = 2, .ip = 0x700010});
  b.Sample({.pid = 10, .tid = 10, .time = 3, .ip = 0x10});
  b.Sample({.pid = 10, .tid = 10, .time = 4, .ip = 0xffffffffc0000010, .mode = CpuMode::kKernel});
  b.Mmap({.pid = 10, .addr = 0x800000, .length = 0x1000, .path = "/memfd:code (deleted)"});
  b.Sample({.pid = 10, .tid = 10, .time = 5, .ip = 0x800010});
  const std::string start = "            gzip    10 [000]     0.000000:    1000000 cpu-clock:  ";
  EXPECT_EQ(Dumped(b), start + "          600010 [unknown] (/bin/old (deleted))\n" +    //
                           start + "          700010 [unknown] (/tmp/perf-10.map)\n" +  //
                           start + "              10 [unknown] ([unknown])\n" +         //
                           start + "ffffffffc0000010 [unknown] ([kvm_intel])\n" +       //
                           start + "          800010 [unknown] (/memfd:code (deleted))\n");
}

TEST(SampleDumpTest, AChainIsALineAFrameAndAnEmptyLine) {
  PerfDataBuilder b = Machine(PERF_SAMPLE_CALLCHAIN);
  b.Sample({.pid = 10,
            .tid = 10,
            .time = 1'000'000'000,
            .ip = kKernelText + 0x10,
            .mode = CpuMode::kKernel,
            .callchain = {kKernelMarker, kKernelText + 0x10, kUserMarker, 0x500020, 0x900000}});
  EXPECT_EQ(Dumped(b, {.demangle = [](std::string_view name) { return Demangle(name); }}),
            "gzip    10 [000]     1.000000:    1000000 cpu-clock: \n"
            "\tffffffff81000010 start_kernel+0x10 ([kernel.kallsyms])\n"
            "\t            1020 deflate()+0x20 (/bin/gzip)\n"
            "\t          900000 [unknown] ([unknown])\n"
            "\n");
}

TEST(SampleDumpTest, WhatAnEventDoesNotRecordIsLeftOut) {
  perf_event_attr attr = SampleAttr();
  attr.sample_type &= ~static_cast<uint64_t>(PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_TIME);
  attr.sample_period = 77;
  PerfDataBuilder b;
  b.AddEvent("cycles:u", {7}, attr).Comm(10, 10, "a");
  b.Sample({.pid = 10, .tid = 10, .ip = 0x10});
  EXPECT_EQ(Dumped(b),
            "               a    10         77 cycles:u:                10 [unknown] ([unknown])\n");
}

// trace-cmd's container with one format in it.
std::vector<std::byte> TracingData(std::string_view format) {
  ByteWriter out;
  out.PutBytes(AsBytes({"\x17\x08\x44tracing0.6\0\0\x08\0\x10\0\0", 20}));
  for (const std::string_view name : {"header_page", "header_event"}) {
    out.PutBytes(AsBytes(name));
    out.Put<uint8_t>(0);
    out.Put<uint64_t>(0);
  }
  out.Put<uint32_t>(0);
  out.Put<uint32_t>(1);
  out.PutBytes(AsBytes({"sched", 6}));
  out.Put<uint32_t>(1);
  out.Put<uint64_t>(format.size());
  out.PutBytes(AsBytes(format));
  return std::move(out).Take();
}

TEST(SampleDumpTest, TracepointsShowTheirFields) {
  perf_event_attr attr = SampleAttr(PERF_SAMPLE_RAW);
  attr.type = PERF_TYPE_TRACEPOINT;
  attr.config = 314;
  PerfDataBuilder b;
  b.AddEvent("sched:wakeup", {7}, attr).Comm(10, 10, "gzip");
  b.Feature(1, TracingData("name: wakeup\nID: 314\n\tfield:int pid;\toffset:0;\tsize:4;\tsigned:1;\n"
                           "print fmt: \"pid=%d\", REC->pid\n"));
  const std::byte raw[] = {std::byte{77}, std::byte{0}, std::byte{0}, std::byte{0}};
  b.Sample({.pid = 10, .tid = 10, .time = 1'000'000'000, .ip = 0x10, .raw = {raw, raw + 4}});
  EXPECT_EQ(Dumped(b), "            gzip    10 [000]     1.000000: sched:wakeup: pid=77\n");
}

TEST(SampleDumpTest, TextFromTheRecordingIsEscaped) {
  PerfDataBuilder b;
  b.Comm(10, 10, "\x1b[31mred");
  b.Mmap({.pid = 10, .addr = 0x1000, .length = 0x1000, .path = "/bin/\n"});
  b.Sample({.pid = 10, .tid = 10, .time = 1, .ip = 0x1000});
  const std::string text = Dumped(b);
  EXPECT_THAT(text, ::testing::HasSubstr("\\x1b[31mred"));
  EXPECT_THAT(text, ::testing::HasSubstr("(/bin/\\x0a)\n"));
}

TEST(SampleDumpTest, AStreamThatFailsEndsTheDump) {
  PerfDataBuilder b;
  b.Sample({.pid = 10, .tid = 10, .time = 1, .ip = 0x1000});
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  ASSERT_OK_AND_ASSIGN(const SampleStream stream, SampleStream::Create(recording));
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_THAT(WriteSamples(stream, {}, out), StatusIs(absl::StatusCode::kUnavailable, ::testing::_));
}

}  // namespace
}  // namespace ksamp
