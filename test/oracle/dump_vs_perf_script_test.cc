// SPDX-License-Identifier: Apache-2.0
// `ksamp dump` and `perf script` of the same recordings: the same text, line for line, but for what
// doc/differences.md lists. Both print names as the symbol tables have them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/str_cat.h"
#include "test/support/built_tree.h"
#include "test/support/capability.h"
#include "test/support/run_command.h"
#include "test/support/symbol_aliases.h"
#include "test/support/temp_tree.h"

namespace ksamp::testing {
namespace {

constexpr char kWorkload[] =
    "sh -c 'gzip -c /usr/bin/perf | sha256sum; ls -lR /usr/share; "
    "for i in 1 2 3 4 5 6 7 8 9; do cat /proc/self/maps; done; "
    "python3 -c \"print(sum(i * i for i in range(1000000)))\"' >/dev/null";

// A line in three: up to and including the address, the symbol, the offset and image. Lines without an image
// (the first one of a sample with a chain) are all start.
struct Line {
  std::string start, symbol, end;
  std::string Text() const { return start + symbol + end; }
};

Line Split(const std::string& text) {
  const size_t open = text.rfind(" (/") != std::string::npos ? text.rfind(" (/") : text.rfind(" (");
  if (open == std::string::npos || open == 0) return {text, "", ""};
  const size_t blank = text.rfind(' ', open - 1);
  if (blank == std::string::npos) return {text, "", ""};
  const std::string name = text.substr(blank + 1, open - blank - 1);
  const size_t plus = name.rfind("+0x");
  if (plus == std::string::npos) return {text.substr(0, blank + 1), name, text.substr(open)};
  return {text.substr(0, blank + 1), name.substr(0, plus), name.substr(plus) + text.substr(open)};
}

class Normaliser {
 public:
  explicit Normaliser(const std::string& folder) : aliases_(folder) {}

  // Symbols become one of their aliases; made-up ones of the procedure linkage table none.
  Line Normal(const std::string& text) {
    Line line = Split(text);
    if (line.symbol.empty() || line.symbol == "[unknown]") return line;
    const size_t open = line.end.rfind(" (");
    const std::string image = line.end.substr(open + 2, line.end.size() - open - 3);
    if (line.symbol.ends_with("@plt")) return {line.start, "[unknown]", line.end.substr(open)};
    line.symbol = aliases_.Canonical(image, line.symbol);
    return line;
  }

 private:
  SymbolAliases aliases_;
};

// A call is the last instruction of a function that the callee does not return to: perf names the function
// that happens to follow, at +0x0.
bool IsReturnBehindTheEnd(const Line& perf, const Line& ksamp) {
  // The table of procedure linkage, which follows _init, where perf finds no names for it.
  if (perf.start == ksamp.start && perf.symbol == "_init" && ksamp.symbol == "[unknown]") return true;
  return perf.start == ksamp.start && perf.start.starts_with('\t') &&
         (perf.end.starts_with("+0x0 (") || perf.symbol == "[unknown]");
}

// What perf itself recorded of processes: who forked from whom, when it exec'ed, what was mapped.
class PerfMappings {
 public:
  // Of `perf script --show-task-events --show-mmap-events`.
  explicit PerfMappings(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) Add(line);
  }

  // Whether a process has something at `address`, of its present program: perf keeps what was mapped before
  // an exec, and names addresses by it.
  bool Has(int pid, double time, uint64_t address) const {
    const auto process = events_.find(pid);
    if (process == events_.end()) return true;  // There before the recording: nothing is proved.
    bool known = false, mapped = false;
    for (const Event& event : process->second) {
      if (event.time > time) break;
      known |= event.what != 'M';
      if (event.what == 'F') mapped = Has(event.parent, event.time, address);
      if (event.what == 'E') mapped = false;
      if (event.what == 'M') mapped |= event.start <= address && address - event.start < event.size;
    }
    return mapped || !known;
  }

