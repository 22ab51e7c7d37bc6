// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "ksamp/profile.h"
#include "test/profile/profile_rows.h"
#include "test/profile/stack_rows.h"
#include "test/support/perf_data_builder.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::BuiltMmap;
using ::ksamp::testing::BuiltSample;
using ::ksamp::testing::ExpectConserved;
using ::ksamp::testing::PerfDataBuilder;
using ::ksamp::testing::RowsOf;
using ::ksamp::testing::SampleAttr;
using ::ksamp::testing::StatusIs;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr uint64_t kKernelText = 0xffffffff81000000;
constexpr uint32_t kKernelPid = ~0u;

// Two processes with a library in common, a kernel and a module.
PerfDataBuilder TwoProcesses() {
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7});
  b.Mmap({.pid = kKernelPid,
          .addr = kKernelText,
          .length = 0x1000000,
          .file_offset = kKernelText,
          .path = "[kernel.kallsyms]_text",
          .mode = CpuMode::kKernel});
  b.Mmap({.pid = kKernelPid,
          .addr = 0xffffffffc0000000,
          .length = 0x4000,
          .path = "[kvm]",
          .mode = CpuMode::kKernel});
  b.Comm(10, 10, "server").Mmap({.pid = 10, .addr = 0x400000, .length = 0x2000, .path = "/bin/server"});
  b.Mmap(
      {.pid = 10, .addr = 0x7f0000000000, .length = 0x4000, .file_offset = 0x1000, .path = "/lib/libc.so"});
  b.Comm(20, 20, "client").Mmap({.pid = 20, .addr = 0x400000, .length = 0x2000, .path = "/bin/client"});
  b.Mmap(
      {.pid = 20, .addr = 0x7e0000000000, .length = 0x4000, .file_offset = 0x1000, .path = "/lib/libc.so"});
  return b;
}

Profile Build(const PerfDataBuilder& builder, const ProfileOptions& options = {}) {
  absl::StatusOr<Recording> recording = builder.Open();
  EXPECT_OK(recording);
  absl::StatusOr<Profile> profile = BuildProfile(*recording, options);
  EXPECT_OK(profile);
  return profile.ok() ? *std::move(profile) : Profile();
}

TEST(BuildProfileTest, WithStacksTheRowsAreTheSame) {
  constexpr uint64_t kKernel = static_cast<uint64_t>(-128), kUser = static_cast<uint64_t>(-512);
  perf_event_attr attr = SampleAttr(PERF_SAMPLE_CALLCHAIN);
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}, attr);
  b.Comm(10, 10, "server").Mmap({.pid = 10, .addr = 0x400000, .length = 0x2000, .path = "/bin/server"});
  b.Sample({.pid = 10, .tid = 10, .time = 1, .ip = 0x400010, .callchain = {kUser, 0x400010, 0x400100}});
  b.Sample({.pid = 10, .tid = 10, .time = 2, .ip = 0x400010, .callchain = {kUser, 0x400010, 0x400200}});
  b.Sample({.pid = 10,
            .tid = 10,
            .time = 3,
            .ip = kKernelText,
            .mode = CpuMode::kKernel,
            .callchain = {kKernel, kKernelText, kUser, 0x400010}});
  const Profile flat = Build(b), stacks = Build(b, {.stacks = true});
  EXPECT_EQ(RowsOf(stacks), RowsOf(flat));
  EXPECT_THAT(flat.stacks, IsEmpty());
  ExpectConserved(stacks, 3);
  testing::ExpectStacksMatchEntries(stacks);
  EXPECT_THAT(testing::StackRowsOf(stacks),
              ElementsAre(Pair("server+0x10;vmlinux+0xffffffff81000000", 1),
                          Pair("server+0x1ff;server+0x10", 1), Pair("server+0xff;server+0x10", 1)));
  EXPECT_TRUE(stacks.events[0].has_stacks);
  EXPECT_EQ(stacks.facts.duration_ns, flat.facts.duration_ns);
}

TEST(BuildProfileTest, StacksThatWereNotRecordedAreRefusedWithTheRemedy) {
  const Recording recording = *TwoProcesses().Open();
  EXPECT_THAT(
      BuildProfile(recording, {.stacks = true}),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("it holds no stacks; record with -g")));
}

