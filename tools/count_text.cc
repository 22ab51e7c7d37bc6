// SPDX-License-Identifier: Apache-2.0
#include "tools/count_text.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <ostream>
#include <set>
#include <utility>

#include "lib/base/str_cat.h"
#include "lib/base/text.h"

namespace ksamp {
namespace {

constexpr double kNanoseconds = 1e9;

template <typename... Args>
std::string Format(const char* format, Args... args) {
  char text[256];
  const int size = std::snprintf(text, sizeof(text), format, args...);
  return std::string(text, static_cast<size_t>(std::clamp<int>(size, 0, sizeof(text) - 1)));
}

bool IsClock(const EventSpec& spec) {
  return spec.type == PERF_TYPE_SOFTWARE &&
         (spec.config == PERF_COUNT_SW_CPU_CLOCK || spec.config == PERF_COUNT_SW_TASK_CLOCK);
}

bool Is(const EventSpec& spec, uint64_t config) {
  return spec.type == PERF_TYPE_HARDWARE && spec.config == config;
}

// Student's t for 95 %, two-sided, by degrees of freedom.
double StudentT95(size_t freedom) {
  static constexpr double kTable[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                      2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                      2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  constexpr double kNormal = 1.960;
  if (freedom == 0) return 0;
  return freedom <= std::size(kTable) ? kTable[freedom - 1] : kNormal + 2.4 / static_cast<double>(freedom);
}

std::string Rate(double per_second) {
  static constexpr struct {
    double unit;
    const char* name;
  } kUnits[] = {{1e9, "G/sec"}, {1e6, "M/sec"}, {1e3, "K/sec"}};
  for (const auto& unit : kUnits)
    if (per_second >= unit.unit) return Format("# %8.3f %s", per_second / unit.unit, unit.name);
  return Format("# %8.3f /sec", per_second);
}

// "             12.34 msec task-clock", "                62      page-faults".
std::string Columns(const EventCount& event, double value) {
  const std::string name = EscapeForTerminal(event.name);
  if (IsClock(event.spec)) return Format("%18.2f msec %-25s", value / 1e6, name.c_str());
  return Format("%18.0f      %-25s", value, name.c_str());
}

double PercentRunning(const EventCount& event) {
  if (event.enabled.count() == 0) return 0;
  return 100 * static_cast<double>(event.running.count()) / static_cast<double>(event.enabled.count());
}

std::string Turns(const EventCount& event) {
  return event.running < event.enabled ? Format("  (%.2f%%)", PercentRunning(event)) : std::string();
}

std::string Trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      quoted += Format("\\u%04x", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + "\"";
}

std::string TimeColumn(const CountMoment& moment) {
  if (!moment.time) return "";
  return Format("%.9f", std::chrono::duration<double>(*moment.time).count());
}

}  // namespace

RunStatistics StatisticsOf(const std::vector<double>& values) {
  RunStatistics statistics;
  if (values.empty()) return statistics;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) statistics.mean += value / n;
  if (values.size() == 1) return statistics;
  double squares = 0;
  for (const double value : values) squares += (value - statistics.mean) * (value - statistics.mean);
  statistics.deviation = std::sqrt(squares / (n - 1) / n);
  statistics.confidence = StudentT95(values.size() - 1) * statistics.deviation;
  return statistics;
}

RunStatistics CountTable::ValueOf(size_t event) const {
  std::vector<double> values;
  for (const CountResult& run : runs_)
    if (run.events[event].missing.empty()) values.push_back(static_cast<double>(run.events[event].value));
  return StatisticsOf(values);
}

double CountTable::MeanOf(uint32_t type, uint64_t config) const {
  const std::vector<EventCount>& events = runs_.front().events;
  for (size_t i = 0; i < events.size(); ++i)
    if (events[i].spec.type == type && events[i].spec.config == config) return ValueOf(i).mean;
  return 0;
}

double CountTable::ClockNs() const {
  const double task = MeanOf(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
  return task != 0 ? task : MeanOf(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
}

double CountTable::ElapsedNs() const {
  double sum = 0;
  for (const CountResult& run : runs_) sum += static_cast<double>(run.elapsed.count());
  return sum / static_cast<double>(runs_.size());
}

std::string CountTable::Metric(const EventCount& event, double value) const {
  const double clock = ClockNs();
  if (IsClock(event.spec)) {
    const double elapsed = ElapsedNs();
    return elapsed > 0 ? Format("# %8.3f CPUs utilized", value / elapsed) : std::string();
  }
  if (Is(event.spec, PERF_COUNT_HW_CPU_CYCLES) && clock > 0) return Format("# %8.3f GHz", value / clock);
  const double cycles = MeanOf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
  if (Is(event.spec, PERF_COUNT_HW_INSTRUCTIONS) && cycles > 0)
    return Format("# %8.2f  insn per cycle", value / cycles);
  const double branches = MeanOf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
  if (Is(event.spec, PERF_COUNT_HW_BRANCH_MISSES) && branches > 0)
    return Format("# %8.2f%% of all branches", 100 * value / branches);
  return clock > 0 ? Rate(value / clock * kNanoseconds) : std::string();
}

std::string CountTable::Line(size_t index) const {
  const EventCount& event = runs_.front().events[index];
  const RunStatistics value = ValueOf(index);
  const bool counted = std::any_of(runs_.begin(), runs_.end(),
                                   [&](const CountResult& run) { return run.events[index].missing.empty(); });
  if (!counted) {
    const char* what = event.supported ? "<not counted>" : "<not supported>";
    return Trimmed(Format("%18s      %-25s", what, EscapeForTerminal(event.name).c_str()));
  }
  std::string line = StrCat(Columns(event, value.mean), " ", Metric(event, value.mean));
  if (runs_.size() > 1 && value.mean > 0) {
    line.resize(std::max<size_t>(line.size(), 80), ' ');
    line += Format("  ( +- %5.2f%%; 95 %% within +- %.2f%% )", 100 * value.deviation / value.mean,
                   100 * value.confidence / value.mean);
  }
  return Trimmed(line + Turns(event));
}

std::vector<std::string> CountTable::PlaceLines(size_t index) const {
  const EventCount& event = runs_.front().events[index];
  std::vector<std::string> lines;
  for (const PlaceCount& place : event.places) {
    const std::string where =
        place.cpu >= 0 ? Format("CPU%-6d", place.cpu) : Format("%-9d", static_cast<int>(place.tid));
    lines.push_back(Trimmed(where + Columns(event, static_cast<double>(place.Scaled()))));
  }
  if (lines.empty()) lines.push_back(Line(index));
  return lines;
}

void CountTable::WriteText(const std::string& target, std::ostream& out) const {
  out << "\n Counts of " << target << (runs_.size() > 1 ? StrCat(" (", runs_.size(), " runs)") : "")
      << ":\n\n";
  for (size_t i = 0; i < runs_.front().events.size(); ++i) {
    if (by_place_) {
      for (const std::string& line : PlaceLines(i)) out << line << "\n";
    } else {
      out << Line(i) << "\n";
    }
  }
  std::vector<double> elapsed;
  for (const CountResult& run : runs_) elapsed.push_back(std::chrono::duration<double>(run.elapsed).count());
  const RunStatistics time = StatisticsOf(elapsed);
  out << Format("\n%18.9f seconds time elapsed", time.mean);
  if (runs_.size() > 1 && time.mean > 0)
    out << Format("  ( +- %5.2f%%; 95 %% within +- %.2f%% )", 100 * time.deviation / time.mean,
                  100 * time.confidence / time.mean);
  out << "\n";
  const CountResult& last = runs_.back();
  if (last.command_status && runs_.size() == 1) {
    out << Format("\n%18.9f seconds user\n", std::chrono::duration<double>(last.user).count());
    out << Format("%18.9f seconds sys\n", std::chrono::duration<double>(last.system).count());
  }
  out << "\n";
}

void CountTable::WriteInterval(std::chrono::nanoseconds time, std::ostream& out) const {
  const std::string start = Format("%15.9f ", std::chrono::duration<double>(time).count());
  for (size_t i = 0; i < runs_.front().events.size(); ++i) {
    if (!by_place_) {
      out << start << Line(i) << "\n";
      continue;
    }
    for (const std::string& line : PlaceLines(i)) out << start << line << "\n";
  }
  out.flush();
}

void CountTable::WriteCsvHeader(std::ostream& out) {
  out << "time,event,cpu,tid,value,unit,enabled_ns,running_ns,percent_running,runs,deviation,confidence95,"
         "missing\n";
}

void CountTable::WriteCsv(const CountMoment& moment, std::ostream& out) const {
  const std::string time = TimeColumn(moment);
  for (size_t i = 0; i < runs_.front().events.size(); ++i) {
    const EventCount& event = runs_.front().events[i];
    const char* unit = IsClock(event.spec) ? "ns" : "";
    if (by_place_) {
      for (const PlaceCount& place : event.places) {
        out << time << "," << CsvField(event.name) << "," << (place.cpu >= 0 ? StrCat(place.cpu) : "") << ","
            << (place.tid >= 0 ? StrCat(place.tid) : "") << "," << place.Scaled() << "," << unit << ","
            << place.enabled.count() << "," << place.running.count() << ",,1,,,\n";
      }
      if (!event.places.empty()) continue;
    }
    const RunStatistics value = ValueOf(i);
    const bool several = runs_.size() > 1;
    out << time << "," << CsvField(event.name) << ",,,"
        << (event.missing.empty() ? Format("%.*f", several ? 1 : 0, value.mean) : std::string()) << ","
        << unit << "," << event.enabled.count() << "," << event.running.count() << ","
        << Format("%.2f", PercentRunning(event)) << "," << runs_.size() << ","
        << (several ? Format("%.3f", value.deviation) : std::string()) << ","
        << (several ? Format("%.3f", value.confidence) : std::string()) << "," << CsvField(event.missing)
        << "\n";
  }
  out.flush();
}

void CountTable::WriteJson(const CountMoment& moment, std::ostream& out) const {
  out << "{";
  if (moment.time) out << "\"time_ns\":" << moment.time->count() << ",";
  out << "\"runs\":" << runs_.size() << ",\"elapsed_ns\":" << Format("%.0f", ElapsedNs()) << ",\"events\":[";
  for (size_t i = 0; i < runs_.front().events.size(); ++i) {
    const EventCount& event = runs_.front().events[i];
    out << (i == 0 ? "" : ",") << "{\"event\":" << Quoted(event.name) << ",\"value\":";
    const RunStatistics value = ValueOf(i);
    if (event.missing.empty()) {
      out << Format("%.*f", runs_.size() > 1 ? 1 : 0, value.mean);
    } else {
      out << "null,\"missing\":" << Quoted(event.missing);
    }
    out << ",\"unit\":" << (IsClock(event.spec) ? "\"ns\"" : "\"\"")
        << ",\"enabled_ns\":" << event.enabled.count() << ",\"running_ns\":" << event.running.count();
    if (runs_.size() > 1)
      out << Format(",\"deviation\":%.3f,\"confidence95\":%.3f", value.deviation, value.confidence);
    if (by_place_) {
      out << ",\"places\":[";
      for (size_t p = 0; p < event.places.size(); ++p) {
        const PlaceCount& place = event.places[p];
        out << (p == 0 ? "" : ",") << "{\"cpu\":" << (place.cpu >= 0 ? StrCat(place.cpu) : "null")
            << ",\"tid\":" << (place.tid >= 0 ? StrCat(place.tid) : "null") << ",\"value\":" << place.Scaled()
            << "}";
      }
      out << "]";
    }
    out << "}";
  }
  out << "]}\n";
  out.flush();
}

std::vector<std::string> CountTable::Notes() const {
  std::vector<std::string> notes;
  std::map<std::string, std::string> events_of_cause;
  std::set<std::pair<std::string, std::string>> told;  // cause and event, once for all runs
  bool turns = false;
  for (const CountResult& run : runs_) {
    for (const std::string& note : run.notes)
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    for (const EventCount& event : run.events) {
      if (!event.missing.empty() && told.emplace(event.missing, event.name).second) {
        std::string& names = events_of_cause[event.missing];
        StrAppend(&names, names.empty() ? "" : ", ", event.name);
      }
      turns |= event.missing.empty() && event.running < event.enabled;
    }
  }
  for (const auto& [cause, names] : events_of_cause) notes.push_back(StrCat(names, ": ", cause, "."));
  if (turns)
    notes.push_back(
        "There were more events than counters, so they took turns; values with (NN%) were counted in that "
        "part of the "
        "time and scaled to all of it.");
  return notes;
}

CountResult Difference(const CountResult& later, const CountResult& earlier) {
  CountResult difference = later;
  difference.elapsed = later.elapsed - earlier.elapsed;
  for (size_t i = 0; i < later.events.size(); ++i) {
    EventCount& event = difference.events[i];
    const EventCount& before = earlier.events[i];
    event.value = 0;
    event.enabled -= before.enabled;
    event.running -= before.running;
    for (size_t p = 0; p < event.places.size(); ++p) {
      PlaceCount& place = event.places[p];
      place.counted -= before.places[p].counted;
      place.enabled -= before.places[p].enabled;
      place.running -= before.places[p].running;
      event.value += place.Scaled();
    }
  }
  return difference;
}

}  // namespace ksamp