 private:
  struct Event {
    char what;  // fork, exec, mapping
    double time;
    int parent = 0;
    uint64_t start = 0, size = 0;
  };

  void Add(const std::string& line) {
    const size_t record = line.find(" PERF_RECORD_");
    if (record == std::string::npos) return;
    const size_t clock = line.rfind(' ', record - 1);
    Event event{.what = 0, .time = std::strtod(line.c_str() + clock, nullptr)};
    const char* const text = line.c_str() + record;
    int pid = 0, tid = 0;
    if (std::sscanf(text, " PERF_RECORD_FORK(%d:%d):(%d", &pid, &tid, &event.parent) == 3) {
      event.what = pid == event.parent ? '\0' : 'F';
    } else if (std::sscanf(text, " PERF_RECORD_MMAP2 %d/%*d: [0x%" SCNx64 "(0x%" SCNx64 ")", &pid,
                           &event.start, &event.size) == 3) {
      event.what = 'M';
    } else if (line.find("PERF_RECORD_COMM exec: ") != std::string::npos) {
      pid = std::atoi(line.c_str() + line.rfind(':') + 1);
      event.what = 'E';
    }
    if (event.what != '\0') events_[pid].push_back(event);
  }

  std::map<int, std::vector<Event>> events_;
};

// The thread and time of a sample's first line: "COMM TID [CPU] TIME: …".
std::pair<int, double> ThreadAndTime(const std::string& line) {
  const size_t cpu = line.find(" [");
  if (cpu == std::string::npos) return {0, 0};
  const size_t tid = line.rfind(' ', cpu - 1), time = line.find("] ", cpu);
  return {std::atoi(line.c_str() + tid), std::strtod(line.c_str() + time + 1, nullptr)};
}

// perf names an address by a mapping that the process's exec has ended.
bool IsOfTheProgramBeforeExec(const PerfMappings& mappings, const std::string& sample, const Line& perf,
                              const Line& ksamp) {
  constexpr double kRounding = 1e-6;
  if (!perf.start.starts_with('\t') || ksamp.symbol != "[unknown]" || ksamp.end != " ([unknown])")
    return false;
  const auto [thread, time] = ThreadAndTime(sample);
  return !mappings.Has(thread, time + kRounding, std::strtoull(ksamp.start.c_str(), nullptr, 16));
}

// Of a memfd perf shows the offset: a frame's address and nothing else.
bool IsInMemfd(const Line& perf, const Line& ksamp) {
  return perf.start.starts_with('\t') && perf.end == ksamp.end && perf.end.starts_with(" (/memfd:");
}

// Each with another kind of field: characters, flags, symbols, text elsewhere, addresses of the network.
constexpr char kTracepoints[] =
    "sched:sched_switch,irq:softirq_entry,syscalls:sys_enter_openat,net:netif_receive_skb,"
    "sock:inet_sock_set_state,sched:sched_process_exec,cpu-clock";

struct Differences {
  size_t behind_the_end = 0, before_exec = 0, chains_not_shown = 0, others = 0;
  std::string first;
};

// How many lines of each kind differ.
Differences Compare(const std::vector<std::string>& perf, const std::vector<std::string>& ksamp,
                    const PerfMappings& mappings, const std::string& folder) {
  Normaliser normaliser(folder);
  Differences found;
  size_t k = 0;
  std::string sample;
  for (size_t p = 0; p < perf.size(); ++p, ++k) {
    // A chain with an unknown context marker in it: perf shows none of it.
    if (perf[p].empty() && k < ksamp.size() && !ksamp[k].empty() && p > 0 && !perf[p - 1].starts_with('\t')) {
      while (k < ksamp.size() && !ksamp[k].empty()) ++k;
      ++found.chains_not_shown;
    }
    const std::string ours = k < ksamp.size() ? ksamp[k] : "(nothing)";
    if (!perf[p].empty() && !perf[p].starts_with('\t')) sample = perf[p];
    if (perf[p] == ours) continue;
    const Line by_perf = normaliser.Normal(perf[p]), by_ksamp = normaliser.Normal(ours);
    if (by_perf.Text() == by_ksamp.Text() || IsInMemfd(by_perf, by_ksamp)) continue;
    if (IsReturnBehindTheEnd(by_perf, by_ksamp)) {
      ++found.behind_the_end;
    } else if (IsOfTheProgramBeforeExec(mappings, sample, by_perf, by_ksamp)) {
      ++found.before_exec;
    } else if (++found.others <= 10) {
      StrAppend(&found.first, "perf:  ", perf[p], "\nksamp: ", ours, "\n");
    }
  }
  found.others += ksamp.size() - std::min(k, ksamp.size());
  return found;
}

struct Case {
  std::string name, record;  // the command, which writes r.data
};

class SameText : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    Recordings, SameText,
    ::testing::Values(
        Case{"FlatOfAWorkload",
             std::string("perf record -q -B -e cpu-clock -c 250689 -o r.data -- ") + kWorkload},
        Case{"FlatOfTheMachine",
             std::string("perf record -q -B -a -e cpu-clock -F 3989 -o r.data -- ") + kWorkload},
        Case{"ChainsOfTheMachine",
             std::string("perf record -q -B -a -g -e cpu-clock -c 250689 -o r.data -- ") + kWorkload},
        Case{"SeveralEvents",
             std::string("perf record -q -B -a -e cpu-clock,page-faults,context-switches -o r.data -- ") +
                 kWorkload},
        Case{"Tracepoints", StrCat("perf record -q -B -a -e ", kTracepoints, " -o r.data -- ", kWorkload)},
        Case{"ChainsOfTracepoints",
             std::string("perf record -q -B -a -g -e sched:sched_switch -o r.data -- ") + kWorkload},
        Case{"TracepointsByKsamp",
             StrCat(ToolPath(), " record -a -e ", kTracepoints, " -o r.data -- ", kWorkload)},
        Case{"ByKsamp", ToolPath() + " record -a -e cpu-clock -c 250689 -o r.data -- " + kWorkload}),
    [](const auto& tested) { return tested.param.name; });