TEST(BuildProfileTest, CountsByImageAndAddressUnderTheApplication) {
  PerfDataBuilder b = TwoProcesses();
  b.Sample({.pid = 10, .tid = 10, .time = 100, .ip = 0x400123});
  b.Sample({.pid = 10, .tid = 10, .time = 101, .ip = 0x400123});
  b.Sample({.pid = 10, .tid = 10, .time = 102, .ip = 0x7f0000000010});
  b.Sample({.pid = 20, .tid = 20, .time = 103, .ip = 0x7e0000000010});
  b.Sample({.pid = 20, .tid = 20, .time = 104, .ip = kKernelText + 0x50, .mode = CpuMode::kKernel});
  b.Sample({.pid = 10, .tid = 10, .time = 105, .ip = kKernelText + 0x50, .mode = CpuMode::kKernel});
  b.Sample({.pid = 10, .tid = 10, .time = 106, .ip = 0xffffffffc0000008, .mode = CpuMode::kKernel});
  const Profile profile = Build(b);
  ExpectConserved(profile, 7);
  EXPECT_THAT(RowsOf(profile), ElementsAre(Pair("cpu-clock -/-/-/-/- [kvm]+0xffffffffc0000008", 1),
                                           Pair("cpu-clock -/-/-/-/- vmlinux+0xffffffff81000050", 2),
                                           Pair("cpu-clock client/-/-/-/- /lib/libc.so+0x1010", 1),
                                           Pair("cpu-clock server/-/-/-/- /bin/server+0x123", 2),
                                           Pair("cpu-clock server/-/-/-/- /lib/libc.so+0x1010", 1)));
  EXPECT_EQ(profile.conservation[0].counted, 7u);
  EXPECT_EQ(profile.facts.duration_ns, 6u);
  EXPECT_EQ(profile.locations.size(), 4u) << "one location per address, whoever ran it";
}

