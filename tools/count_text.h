// SPDX-License-Identifier: Apache-2.0
// Counts as text, CSV and JSON: what `ksamp stat` prints.
//
//   CountTable table(runs);                  // one result, or several of the same command (-r)
//   table.WriteText("'make -j8'", out);
//
// The text has the columns of perf stat, so that eyes and scripts find the value, the event's name and behind
// # what it means: CPUs used by a clock, GHz of cycles, instructions per cycle, the share of branches that
// were mispredicted, events a second of everything else. Rates are by the counted CPU time, where a clock is
// among the events.
#ifndef KSAMP_TOOLS_COUNT_TEXT_H_
#define KSAMP_TOOLS_COUNT_TEXT_H_

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "ksamp/counters.h"

namespace ksamp {

// Mean of several runs. deviation: of the mean, in its unit (standard error); confidence: half the width of
// the 95 % interval (Student's t). Both 0 for one run.
struct RunStatistics {
  double mean = 0, deviation = 0, confidence = 0;
};
RunStatistics StatisticsOf(const std::vector<double>& values);

// What the numbers of one report are about: nothing set, the whole run.
struct CountMoment {
  std::optional<std::chrono::nanoseconds> time;  // of an interval's end, since the start
};

class CountTable {
 public:
  // Requires: at least one run; all count the same events.
  explicit CountTable(std::vector<CountResult> runs, bool by_place = false)
      : runs_(std::move(runs)), by_place_(by_place) {}

  // `target`: "'sleep 1'", "the whole machine".
  void WriteText(const std::string& target, std::ostream& out) const;
  // Lines "SECONDS  VALUE UNIT NAME # METRIC", for one interval.
  void WriteInterval(std::chrono::nanoseconds time, std::ostream& out) const;
  // time,event,cpu,tid,value,unit,enabled_ns,running_ns,percent_running,runs,deviation,confidence95,missing
  void WriteCsv(const CountMoment& moment, std::ostream& out) const;
  static void WriteCsvHeader(std::ostream& out);
  // One object on one line.
  void WriteJson(const CountMoment& moment, std::ostream& out) const;

  // Whole sentences: what could not be counted and why, what was scaled.
  std::vector<std::string> Notes() const;

 private:
  RunStatistics ValueOf(size_t event) const;
  std::string Metric(const EventCount& event, double value) const;
  double MeanOf(uint32_t type, uint64_t config) const;  // 0 where it is not among the events
  double ClockNs() const;
  double ElapsedNs() const;
  std::string Line(size_t event) const;
  std::vector<std::string> PlaceLines(size_t event) const;

  std::vector<CountResult> runs_;
  bool by_place_;
};

// Of two readings, what was counted in between.
CountResult Difference(const CountResult& later, const CountResult& earlier);

}  // namespace ksamp

#endif  // KSAMP_TOOLS_COUNT_TEXT_H_