TEST_P(SameText, LineForLine) {
  KSAMP_REQUIRE(CanSampleSystemWide());
  KSAMP_REQUIRE(HasTool("perf"));
  KSAMP_REQUIRE(HasTool("nm"));
  KSAMP_REQUIRE(HasTracefs());
  const TempTree tree;
  const CommandResult recorded = RunCommand(tree.root(), GetParam().record);
  ASSERT_EQ(recorded.exit_code, 0) << recorded;
  const CommandResult by_perf = RunCommand(tree.root(), "perf script --no-inline --no-demangle -i r.data");
  ASSERT_EQ(by_perf.exit_code, 0) << by_perf;
  const CommandResult by_ksamp = RunCommand(tree.root(), ToolPath() + " dump -D none -i r.data");
  ASSERT_EQ(by_ksamp.exit_code, 0) << by_ksamp;

  const std::vector<std::string> perf = Lines(by_perf.out), ksamp = Lines(by_ksamp.out);
  ASSERT_GE(perf.size(), 100u) << by_perf;
  const CommandResult records = RunCommand(
      tree.root(), "perf script --show-task-events --show-mmap-events -i r.data | grep PERF_RECORD_");
  const PerfMappings mappings(Lines(records.out));
  const Differences differences = Compare(perf, ksamp, mappings, tree.root());
  EXPECT_EQ(differences.others, 0u) << "of " << perf.size() << " lines; the first:\n" << differences.first;
  EXPECT_LE(differences.behind_the_end * 20, perf.size());
  EXPECT_LE(differences.before_exec * 200, perf.size());
  EXPECT_LE(differences.chains_not_shown * 1000, perf.size());
}

}  // namespace
}  // namespace ksamp::testing