TEST(BuildProfileTest, PeriodIsTheSamplesOrTheAttrs) {
  perf_event_attr without = SampleAttr();
  without.sample_type &= ~static_cast<uint64_t>(PERF_SAMPLE_PERIOD);
  without.sample_period = 250'689;
  perf_event_attr frequency = SampleAttr();
  frequency.freq = 1;
  frequency.sample_freq = 4000;
  PerfDataBuilder b;
  b.AddEvent("fixed", {1}, without).AddEvent("adaptive", {2}, frequency);
  b.Comm(10, 10, "a").Mmap({.pid = 10, .addr = 0x1000, .length = 0x1000, .path = "/bin/a"});
  b.Sample({.pid = 10, .tid = 10, .time = 1, .ip = 0x1000, .event = 0});
  b.Sample({.pid = 10, .tid = 10, .time = 2, .ip = 0x1000, .event = 0});
  b.Sample({.pid = 10, .tid = 10, .time = 3, .ip = 0x1000, .period = 5, .event = 1});
  b.Sample({.pid = 10, .tid = 10, .time = 4, .ip = 0x1000, .period = 100, .event = 1});
  const Profile profile = Build(b);
  ExpectConserved(profile, 4);
  ASSERT_EQ(profile.entries.size(), 2u);
  EXPECT_EQ(profile.entries[0].counts, (Counts{2, 2 * 250'689}));
  EXPECT_EQ(profile.entries[1].counts, (Counts{2, 105}));
  EXPECT_FALSE(profile.events[0].frequency_mode);
  EXPECT_TRUE(profile.events[1].frequency_mode);
  EXPECT_EQ(profile.events[1].period_or_frequency, 4000u);
}

TEST(BuildProfileTest, SeveralEventsAreToldApartByTheirIds) {
  PerfDataBuilder b;
  b.AddEvent("one", {11, 12}).AddEvent("two", {21, 22});
  b.Comm(10, 10, "a").Mmap({.pid = 10, .addr = 0x1000, .length = 0x1000, .path = "/bin/a"});
  b.Sample({.pid = 10, .tid = 10, .time = 1, .ip = 0x1000, .event = 0});
  b.Sample({.pid = 10, .tid = 10, .time = 2, .ip = 0x1000, .event = 0, .id = 12});
  b.Sample({.pid = 10, .tid = 10, .time = 3, .ip = 0x1000, .event = 1, .id = 22});
  b.Sample({.pid = 10, .tid = 10, .time = 4, .ip = 0x1000, .event = 1, .id = 99});
  const Profile profile = Build(b);
  ExpectConserved(profile, 4);
  EXPECT_THAT(RowsOf(profile),
              ElementsAre(Pair("one a/-/-/-/- /bin/a+0x0", 2), Pair("two a/-/-/-/- /bin/a+0x0", 1)));
  EXPECT_THAT(profile.Total().dropped, ElementsAre(Pair("no event has its id", 1)));
}

TEST(BuildProfileTest, UnexplainedAddressesAreRowsWithAReason) {
  PerfDataBuilder b = TwoProcesses();
  b.Sample({.pid = 10, .tid = 10, .time = 1, .ip = 0x999});
  b.Sample({.pid = 77, .tid = 78, .time = 2, .ip = 0x400123});
  b.Sample({.pid = 10, .tid = 10, .time = 3, .ip = 0xffffffffd0000000, .mode = CpuMode::kKernel});
  b.Sample({.pid = 10, .tid = 10, .time = 4, .ip = 0x5, .mode = CpuMode::kHypervisor});
  b.Sample({.pid = 10, .tid = 10, .time = 5, .ip = 0x6, .mode = CpuMode::kGuestUser});
  b.Sample({.pid = 10, .tid = 10, .time = 6, .ip = 0x7, .mode = CpuMode::kGuestKernel});
  b.Sample({.pid = 10, .tid = 10, .time = 7, .ip = 0x400000, .mode = CpuMode::kUnknown});
  b.Sample({.pid = 10, .tid = 10, .time = 8, .ip = kKernelText, .mode = CpuMode::kUnknown});
  const Profile profile = Build(b);
  ExpectConserved(profile, 8);
  const auto reason = [](UnresolvedReason r) { return StrCat("[", static_cast<int>(r), "]"); };
  const std::string no_map = reason(UnresolvedReason::kNoMapping);
  EXPECT_THAT(RowsOf(profile),
              ::testing::UnorderedElementsAre(
                  Pair(StrCat("cpu-clock server/-/-/-/- [unknown]+0x999", no_map), 1),
                  Pair(StrCat("cpu-clock [unknown]/-/-/-/- [unknown]+0x400123",
                              reason(UnresolvedReason::kUnknownProcess)),
                       1),
                  Pair(StrCat("cpu-clock -/-/-/-/- [unknown]+0xffffffffd0000000", no_map), 1),
                  Pair(StrCat("cpu-clock -/-/-/-/- none+0x5", reason(UnresolvedReason::kHypervisor)), 1),
                  Pair(StrCat("cpu-clock -/-/-/-/- none+0x6", reason(UnresolvedReason::kGuest)), 1),
                  Pair(StrCat("cpu-clock -/-/-/-/- none+0x7", reason(UnresolvedReason::kGuest)), 1),
                  Pair("cpu-clock server/-/-/-/- /bin/server+0x0", 1),
                  Pair("cpu-clock -/-/-/-/- vmlinux+0xffffffff81000000", 1)));
}

TEST(BuildProfileTest, WithoutAKernelMapKernelSamplesAreTheKernels) {
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7})
      .Sample({.pid = 1, .tid = 1, .time = 1, .ip = kKernelText, .mode = CpuMode::kKernel});
  const Profile profile = Build(b);
  ExpectConserved(profile, 1);
  ASSERT_EQ(profile.images.size(), 1u);
  EXPECT_EQ(profile.images[0].kind, ImageKind::kKernel);
  EXPECT_EQ(profile.images[0].path, "vmlinux");
}

TEST(BuildProfileTest, ForkAndExecDecideByTime) {
  PerfDataBuilder b = TwoProcesses();
  b.Fork(30, 10, 30, 10, 100).Comm(30, 30, "ls", 200, true);
  b.Mmap({.pid = 30, .addr = 0x500000, .length = 0x1000, .path = "/bin/ls", .time = 201});
  // File order is not time order.
  b.Sample({.pid = 30, .tid = 30, .time = 300, .ip = 0x400123});
  b.Sample({.pid = 30, .tid = 30, .time = 300, .ip = 0x500123});
  b.Sample({.pid = 30, .tid = 30, .time = 150, .ip = 0x400123});
  const Profile profile = Build(b, {.separate = {.comm = true}});
  ExpectConserved(profile, 3);
  EXPECT_THAT(RowsOf(profile), ElementsAre(Pair("cpu-clock ls/ls/-/-/- /bin/ls+0x123", 1),
                                           Pair(HasSubstr("ls/ls/-/-/- [unknown]+0x400123"), 1),
                                           Pair("cpu-clock server/server/-/-/- /bin/server+0x123", 1)));
}

TEST(BuildProfileTest, CommIsTheThreadsAtTheSamplesTime) {
  PerfDataBuilder b = TwoProcesses();
  b.Fork(10, 10, 11, 10, 50).Comm(10, 11, "worker", 100);
  b.Sample({.pid = 10, .tid = 11, .time = 60, .ip = 0x400000});
  b.Sample({.pid = 10, .tid = 11, .time = 100, .ip = 0x400000});
  b.Sample({.pid = 10, .tid = 99, .time = 100, .ip = 0x400000});
  const Profile profile = Build(b, {.separate = {.comm = true, .thread = true}});
  ExpectConserved(profile, 3);
  EXPECT_THAT(RowsOf(profile), ElementsAre(Pair("cpu-clock server/:99/10/99/- /bin/server+0x0", 1),
                                           Pair("cpu-clock server/server/10/11/- /bin/server+0x0", 1),
                                           Pair("cpu-clock server/worker/10/11/- /bin/server+0x0", 1)));
}

TEST(BuildProfileTest, WithoutSampleIdAllRecordsCountByTheirPlace) {
  perf_event_attr attr = SampleAttr();
  attr.sample_id_all = 0;
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}, attr);
  b.Comm(10, 10, "a").Mmap({.pid = 10, .addr = 0x1000, .length = 0x1000, .path = "/bin/a"});
  b.Sample({.pid = 10, .tid = 10, .time = 500, .ip = 0x1000});
  b.Mmap({.pid = 10, .addr = 0x1000, .length = 0x1000, .path = "/bin/b"});
  b.Sample({.pid = 10, .tid = 10, .time = 600, .ip = 0x1000});
  const Profile profile = Build(b);
  ExpectConserved(profile, 2);
  EXPECT_THAT(RowsOf(profile), ElementsAre(Pair("cpu-clock a/-/-/-/- /bin/a+0x0", 1),
                                           Pair("cpu-clock a/-/-/-/- /bin/b+0x0", 1)));
  EXPECT_EQ(profile.facts.duration_ns, std::nullopt);
}

