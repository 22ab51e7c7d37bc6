// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/event_ladder.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <string_view>
#include <utility>

#include "lib/base/file_io.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "lib/os/sys_fs.h"
#include "lib/recorder/event_opener.h"
#include "lib/recorder/event_probe.h"

namespace ksamp {
namespace {

constexpr uint8_t kHighestPrecise = 3;
constexpr uint64_t kIbsStep = 16;  // AMD's sampling hardware ignores the low four bits of a period
constexpr char kTimerLoss[] =
    "Kernel code that runs with interrupts disabled shows up where it enables them again.";

bool IsCycles(const EventSpec& spec) {
  return spec.type == PERF_TYPE_HARDWARE && (spec.config & 0xffff'ffff) == PERF_COUNT_HW_CPU_CYCLES;
}

bool MeansForbidden(const absl::Status& refusal) {
  const int error = StatusErrno(refusal);
  return error == EACCES || error == EPERM;
}

// Nothing a step down the ladder could change.
bool IsFinal(const absl::Status& refusal) {
  const int error = StatusErrno(refusal);
  return MeansForbidden(refusal) || error == EMFILE || error == ENFILE || error == ESRCH || error == ENOSYS;
}

// What the catalog could not look up, apart from names that are wrong.
OpenFailure ParseFailure(const absl::Status& status) {
  if (absl::IsFailedPrecondition(status)) return OpenFailure::kNoTracefs;
  if (absl::IsPermissionDenied(status)) return OpenFailure::kTracefsForbidden;
  return OpenFailure::kNoSuchEvent;
}

EventSpec CpuClock() {
  EventSpec spec;
  spec.name = "cpu-clock";
  spec.type = PERF_TYPE_SOFTWARE;
  spec.config = PERF_COUNT_SW_CPU_CLOCK;
  return spec;
}

class Planner {
 public:
  explicit Planner(const LadderContext& context) : context_(context) {}

  absl::StatusOr<EventPlan> Default();
  absl::StatusOr<EventPlan> Explicit(const std::vector<std::string>& events);

 private:
  // One event of the ladder, with the highest precision that works.
  absl::Status ProbeCycles(const EventSpec& wish, PlannedEvent* out);
  absl::Status FallToTimer(const absl::Status& why, bool user_only);
  absl::Status ProbeTimer(PlannedEvent& clock);
  std::string CauseOfFall(const absl::Status& why) const;
  absl::Status PlanExplicit(const EventSpec& spec, std::vector<PlannedEvent>& group);
  // Opens as it will be opened, and closes again: settles precision and what an old kernel does not know.
  absl::Status TryOpen(PlannedEvent& event, uint8_t highest_precise);
  bool UserSpaceWillDo(const absl::Status& refusal, const EventSpec& spec) const;
  void TellUserSpaceOnly(const EventSpec& wish);

  void BuildAttr(PlannedEvent& event) const;
  AttrOptions SamplingOf(const EventSpec& spec) const;
  uint64_t CyclesPeriod(const EventSpec& spec) const;
  absl::StatusOr<std::vector<int>> CpusOf(const EventSpec& spec) const;
  absl::Status Explained(const absl::Status& refusal, const PlannedEvent& event) const;
  void Note(std::string sentence);
  void DescribeInMeta(std::string wish);

  const LadderContext& context_;
  EventPlan plan_;
  std::optional<uint64_t> measured_hz_;
  std::vector<std::string_view> left_out_;
};

AttrOptions Planner::SamplingOf(const EventSpec& spec) const {
  AttrOptions options = context_.options;
  options.period = spec.period;
  options.frequency = spec.frequency;
  if (options.period || options.frequency) return options;
  options.period = context_.period;
  options.frequency = context_.frequency;
  if (options.period || spec.type == PERF_TYPE_TRACEPOINT) {
    options.frequency.reset();
    return options;
  }
  if (options.frequency) return options;
  if (IsClockEvent(spec.type, spec.config)) {
    options.period = kDefaultClockPeriodNs;
  } else if (IsCycles(spec)) {
    options.period = CyclesPeriod(spec);
  } else {
    options.frequency = kDefaultRateHz;  // Nobody knows how often such an event happens.
  }
  return options;
}

uint64_t Planner::CyclesPeriod(const EventSpec& spec) const {
  const uint64_t hz = context_.cpu_hz ? *context_.cpu_hz : measured_hz_.value_or(2'000'000'000);
  const uint64_t period = PrimeAtMost(std::max<uint64_t>(hz / kDefaultRateHz, 10'007));
  const bool by_ibs = context_.amd && spec.precise_ip > 0;
  return by_ibs ? period / kIbsStep * kIbsStep : period;
}

void Planner::BuildAttr(PlannedEvent& event) const {
  event.attr = BuildSamplingAttr(event.spec, SamplingOf(event.spec));
}

absl::StatusOr<std::vector<int>> Planner::CpusOf(const EventSpec& spec) const {
  if (spec.cpus.empty()) return std::vector<int>();
  return ParseCpuList(spec.cpus);
}

// Some counters without an interrupt refuse a period with EINVAL, as they would any nonsense; whether they
// count without one tells the two apart.
absl::Status Planner::Explained(const absl::Status& refusal, const PlannedEvent& event) const {
  if (StatusErrno(refusal) == EINVAL && event.spec.type >= PERF_TYPE_MAX) {
    perf_event_attr counting = BuildCountingAttr(event.spec, {});
    counting.read_format = 0;
    const int cpu = event.cpus.empty() ? context_.cpu : event.cpus.front();
    if (context_.kernel->Open(counting, context_.pid, cpu, -1).ok())
      return OpenFailureStatus(ErrnoStatus(EOPNOTSUPP, "perf_event_open"), event.spec, event.attr,
                               context_.around);
  }
  return OpenFailureStatus(refusal, event.spec, event.attr, context_.around);
}

void Planner::Note(std::string sentence) {
  if (std::find(plan_.notes.begin(), plan_.notes.end(), sentence) == plan_.notes.end())
    plan_.notes.push_back(std::move(sentence));
}

void Planner::DescribeInMeta(std::string wish) {
  std::string actual, notes;
  for (const auto& group : plan_.groups) {
    for (const PlannedEvent& event : group)
      StrAppend(&actual, actual.empty() ? "" : "; ", DescribeSampling(event));
  }
  for (const std::string& note : plan_.notes) StrAppend(&notes, notes.empty() ? "" : "\n", note);
  for (const std::string_view name : left_out_) StrAppend(&plan_.meta["event.left_out"], name, ";");
  plan_.meta["event.wish"] = std::move(wish);
  plan_.meta["event.actual"] = std::move(actual);
  if (!notes.empty()) plan_.meta["event.note"] = std::move(notes);
}

bool Planner::UserSpaceWillDo(const absl::Status& refusal, const EventSpec& spec) const {
  return !context_.around.whole_cpus && MeansForbidden(refusal) && !spec.exclude_kernel &&
         !spec.exclude_user && spec.type != PERF_TYPE_TRACEPOINT;
}

void Planner::TellUserSpaceOnly(const EventSpec& wish) {
  Note(StrCat(wish.name, ": the kernel may not be profiled by you here; only user space is (", wish.name,
              ":u)."));
}

absl::Status Planner::ProbeCycles(const EventSpec& wish, PlannedEvent* out) {
  absl::Status first;
  // IBS cannot leave out the kernel or user space.
  const bool precise_possible = !(context_.amd && (wish.exclude_kernel || wish.exclude_user));
  for (int precise = precise_possible ? kHighestPrecise : 0; precise >= 0; --precise) {
    out->spec = wish;
    out->spec.precise_ip = static_cast<uint8_t>(precise);
    BuildAttr(*out);
    const ProbeResult probe = ProbeEvent(*context_.kernel, out->attr, out->cpus);
    if (probe.outcome == ProbeOutcome::kWorks) {
      if (probe.counts_per_second > 0) measured_hz_ = static_cast<uint64_t>(probe.counts_per_second);
      return TryOpen(*out, out->spec.precise_ip);
    }
    absl::Status why = probe.refusal;
    if (probe.outcome == ProbeOutcome::kCountsNothing)
      why = absl::UnavailableError("the hardware counters of this machine open but count nothing");
    if (probe.outcome == ProbeOutcome::kDeliversNothing)
      why = absl::UnavailableError("the hardware counters of this machine count but deliver no samples");
    if (IsFinal(why)) return why;
    first = std::move(why);
  }
  return first;
}

absl::Status Planner::TryOpen(PlannedEvent& event, uint8_t highest_precise) {
  absl::Status first;
  for (int precise = highest_precise; precise >= 0; --precise) {
    event.spec.precise_ip = static_cast<uint8_t>(precise);
    BuildAttr(event);
    const int cpu = event.cpus.empty() ? context_.cpu : event.cpus.front();
    absl::StatusOr<UniqueFd> fd =
        OpenDegrading(*context_.kernel, event.attr, context_.pid, cpu, -1, &left_out_);
    if (fd.ok()) return absl::OkStatus();
    if (first.ok()) first = fd.status();
    if (!event.spec.precise_max || IsFinal(fd.status())) break;
  }
  return first;
}

absl::Status Planner::ProbeTimer(PlannedEvent& clock) {
  BuildAttr(clock);
  const ProbeResult probe = ProbeEvent(*context_.kernel, clock.attr, {});
  if (probe.outcome == ProbeOutcome::kCountsNothing || probe.outcome == ProbeOutcome::kDeliversNothing)
    return WithFailure(absl::UnavailableError("probe cpu-clock: the kernel's timer delivers no samples"),
                       OpenFailure::kNotSupported);
  return probe.outcome == ProbeOutcome::kWorks ? TryOpen(clock, 0) : probe.refusal;
}

// `user_only`: that the kernel may not be profiled here is known already.
absl::Status Planner::FallToTimer(const absl::Status& why, bool user_only) {
  PlannedEvent clock{.spec = CpuClock(), .attr = {}, .cpus = {}};
  const auto leave_kernel_out = [&clock] {
    clock.spec.exclude_kernel = true;
    clock.spec.name = "cpu-clock:u";
  };
  if (context_.period) clock.spec.period = kDefaultClockPeriodNs;
  if (user_only) leave_kernel_out();
  absl::Status status = ProbeTimer(clock);
  if (UserSpaceWillDo(status, clock.spec)) {
    user_only = true;
    leave_kernel_out();
    status = ProbeTimer(clock);
  }
  if (!status.ok()) return Explained(status, clock);
  plan_.notes.clear();  // what was said of cycles ends with them
  Note(StrCat("cycles: ", CauseOfFall(why), "; sampling the CPU clock by timer instead.",
              user_only ? "" : StrCat("\n", kTimerLoss)));
  if (user_only) TellUserSpaceOnly(CpuClock());
  if (context_.period)
    Note(StrCat("cpu-clock: a period of ", GroupDigits(*context_.period),
                " was meant for cycles; a sample is taken every ", GroupDigits(kDefaultClockPeriodNs),
                " ns."));
  plan_.groups = {{std::move(clock)}};
  return absl::OkStatus();
}

std::string Planner::CauseOfFall(const absl::Status& why) const {
  const int error = StatusErrno(why);
  if (error == 0) return MessageOf(why);
  if (error == ENOENT || error == ENXIO || error == ENODEV || error == EOPNOTSUPP)
    return "this machine has no hardware counters for us (a virtual machine?)";
  PlannedEvent cycles{.spec = {}, .attr = {}, .cpus = {}};
  cycles.spec.type = PERF_TYPE_HARDWARE;
  BuildAttr(cycles);
  cycles.attr.precise_ip = 0;
  return ExplainOpenFailure(error, cycles.spec, cycles.attr, context_.around).cause;
}

absl::StatusOr<EventPlan> Planner::Default() {
  KSAMP_ASSIGN_OR_RETURN(const std::vector<EventGroup> wishes, ParseEvents("cycles", *context_.catalog));
  bool user_only = false;
  for (size_t i = 0; i < wishes.size();) {
    EventSpec wish = wishes[i].events.front();
    wish.exclude_kernel = wish.exclude_kernel || user_only;
    if (user_only) wish.name += ":u";
    PlannedEvent event;
    KSAMP_ASSIGN_OR_RETURN(event.cpus, CpusOf(wish));
    absl::Status status = ProbeCycles(wish, &event);
    if (!user_only && UserSpaceWillDo(status, wish)) {
      TellUserSpaceOnly(wish);
      user_only = true;
      plan_.groups.clear();
      i = 0;
      continue;
    }
    if (!status.ok() && IsFinal(status)) return Explained(status, event);
    if (!status.ok()) {
      KSAMP_RETURN_IF_ERROR(FallToTimer(status, user_only));
      break;
    }
    if (event.spec.precise_ip == 0 && !user_only)
      Note(StrCat(event.spec.name,
                  ": no precise sampling on this machine; a sample may lie a few instructions late."));
    plan_.groups.push_back({std::move(event)});
    ++i;
  }
  DescribeInMeta("cycles");
  return std::move(plan_);
}

absl::Status Planner::PlanExplicit(const EventSpec& spec, std::vector<PlannedEvent>& group) {
  PlannedEvent event;
  event.spec = spec;
  KSAMP_ASSIGN_OR_RETURN(event.cpus, CpusOf(spec));
  const uint8_t highest = spec.precise_max ? kHighestPrecise : spec.precise_ip;
  absl::Status status = TryOpen(event, highest);
  if (UserSpaceWillDo(status, spec)) {
    event.spec.exclude_kernel = true;
    event.spec.name += spec.name.find(':') == std::string::npos ? ":u" : "u";
    status = TryOpen(event, highest);
    if (status.ok()) TellUserSpaceOnly(spec);
  }
  if (!status.ok()) return Explained(status, event);
  group.push_back(std::move(event));
  return absl::OkStatus();
}

absl::StatusOr<EventPlan> Planner::Explicit(const std::vector<std::string>& events) {
  std::string wish;
  for (const std::string& text : events) {
    StrAppend(&wish, wish.empty() ? "" : ",", text);
    absl::StatusOr<std::vector<EventGroup>> parsed = ParseEvents(text, *context_.catalog);
    if (!parsed.ok()) return WithFailure(parsed.status(), ParseFailure(parsed.status()));
    for (const EventGroup& group : *parsed) {
      std::vector<PlannedEvent>& planned = plan_.groups.emplace_back();
      for (const EventSpec& spec : group.events) KSAMP_RETURN_IF_ERROR(PlanExplicit(spec, planned));
    }
  }
  DescribeInMeta(std::move(wish));
  return std::move(plan_);
}

}  // namespace

uint64_t PrimeAtMost(uint64_t value) {
  const auto is_prime = [](uint64_t n) {
    for (uint64_t d = 2; d * d <= n; ++d) {
      if (n % d == 0) return false;
    }
    return true;
  };
  while (!is_prime(value)) --value;
  return value;
}

std::string DescribeSampling(const PlannedEvent& event) {
  if (event.attr.freq) return StrCat(event.spec.name, ", ", GroupDigits(event.attr.sample_freq), " Hz");
  const bool clock = IsClockEvent(event.attr.type, event.attr.config);
  if (!clock && event.attr.sample_period == 1) return StrCat(event.spec.name, ", every event");
  return StrCat(event.spec.name, ", every ", GroupDigits(event.attr.sample_period),
                clock ? " ns" : " events");
}

absl::StatusOr<EventPlan> PlanEvents(const std::vector<std::string>& events, const LadderContext& context) {
  Planner planner(context);
  return events.empty() ? planner.Default() : planner.Explicit(events);
}

}  // namespace ksamp
