// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/event_ladder.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <utility>

#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "test/support/fake_perf_kernel.h"
#include "test/support/status_matchers.h"

namespace ksamp {
namespace {

using ::ksamp::testing::FakePerfKernel;
using ::ksamp::testing::FakeRequest;
using ::ksamp::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class TableCatalog : public EventCatalog {
 public:
  const std::vector<Pmu>& pmus() const override { return pmus_; }
  absl::StatusOr<uint64_t> TracepointId(std::string_view, std::string_view) const override { return 315; }
  std::vector<std::string> Tracepoints() const override { return {"sched:sched_switch"}; }
  std::vector<Pmu> pmus_;
};

bool IsHardware(const FakeRequest& r) {
  return r.attr.type == PERF_TYPE_HARDWARE;
}

struct EventLadderTest : ::testing::Test {
  EventLadderTest() {
    context.kernel = &kernel;
    context.catalog = &catalog;
    context.cpu_hz = 2'100'000'000;
  }
  absl::StatusOr<EventPlan> Plan(const std::vector<std::string>& events = {}) {
    return PlanEvents(events, context);
  }

  FakePerfKernel kernel;
  TableCatalog catalog;
  LadderContext context;
};

TEST_F(EventLadderTest, CyclesWithTheHighestPrecisionWhereItWorks) {
  ASSERT_OK_AND_ASSIGN(const EventPlan plan, Plan());
  ASSERT_EQ(plan.groups.size(), 1u);
  const PlannedEvent& cycles = plan.groups[0][0];
  EXPECT_EQ(cycles.attr.type, static_cast<uint32_t>(PERF_TYPE_HARDWARE));
  EXPECT_EQ(cycles.attr.precise_ip, 3u);
  EXPECT_FALSE(cycles.attr.freq);
  EXPECT_EQ(cycles.attr.sample_period, PrimeAtMost(2'100'000'000 / 3989));
  EXPECT_TRUE(cycles.attr.exclude_guest);
  EXPECT_THAT(plan.notes, IsEmpty());
  EXPECT_EQ(plan.meta.at("event.wish"), "cycles");
}

TEST_F(EventLadderTest, LowerPrecisionIsTakenAndTold) {
  kernel.Refuse([](const FakeRequest& r) { return r.attr.precise_ip > 0; }, EOPNOTSUPP);
  ASSERT_OK_AND_ASSIGN(const EventPlan plan, Plan());
  EXPECT_EQ(plan.groups[0][0].attr.precise_ip, 0u);
  EXPECT_THAT(plan.notes, ElementsAre(HasSubstr("no precise sampling")));
}

TEST_F(EventLadderTest, WithoutAPmuTheTimerIsUsedAndTheLossTold) {
  kernel.Refuse(IsHardware, ENOENT);
  ASSERT_OK_AND_ASSIGN(const EventPlan plan, Plan());
  const PlannedEvent& clock = plan.groups[0][0];
  EXPECT_EQ(clock.spec.name, "cpu-clock");
  EXPECT_EQ(clock.attr.sample_period, kDefaultClockPeriodNs);
  EXPECT_EQ(DescribeSampling(clock), "cpu-clock, every 250 689 ns");
  EXPECT_THAT(
      plan.notes,
      ElementsAre(
          "cycles: this machine has no hardware counters for us (a virtual machine?); sampling the CPU "
          "clock by timer instead.\nKernel code that runs with interrupts disabled shows up where it "
          "enables them again."));
  EXPECT_EQ(plan.meta.at("event.wish"), "cycles");
  EXPECT_EQ(plan.meta.at("event.actual"), "cpu-clock, every 250 689 ns");
  EXPECT_EQ(plan.meta.at("event.note"), plan.notes[0]);
}

TEST_F(EventLadderTest, APmuThatCountsNothingIsNotBelieved) {
  kernel.CountNothing(IsHardware);
  ASSERT_OK_AND_ASSIGN(const EventPlan plan, Plan());
  EXPECT_EQ(plan.groups[0][0].spec.name, "cpu-clock");
  EXPECT_THAT(plan.notes, ElementsAre(HasSubstr("open but count nothing")));
}

TEST_F(EventLadderTest, APmuThatNeverInterruptsIsNotBelieved) {
  kernel.DeliverNothing(IsHardware);
  ASSERT_OK_AND_ASSIGN(const EventPlan plan, Plan());
  EXPECT_EQ(plan.groups[0][0].spec.name, "cpu-clock");
  EXPECT_THAT(plan.notes, ElementsAre(HasSubstr("deliver no samples")));
}

TEST_F(EventLadderTest, ABusyPmuNamesItsHolder) {
  kernel.Refuse(IsHardware, EBUSY);
  context.around.nmi_watchdog = true;
  ASSERT_OK_AND_ASSIGN(const EventPlan plan, Plan());
  EXPECT_EQ(plan.groups[0][0].spec.name, "cpu-clock");
  EXPECT_THAT(plan.notes, ElementsAre(HasSubstr("NMI watchdog")));
}

TEST_F(EventLadderTest, WithoutTheRightACommandIsProfiledInUserSpace) {
  kernel.Refuse([](const FakeRequest& r) { return !r.attr.exclude_kernel; }, EACCES);
  context.around.paranoid = 2;
  ASSERT_OK_AND_ASSIGN(const EventPlan plan, Plan());
  EXPECT_EQ(plan.groups[0][0].spec.name, "cycles:u");
  EXPECT_TRUE(plan.groups[0][0].attr.exclude_kernel);
  EXPECT_THAT(plan.notes, Contains(HasSubstr("only user space")));
}

TEST_F(EventLadderTest, WithoutTheRightTheWholeMachineIsAnError) {
  kernel.Refuse([](const FakeRequest&) { return true; }, EACCES);
  context.around.paranoid = 2;
  context.around.whole_cpus = true;
  const absl::Status status = Plan().status();
  EXPECT_EQ(FailureOf(status), OpenFailure::kParanoid);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("whole CPUs")));
}

TEST_F(EventLadderTest, UserSpaceWithoutAPmuIsTheTimerInUserSpace) {
  // The kernel asks for the right before it looks whether the event is there.
  kernel.Refuse([](const FakeRequest& r) { return !r.attr.exclude_kernel; }, EACCES);
  kernel.Refuse(IsHardware, ENOENT);
  context.around.paranoid = 2;
  ASSERT_OK_AND_ASSIGN(const EventPlan plan, Plan());
  EXPECT_EQ(plan.groups[0][0].spec.name, "cpu-clock:u");
  EXPECT_TRUE(plan.groups[0][0].attr.exclude_kernel);
  EXPECT_THAT(plan.notes, ElementsAre(AllOf(HasSubstr("by timer"), Not(HasSubstr("Kernel code"))),
                                      HasSubstr("cpu-clock: the kernel may not be profiled by you here")));
}

TEST_F(EventLadderTest, UserSpaceWillDoWhereOnlyTheTimerIsForbidden) {
  kernel.Refuse(IsHardware, ENOENT);
  kernel.Refuse([](const FakeRequest& r) { return !r.attr.exclude_kernel; }, EACCES);
  context.around.paranoid = 2;
  ASSERT_OK_AND_ASSIGN(const EventPlan plan, Plan());
  EXPECT_EQ(plan.groups[0][0].spec.name, "cpu-clock:u");
  EXPECT_THAT(plan.notes, Contains(HasSubstr("only user space")));
}

// What comes of each level of kernel.perf_event_paranoid for a user without CAP_PERFMON: the event, or the
// cause of refusal.
struct ParanoidCase {
  int level;
  const char *command, *whole_machine, *kernel_of_command;
};

constexpr char kCpusForbidden[] = "whole CPUs may be watched only at 0 or below";
constexpr char kKernelForbidden[] = "the kernel may be profiled only at 1 or below";
constexpr ParanoidCase kParanoidCases[] = {
    {-1, "cpu-clock", "cpu-clock", "cpu-clock:k"},
    {0, "cpu-clock", "cpu-clock", "cpu-clock:k"},
    {1, "cpu-clock", kCpusForbidden, "cpu-clock:k"},
    {2, "cpu-clock:u", kCpusForbidden, kKernelForbidden},
    {3, "cpu-clock:u", kCpusForbidden, kKernelForbidden},  // upstream knows no level above 2
};

TEST_F(EventLadderTest, EveryLevelOfParanoidGivesWhatItAllowsOrItsOwnReason) {
  for (const ParanoidCase& level : kParanoidCases) {
    SCOPED_TRACE(level.level);
    FakePerfKernel strict;
    strict.SetParanoid(level.level);
    strict.Refuse(IsHardware, ENOENT);
    context.kernel = &strict;
    context.around.paranoid = level.level;
    const auto outcome = [&](bool command, const std::vector<std::string>& events) {
      context.around.whole_cpus = !command;
      context.pid = command ? 4711 : -1;
      const absl::StatusOr<EventPlan> plan = Plan(events);
      return plan.ok() ? plan->groups[0][0].spec.name : MessageOf(plan.status());
    };
    EXPECT_THAT(outcome(true, {}), EndsWith(level.command));
    EXPECT_THAT(outcome(false, {}), EndsWith(level.whole_machine));
    EXPECT_THAT(outcome(true, {"cpu-clock:k"}), EndsWith(level.kernel_of_command));
  }
}

TEST_F(EventLadderTest, WhereAKernelOpensNothingItSaysSo) {
  kernel.SetParanoid(3, /*debian=*/true);
  context.around.paranoid = 3;
  context.pid = 4711;
  EXPECT_THAT(Plan().status(),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("this kernel opens no event above 2")));
}

TEST_F(EventLadderTest, WhoAskedForTheKernelGetsNothingElse) {
  kernel.Refuse([](const FakeRequest& r) { return !r.attr.exclude_kernel; }, EACCES);
  context.around.paranoid = 2;
  const absl::Status status = Plan({"cpu-clock:k"}).status();
  EXPECT_EQ(FailureOf(status), OpenFailure::kParanoid);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("the kernel may be profiled")));
}