TEST(BuildProfileTest, MalformedSamplesAreCountedAsSuch) {
  PerfDataBuilder b = TwoProcesses();
  b.Sample({.pid = 10, .tid = 10, .time = 1, .ip = 0x400000});
  b.AddRecord(PERF_RECORD_SAMPLE, std::vector<std::byte>(16), PERF_RECORD_MISC_USER);
  b.AddRecord(PERF_RECORD_SAMPLE, {}, PERF_RECORD_MISC_USER);
  const Profile profile = Build(b);
  ExpectConserved(profile, 3);
  EXPECT_THAT(profile.Total().dropped, ElementsAre(Pair("malformed record", 2)));
}

TEST(BuildProfileTest, SamplesWithoutAnAddressAreCountedAsSuch) {
  perf_event_attr attr = SampleAttr();
  attr.sample_type &= ~static_cast<uint64_t>(PERF_SAMPLE_IP);
  PerfDataBuilder b;
  b.AddEvent("cpu-clock", {7}, attr).Sample({.pid = 1, .tid = 1, .time = 1});
  const Profile profile = Build(b);
  ExpectConserved(profile, 1);
  EXPECT_THAT(profile.Total().dropped, ElementsAre(Pair("no address in the sample", 1)));
}

TEST(BuildProfileTest, ClockSamplesOfTheIdleTaskHaveTheirOwnKey) {
  PerfDataBuilder b = TwoProcesses();
  b.AddEvent("cycles", {8}, [] {
    perf_event_attr attr = SampleAttr();
    attr.type = PERF_TYPE_HARDWARE;
    attr.config = PERF_COUNT_HW_CPU_CYCLES;
    return attr;
  }());
  for (const size_t event : {0, 1}) {
    b.Sample({.pid = 0, .tid = 0, .time = 1, .ip = kKernelText, .mode = CpuMode::kKernel, .event = event});
    b.Sample({.pid = 10, .tid = 10, .time = 2, .ip = kKernelText, .mode = CpuMode::kKernel, .event = event});
  }
  EXPECT_THAT(RowsOf(Build(b)), ElementsAre(Pair("cpu-clock -/-/-/-/- vmlinux+0xffffffff81000000", 1),
                                            Pair("cpu-clock -/-/-/-/- vmlinux+0xffffffff81000000 idle?", 1),
                                            Pair("cycles -/-/-/-/- vmlinux+0xffffffff81000000", 2)));
  EXPECT_THAT(RowsOf(Build(b, {.count_idle = true})), ElementsAre(Pair(_, 2), Pair(_, 2)));
}

