// SPDX-License-Identifier: Apache-2.0
#include "lib/recorder/open_failure.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/cord.h"
#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "lib/os/sys_fs.h"

namespace ksamp {
namespace {

constexpr char kFailurePayload[] = "ksamp.open_failure";
constexpr int kCapSysAdmin = 21, kCapPerfmon = 38;

bool IsHardware(const perf_event_attr& attr) {
  return attr.type != PERF_TYPE_SOFTWARE && attr.type != PERF_TYPE_TRACEPOINT &&
         attr.type != PERF_TYPE_BREAKPOINT;
}

// The value of "NAME:\tvalue" in a /proc/PID/status, in the given base; 0 where absent.
uint64_t StatusField(std::string_view text, std::string_view name, int base) {
  const std::string key = StrCat("\n", name, ":");
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return 0;
  return std::strtoull(text.data() + at + key.size(), nullptr, base);
}

OpenVerdict ExplainAccess(const perf_event_attr& attr, const OpenCircumstances& around) {
  const int paranoid = around.paranoid.value_or(-1);
  const std::string is = StrCat("kernel.perf_event_paranoid is ", paranoid, ", and without CAP_PERFMON ");
  if (around.may_profile) return {OpenFailure::kNoCapability, "a security module of the kernel forbids it"};
  if (around.whole_cpus && paranoid >= 1)
    return {OpenFailure::kParanoid, is + "whole CPUs may be watched only at 0 or below"};
  if (attr.type == PERF_TYPE_TRACEPOINT && paranoid >= 0)
    return {OpenFailure::kParanoid, is + "tracepoints may be read only at -1"};
  if (attr.exclude_kernel == 0 && paranoid >= 2)
    return {OpenFailure::kParanoid, is + "the kernel may be profiled only at 1 or below"};
  // Upstream there is nothing above 2; kernels of distributions know levels at which nothing opens.
  if (paranoid >= 3) return {OpenFailure::kParanoid, is + "this kernel opens no event above 2"};
  return {OpenFailure::kNoCapability, "the process belongs to someone else"};
}

OpenVerdict ExplainPermission(const OpenCircumstances& around) {
  if (around.seccomp_filter)
    return {OpenFailure::kSeccomp,
            "a seccomp filter refuses perf_event_open (a container's default profile?)"};
  if (around.may_profile)
    return {OpenFailure::kNoCapability, "the kernel forbids it (lockdown, or a security module)"};
  return {OpenFailure::kNoCapability, "it needs CAP_PERFMON or root"};
}

OpenVerdict ExplainAbsent(int error, const perf_event_attr& attr) {
  if (attr.type == PERF_TYPE_TRACEPOINT)
    return {OpenFailure::kNoSuchEvent, "the kernel has no such tracepoint"};
  if (!IsHardware(attr)) return {OpenFailure::kNoSuchEvent, "the kernel has no such event"};
  if (error == ENODEV)
    return {OpenFailure::kNoPmu,
            "this machine has no hardware counters (a virtual machine?), or the CPU is "
            "offline"};
  return {OpenFailure::kNoPmu, "this machine has no hardware counters (a virtual machine?)"};
}

OpenVerdict ExplainBusy(const OpenCircumstances& around) {
  if (around.nmi_watchdog)
    return {OpenFailure::kBusy, "the hardware counters are taken; the NMI watchdog holds one of each CPU"};
  return {OpenFailure::kBusy, "the hardware counters are taken by someone else (another profiler, or KVM)"};
}

OpenVerdict ExplainInvalid(const perf_event_attr& attr, const OpenCircumstances& around) {
  if (attr.freq && around.max_sample_rate && attr.sample_freq > *around.max_sample_rate) {
    return {OpenFailure::kRateTooHigh,
            StrCat(GroupDigits(attr.sample_freq), " Hz is above kernel.perf_event_max_sample_rate, ",
                   GroupDigits(*around.max_sample_rate))};
  }
  return {OpenFailure::kNotSupported, "the kernel does not take this combination of event and options"};
}

OpenVerdict ExplainUnsupported(const perf_event_attr& attr) {
  if (attr.precise_ip > 0)
    return {OpenFailure::kNotSupported,
            StrCat("this CPU cannot sample it with precision ", static_cast<int>(attr.precise_ip))};
  if (attr.sample_period != 0)
    return {OpenFailure::kNotSupported, "it can be counted but not sampled: its counter raises no interrupt"};
  return {OpenFailure::kNotSupported, "this CPU or kernel does not support it"};
}

}  // namespace

OpenCircumstances ReadOpenCircumstances(const std::string& proc_root) {
  OpenCircumstances around;
  const PerfLimits limits = ReadPerfLimits(proc_root);
  around.paranoid = limits.paranoid;
  around.nmi_watchdog = limits.nmi_watchdog;
  around.max_sample_rate = limits.max_sample_rate;
  const std::string status = ReadFile(StrCat(proc_root, "/self/status")).value_or("");
  around.capabilities = StatusField(status, "CapEff", 16);
  around.may_profile =
      (around.capabilities & (uint64_t{1} << kCapSysAdmin | uint64_t{1} << kCapPerfmon)) != 0;
  around.seccomp_filter = StatusField(status, "Seccomp", 10) == 2;
  return around;
}

OpenVerdict ExplainOpenFailure(int error, const EventSpec& event, const perf_event_attr& attr,
                               const OpenCircumstances& around) {
  switch (error) {
    case EACCES:
      return ExplainAccess(attr, around);
    case EPERM:
      return ExplainPermission(around);
    case ENODEV:
      if (IsHardware(attr)) return ExplainAbsent(error, attr);
      return {OpenFailure::kNoSuchCpu, "the CPU is offline"};
    case ENOENT:
    case ENXIO:
      return ExplainAbsent(error, attr);
    case EBUSY:
      return ExplainBusy(around);
    case EMFILE:
    case ENFILE:
      return {OpenFailure::kTooManyFiles,
              StrCat("it takes ", GroupDigits(around.files_needed), " open files, and the limit is ",
                     GroupDigits(around.files_allowed))};
    case ESRCH:
      return {OpenFailure::kNoSuchProcess, "there is no such process"};
    case E2BIG:
      return {OpenFailure::kKernelTooOld, "the kernel is too old to know what was asked for"};
    case EINVAL:
      return ExplainInvalid(attr, around);
    case EOPNOTSUPP:
      return ExplainUnsupported(attr);
    case ENOSYS:
      return {OpenFailure::kNotSupported, "the kernel was built without perf events"};
    case ENOSPC:
      return {OpenFailure::kBusy, StrCat("the CPU has no counter left for ", event.name)};
    default:
      return {OpenFailure::kOther, std::strerror(error)};
  }
}

absl::Status WithFailure(absl::Status status, OpenFailure failure) {
  status.SetPayload(kFailurePayload, absl::Cord(std::to_string(static_cast<int>(failure))));
  return status;
}

absl::Status OpenFailureStatus(const absl::Status& refusal, const EventSpec& event,
                               const perf_event_attr& attr, const OpenCircumstances& around) {
  const int error = StatusErrno(refusal);
  if (error == 0) return refusal;
  OpenVerdict verdict = ExplainOpenFailure(error, event, attr, around);
  absl::Status status(refusal.code(), StrCat("open ", event.name, ": ", verdict.cause));
  refusal.ForEachPayload([&](auto name, const absl::Cord& value) { status.SetPayload(name, value); });
  return WithFailure(std::move(status), verdict.failure);
}

OpenFailure FailureOf(const absl::Status& status) {
  if (status.ok()) return OpenFailure::kNone;
  const auto payload = status.GetPayload(kFailurePayload);
  if (!payload) return OpenFailure::kOther;
  return static_cast<OpenFailure>(std::atoi(std::string(*payload).c_str()));
}

absl::Status CommandFailure(absl::Status status) {
  if (absl::IsNotFound(status)) return WithFailure(std::move(status), OpenFailure::kCommandNotFound);
  if (absl::IsPermissionDenied(status))
    return WithFailure(std::move(status), OpenFailure::kCommandNotExecutable);
  return status;
}

}  // namespace ksamp
