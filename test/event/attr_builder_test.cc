// SPDX-License-Identifier: Apache-2.0
#include "lib/event/attr_builder.h"

#include <cstring>
#include <functional>
#include <string>

#include "test/support/status_matchers.h"

namespace ksamp::testing {
namespace {

constexpr uint64_t kBaseSample = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;

EventSpec Cycles() {
  EventSpec spec;
  spec.name = "cycles";
  spec.type = PERF_TYPE_HARDWARE;
  spec.config = PERF_COUNT_HW_CPU_CYCLES;
  return spec;
}

// A sampling attr of cycles with a period of 1000 and nothing else asked for: what every case starts from.
perf_event_attr PlainAttr() {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_HARDWARE;
  attr.size = sizeof(attr);
  attr.sample_period = 1000;
  attr.sample_type = kBaseSample | PERF_SAMPLE_CPU;
  attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
  attr.disabled = 1;
  attr.sample_id_all = 1;
  attr.exclude_guest = 1;
  return attr;
}

struct AttrCase {
  std::string name;
  std::function<void(EventSpec&, AttrOptions&)> wish;
  std::function<void(perf_event_attr&)> effect;  // on PlainAttr()
};

class SamplingAttrTest : public ::testing::TestWithParam<AttrCase> {};

// The whole attr is compared, so a wish sets its own bits and no others.
TEST_P(SamplingAttrTest, HasExactlyTheseBits) {
  EventSpec spec = Cycles();
  AttrOptions options;
  options.period = 1000;
  GetParam().wish(spec, options);
  perf_event_attr expected = PlainAttr();
  GetParam().effect(expected);
  const perf_event_attr attr = BuildSamplingAttr(spec, options);
  EXPECT_EQ(std::memcmp(&attr, &expected, sizeof(attr)), 0);
}

const AttrCase kAttrCases[] = {
    {"plain", [](auto&, auto&) {}, [](auto&) {}},
    {"type_and_config",
     [](auto& spec, auto&) {
       spec.type = 9;
       spec.config = 1;
       spec.config1 = 2;
       spec.config2 = 3;
     },
     [](auto& attr) {
       attr.type = 9;
       attr.config = 1;
       attr.config1 = 2;
       attr.config2 = 3;
     }},
    {"exclude_user", [](auto& spec, auto&) { spec.exclude_user = true; },
     [](auto& attr) { attr.exclude_user = 1; }},
    {"exclude_kernel", [](auto& spec, auto&) { spec.exclude_kernel = true; },
     [](auto& attr) { attr.exclude_kernel = 1; }},
    {"exclude_hv", [](auto& spec, auto&) { spec.exclude_hv = true; },
     [](auto& attr) { attr.exclude_hv = 1; }},
    {"exclude_idle", [](auto& spec, auto&) { spec.exclude_idle = true; },
     [](auto& attr) { attr.exclude_idle = 1; }},
    {"exclude_host", [](auto& spec, auto&) { spec.exclude_host = true; },
     [](auto& attr) { attr.exclude_host = 1; }},
    {"guests_too", [](auto& spec, auto&) { spec.exclude_guest = false; },
     [](auto& attr) { attr.exclude_guest = 0; }},
    {"precise", [](auto& spec, auto&) { spec.precise_ip = 2; }, [](auto& attr) { attr.precise_ip = 2; }},
    {"pinned", [](auto& spec, auto&) { spec.pinned = true; }, [](auto& attr) { attr.pinned = 1; }},
    {"exclusive", [](auto& spec, auto&) { spec.exclusive = true; }, [](auto& attr) { attr.exclusive = 1; }},
    {"sample_read", [](auto& spec, auto&) { spec.sample_read = true; },
     [](auto& attr) {
       attr.sample_type |= PERF_SAMPLE_READ;
       attr.read_format |=
           PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
     }},
    {"own_period", [](auto& spec, auto&) { spec.period = 7; }, [](auto& attr) { attr.sample_period = 7; }},
    {"own_frequency", [](auto& spec, auto&) { spec.frequency = 99; },
     [](auto& attr) {
       attr.freq = 1;
       attr.sample_freq = 99;
       attr.sample_type |= PERF_SAMPLE_PERIOD;
     }},
    {"frequency",
     [](auto&, auto& options) {
       options.period.reset();
       options.frequency = 99;
     },
     [](auto& attr) {
       attr.freq = 1;
       attr.sample_freq = 99;
       attr.sample_type |= PERF_SAMPLE_PERIOD;
     }},
    {"default_is_the_prime_rate", [](auto&, auto& options) { options.period.reset(); },
     [](auto& attr) {
       attr.freq = 1;
       attr.sample_freq = 3989;
       attr.sample_type |= PERF_SAMPLE_PERIOD;
     }},
    {"default_of_clocks",
     [](auto& spec, auto& options) {
       options.period.reset();
       spec.type = PERF_TYPE_SOFTWARE;
       spec.config = PERF_COUNT_SW_CPU_CLOCK;
     },
     [](auto& attr) {
       attr.type = PERF_TYPE_SOFTWARE;
       attr.config = PERF_COUNT_SW_CPU_CLOCK;
       attr.sample_period = 250'689;
     }},
    {"default_of_tracepoints",
     [](auto& spec, auto& options) {
       options.period.reset();
       spec.type = PERF_TYPE_TRACEPOINT;
       spec.config = 314;
     },
     [](auto& attr) {
       attr.type = PERF_TYPE_TRACEPOINT;
       attr.config = 314;
       attr.sample_period = 1;
       attr.sample_type |= PERF_SAMPLE_RAW;
     }},
    {"callchain",
     [](auto&, auto& options) {
       options.callchain = true;
       options.max_stack = 64;
     },
     [](auto& attr) {
       attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
       attr.sample_max_stack = 64;
     }},
    {"no_cpu", [](auto&, auto& options) { options.want_cpu = false; },
     [](auto& attr) { attr.sample_type = kBaseSample; }},
    {"addr", [](auto&, auto& options) { options.want_addr = true; },
     [](auto& attr) { attr.sample_type |= PERF_SAMPLE_ADDR; }},
    {"inherit", [](auto&, auto& options) { options.inherit = true; }, [](auto& attr) { attr.inherit = 1; }},
    {"starts_at_once", [](auto&, auto& options) { options.start_disabled = false; },
     [](auto& attr) { attr.disabled = 0; }},
    {"starts_with_exec",
     [](auto&, auto& options) {
       options.start_disabled = false;
       options.enable_on_exec = true;
     },
     [](auto& attr) { attr.enable_on_exec = 1; }},
    {"side_records", [](auto&, auto& options) { options.track_side_records = true; },
     [](auto& attr) {
       attr.mmap = attr.mmap2 = attr.build_id = attr.comm = attr.comm_exec = attr.task = 1;
       attr.ksymbol = attr.bpf_event = 1;
     }},
    {"side_records_without_build_id",
     [](auto&, auto& options) {
       options.track_side_records = true;
       options.build_id_in_mmap = false;
     },
     [](auto& attr) {
       attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = attr.ksymbol = attr.bpf_event = 1;
     }},
    {"context_switch", [](auto&, auto& options) { options.context_switch = true; },
     [](auto& attr) { attr.context_switch = 1; }},
    {"clockid", [](auto&, auto& options) { options.clockid = 1; },
     [](auto& attr) {
       attr.use_clockid = 1;
       attr.clockid = 1;
     }},
    {"watermark", [](auto&, auto& options) { options.wakeup_watermark = 4096; },
     [](auto& attr) {
       attr.watermark = 1;
       attr.wakeup_watermark = 4096;
     }},
};
INSTANTIATE_TEST_SUITE_P(Bits, SamplingAttrTest, ::testing::ValuesIn(kAttrCases),
                         [](const auto& test) { return test.param.name; });

TEST(CountingAttrTest, CountsAndTakesNoSamples) {
  EventSpec spec = Cycles();
  spec.exclude_kernel = true;
  spec.period = 5;
  AttrOptions options;
  options.inherit = true;
  options.callchain = true;
  options.track_side_records = true;
  perf_event_attr expected{};
  expected.type = PERF_TYPE_HARDWARE;
  expected.size = sizeof(expected);
  expected.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
  expected.disabled = 1;
  expected.inherit = 1;
  expected.exclude_kernel = 1;
  expected.exclude_guest = 1;
  const perf_event_attr attr = BuildCountingAttr(spec, options);
  EXPECT_EQ(std::memcmp(&attr, &expected, sizeof(attr)), 0);
}

TEST(ClockEventTest, OnlyTheTwoSoftwareClocks) {
  EXPECT_TRUE(IsClockEvent(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK));
  EXPECT_TRUE(IsClockEvent(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK));
  EXPECT_FALSE(IsClockEvent(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS));
  EXPECT_FALSE(IsClockEvent(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES));
}

}  // namespace
}  // namespace ksamp::testing