// Every filter takes its samples and says so.
TEST(BuildProfileTest, FiltersMoveSamplesNeverLoseThem) {
  PerfDataBuilder b = TwoProcesses();
  b.AddEvent("other", {8});
  for (uint64_t i = 0; i < 10; ++i) {
    const uint32_t pid = i % 2 == 0 ? 10 : 20;
    b.Sample({.pid = pid, .tid = pid, .time = 1000 + i, .ip = 0x400000, .cpu = static_cast<uint32_t>(i % 5)});
  }
  b.Sample({.pid = 10, .tid = 10, .time = 1009, .ip = 0x400000, .event = 1});
  const struct {
    ProfileOptions options;
    const char* cause;
    uint64_t taken_by_it;
  } cases[] = {
      {{.time = TimeRange{2, 5}}, "time", 8},
      {{.time = TimeRange{.begin_ns = 9}}, "time", 9},
      {{.cpus = {0, 3}}, "cpu", 6},
      {{.pids = {20}}, "pid", 6},
      {{.tids = {10}}, "tid", 5},
      {{.comms = {"client"}}, "comm", 6},
      {{.events = {"cpu-clock"}}, "event", 1},
      {{.events = {"other"}}, "event", 10},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(StrCat(c.cause, " ", c.taken_by_it));
    const Profile profile = Build(b, c.options);
    ExpectConserved(profile, 11);
    EXPECT_THAT(profile.Total().filtered, ElementsAre(Pair(c.cause, c.taken_by_it)));
  }
}

TEST(BuildProfileTest, RefusesWhatTheRecordingCannotAnswer) {
  perf_event_attr bare = SampleAttr();
  bare.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_IDENTIFIER;
  PerfDataBuilder b;
  b.AddEvent("bare", {1}, bare).Sample({.ip = 1});
  ASSERT_OK_AND_ASSIGN(const Recording recording, b.Open());
  const struct {
    ProfileOptions options;
    const char* message;
  } cases[] = {
      {{.time = TimeRange{}}, "has no times"},
      {{.cpus = {1}}, "has no CPU"},
      {{.tids = {1}}, "has no thread"},
      {{.comms = {"x"}}, "has no thread"},
      {{.events = {"cycles"}}, "event cycles: not in"},
  };
  for (const auto& c : cases)
    EXPECT_THAT(BuildProfile(recording, c.options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.message)));
  ASSERT_OK_AND_ASSIGN(const Profile profile, BuildProfile(recording, {}));
  ExpectConserved(profile, 1);
}

TEST(BuildProfileTest, EmptyRecordingIsAnEmptyProfile) {
  const Profile profile = Build(TwoProcesses());
  ExpectConserved(profile, 0);
  EXPECT_THAT(profile.entries, IsEmpty());
  EXPECT_THAT(profile.images, IsEmpty());
  EXPECT_THAT(profile.keys, IsEmpty());
  EXPECT_EQ(profile.facts.duration_ns, std::nullopt);
}

TEST(BuildProfileTest, BpfCodeIsItsProgramsWhileItIsLoaded) {
  PerfDataBuilder b = TwoProcesses();
  constexpr uint64_t kProgram = 0xffffffffc0001000;
  Record load;
  load.id.time = 100;
  load.body = KsymbolRecord{.addr = kProgram, .length = 0x100, .ksym_type = 1, .name = "bpf_prog_1_f"};
  Record unload;
  unload.id.time = 200;
  unload.body = KsymbolRecord{
      .addr = kProgram, .length = 0x100, .ksym_type = 1, .unregister = true, .name = "bpf_prog_1_f"};
  b.Add(load).Add(unload);
  for (const uint64_t time : {50, 150, 250})
    b.Sample({.pid = 10, .tid = 10, .time = time, .ip = kProgram + 4, .mode = CpuMode::kKernel});
  const Profile profile = Build(b);
  ExpectConserved(profile, 3);
  EXPECT_THAT(RowsOf(profile), ElementsAre(Pair("cpu-clock -/-/-/-/- [kvm]+0xffffffffc0001004", 1),
                                           Pair(HasSubstr("[unknown]+0xffffffffc0001004"), 1),
                                           Pair("cpu-clock -/-/-/-/- bpf_prog_1_f+0xffffffffc0001004", 1)));
}

// ---- many samples ----

struct RandomRecording {
  PerfDataBuilder builder = TwoProcesses();
  uint64_t samples = 0;
};