TEST_F(EventLadderTest, TheFrequencyIsMeasuredWhereNobodyKnowsIt) {
  context.cpu_hz.reset();
  ASSERT_OK_AND_ASSIGN(const EventPlan plan, Plan());
  EXPECT_GE(plan.groups[0][0].attr.sample_period, 10'007u);
}

TEST_F(EventLadderTest, AmdsPreciseSamplingTakesMultiplesOf16) {
  context.amd = true;
  ASSERT_OK_AND_ASSIGN(const EventPlan plan, Plan());
  EXPECT_EQ(plan.groups[0][0].attr.precise_ip, 3u);
  EXPECT_EQ(plan.groups[0][0].attr.sample_period % 16, 0u);
}

TEST_F(EventLadderTest, RatesOfTheUserCount) {
  context.frequency = 99;
  ASSERT_OK_AND_ASSIGN(const EventPlan by_frequency, Plan());
  EXPECT_TRUE(by_frequency.groups[0][0].attr.freq);
  EXPECT_EQ(DescribeSampling(by_frequency.groups[0][0]), "cycles, 99 Hz");
  context.frequency.reset();
  context.period = 1'000'000;
  ASSERT_OK_AND_ASSIGN(const EventPlan by_period, Plan());
  EXPECT_EQ(DescribeSampling(by_period.groups[0][0]), "cycles, every 1 000 000 events");
}

TEST_F(EventLadderTest, APeriodInCyclesIsNotTakenForNanoseconds) {
  kernel.Refuse(IsHardware, ENOENT);
  context.period = 1'000'000;
  ASSERT_OK_AND_ASSIGN(const EventPlan plan, Plan());
  EXPECT_EQ(plan.groups[0][0].attr.sample_period, kDefaultClockPeriodNs);
  EXPECT_THAT(plan.notes, Contains(HasSubstr("was meant for cycles")));
}

TEST_F(EventLadderTest, HybridMachinesGetAnEventPerPmuOnItsCpus) {
  Pmu big, little;
  big.name = "cpu_core";
  big.type = 4;
  big.cpus = "0-1";
  little.name = "cpu_atom";
  little.type = 10;
  little.cpus = "1";
  big.core = little.core = true;
  catalog.pmus_ = {big, little};
  ASSERT_OK_AND_ASSIGN(const EventPlan plan, Plan());
  ASSERT_EQ(plan.groups.size(), 2u);
  EXPECT_THAT(plan.groups[0][0].cpus, ElementsAre(0, 1));
  EXPECT_THAT(plan.groups[1][0].cpus, ElementsAre(1));
}

TEST_F(EventLadderTest, AnEventNamedIsOpenedOrRefusedNeverReplaced) {
  kernel.Refuse(IsHardware, ENOENT);
  const absl::Status status = Plan({"cycles"}).status();
  EXPECT_EQ(FailureOf(status), OpenFailure::kNoPmu);
  EXPECT_THAT(std::string(status.message()), HasSubstr("open cycles: this machine has no hardware counters"));
}

TEST_F(EventLadderTest, AnUnknownNameIsNoSuchEvent) {
  EXPECT_EQ(FailureOf(Plan({"cyclse"}).status()), OpenFailure::kNoSuchEvent);
}

TEST_F(EventLadderTest, ACounterWithoutInterruptSaysSo) {
  Pmu msr;
  msr.name = "msr";
  msr.type = 9;
  msr.terms = {{"event", 0, {{0, 63}}}};
  catalog.pmus_ = {msr};
  kernel.Refuse([](const FakeRequest& r) { return r.attr.sample_period != 0; }, EINVAL);
  const absl::Status status = Plan({"msr/event=0/"}).status();
  EXPECT_THAT(MessageOf(status), HasSubstr("open msr/event=0/: it can be counted but not sampled"));
  EXPECT_EQ(FailureOf(status), OpenFailure::kNotSupported);
  kernel.Refuse([](const FakeRequest&) { return true; }, EINVAL);
  EXPECT_THAT(MessageOf(Plan({"msr/event=0/"}).status()), HasSubstr("does not take this combination"));
}

struct UnreadableCatalog : TableCatalog {
  explicit UnreadableCatalog(absl::Status status) : cause(std::move(status)) {}
  absl::StatusOr<uint64_t> TracepointId(std::string_view, std::string_view) const override { return cause; }
  std::vector<std::string> Tracepoints() const override { return {}; }
  absl::Status cause;
};

TEST_F(EventLadderTest, TracepointsThatCannotBeLookedUpTellWhy) {
  const UnreadableCatalog unmounted(absl::FailedPreconditionError("tracefs is not mounted"));
  context.catalog = &unmounted;
  for (const char* name : {"sched:sched_switch", "sched:*"}) {
    const absl::Status status = Plan({name}).status();
    EXPECT_EQ(FailureOf(status), OpenFailure::kNoTracefs) << name;
    EXPECT_THAT(MessageOf(status), HasSubstr("tracefs is not mounted")) << name;
  }
  const UnreadableCatalog forbidden(absl::PermissionDeniedError("only root may read it"));
  context.catalog = &forbidden;
  EXPECT_EQ(FailureOf(Plan({"sched:sched_switch"}).status()), OpenFailure::kTracefsForbidden);
}

TEST_F(EventLadderTest, NamedEventsGetTheRateThatSuitsThem) {
  ASSERT_OK_AND_ASSIGN(const EventPlan plan,
                       Plan({"cpu-clock", "cache-misses,sched:sched_switch", "cycles"}));
  ASSERT_EQ(plan.groups.size(), 4u);
  EXPECT_EQ(DescribeSampling(plan.groups[0][0]), "cpu-clock, every 250 689 ns");
  EXPECT_EQ(DescribeSampling(plan.groups[1][0]), "cache-misses, 3 989 Hz");
  EXPECT_EQ(DescribeSampling(plan.groups[2][0]), "sched:sched_switch, every event");
  EXPECT_EQ(plan.groups[3][0].attr.sample_period, PrimeAtMost(2'100'000'000 / 3989));
}

TEST_F(EventLadderTest, TheHighestPrecisionIsFoundForP) {
  kernel.Refuse([](const FakeRequest& r) { return r.attr.precise_ip > 2; }, EOPNOTSUPP);
  ASSERT_OK_AND_ASSIGN(const EventPlan plan, Plan({"cycles:P"}));
  EXPECT_EQ(plan.groups[0][0].attr.precise_ip, 2u);
  EXPECT_EQ(FailureOf(Plan({"cycles:ppp"}).status()), OpenFailure::kNotSupported);
}

TEST_F(EventLadderTest, GroupsStayTogether) {
  ASSERT_OK_AND_ASSIGN(const EventPlan plan, Plan({"{cycles,instructions}"}));
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].size(), 2u);
}

TEST_F(EventLadderTest, AnOldKernelIsAskedForLess) {
  kernel.Refuse([](const FakeRequest& r) { return (r.attr.read_format & PERF_FORMAT_LOST) != 0; }, EINVAL);
  ASSERT_OK_AND_ASSIGN(const EventPlan plan, Plan({"cpu-clock"}));
  EXPECT_EQ(plan.groups[0][0].attr.read_format & PERF_FORMAT_LOST, 0u);
  EXPECT_THAT(plan.meta.at("event.left_out"), HasSubstr("LOST"));
}

TEST(PrimeAtMostTest, FindsPrimes) {
  EXPECT_EQ(PrimeAtMost(2), 2u);
  EXPECT_EQ(PrimeAtMost(10), 7u);
  EXPECT_EQ(PrimeAtMost(3989), 3989u);
}

}  // namespace
}  // namespace ksamp