RandomRecording ManySamples(uint32_t seed, uint64_t count) {
  RandomRecording recording;
  std::mt19937 random(seed);
  const auto below = [&random](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  recording.builder.Fork(10, 10, 11, 10, 10).Comm(10, 11, "worker", 20);
  for (uint64_t i = 0; i < count; ++i) {
    const uint32_t pid = below(12) == 0 ? 0 : 10 * (1 + below(3));
    BuiltSample sample{
        .pid = pid, .tid = pid == 10 ? 10 + below(2) : pid, .time = 100 + below(1000), .cpu = below(4)};
    sample.mode = pid == 0 || below(3) == 0 ? CpuMode::kKernel : CpuMode::kUser;
    if (below(50) == 0) sample.mode = CpuMode::kHypervisor;
    const uint64_t base = sample.mode == CpuMode::kKernel ? kKernelText
                          : below(2) == 0                 ? 0x400000
                                                          : 0x7f0000000000;
    sample.ip = base + below(0x30) * below(0x200);
    sample.period = 1 + below(9);
    recording.builder.Sample(sample);
    ++recording.samples;
  }
  return recording;
}

TEST(BuildProfileTest, SeparationIsARefinement) {
  const RandomRecording recording = ManySamples(3, 3000);
  const Profile coarse = Build(recording.builder, {.separate = {.library = false}});
  ExpectConserved(coarse, recording.samples);
  for (unsigned bits = 0; bits < 64; ++bits) {
    SCOPED_TRACE(bits);
    const Separation separate{.library = (bits & 1) != 0,
                              .kernel = (bits & 2) != 0,
                              .comm = (bits & 4) != 0,
                              .process = (bits & 8) != 0,
                              .thread = (bits & 16) != 0,
                              .cpu = (bits & 32) != 0};
    const Profile fine = Build(recording.builder, {.separate = separate});
    ExpectConserved(fine, recording.samples);
    EXPECT_EQ(fine.locations.size(), coarse.locations.size());
    std::map<std::pair<std::string, uint64_t>, Counts> fine_sums, coarse_sums;
    const auto sum_up = [](const Profile& profile, auto& sums) {
      for (const ProfileEntry& entry : profile.entries) {
        const ProfileLocation& location = profile.locations[entry.location];
        const std::string image = location.image == kNone32 ? "" : profile.images[location.image].path;
        sums[{StrCat(image, static_cast<int>(location.reason)), location.address}] += entry.counts;
      }
    };
    sum_up(fine, fine_sums);
    sum_up(coarse, coarse_sums);
    EXPECT_EQ(fine_sums, coarse_sums);
    for (const ProfileKey& key : fine.keys) {
      EXPECT_EQ(key.comm != kNone32, separate.comm);
      EXPECT_EQ(key.pid != kNone32, separate.process || separate.thread);
      EXPECT_EQ(key.tid != kNone32, separate.thread);
      EXPECT_EQ(key.cpu != kNone32, separate.cpu);
    }
  }
}

TEST(BuildProfileTest, SameResultWhateverTheNumberOfThreads) {
  const RandomRecording recording = ManySamples(5, 60'000);  // several chunks
  ASSERT_OK_AND_ASSIGN(const Recording opened, recording.builder.Open());
  ASSERT_GT(opened.chunks().size(), 2u);
  const Separation all{.kernel = true, .comm = true, .process = true, .thread = true, .cpu = true};
  ASSERT_OK_AND_ASSIGN(const Profile one, BuildProfile(opened, {.separate = all, .threads = 1}));
  ExpectConserved(one, recording.samples);
  for (const unsigned threads : {2u, 3u, 8u}) {
    ASSERT_OK_AND_ASSIGN(const Profile many, BuildProfile(opened, {.separate = all, .threads = threads}));
    ExpectConserved(many, recording.samples);
    EXPECT_EQ(many.names, one.names);
    EXPECT_EQ(many.keys, one.keys);
    EXPECT_EQ(RowsOf(many), RowsOf(one));
    ASSERT_EQ(many.entries.size(), one.entries.size());
    for (size_t i = 0; i < one.entries.size(); ++i) {
      ASSERT_EQ(many.entries[i].key, one.entries[i].key);
      ASSERT_EQ(many.entries[i].location, one.entries[i].location);
      ASSERT_EQ(many.entries[i].counts, one.entries[i].counts);
    }
  }
}

}  // namespace
}  // namespace ksamp
