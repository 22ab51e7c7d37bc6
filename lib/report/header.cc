// SPDX-License-Identifier: Apache-2.0
#include "lib/report/header.h"

#include <cstdio>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "ksamp/event_spec.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "lib/report/names.h"

namespace ksamp {
namespace {

// More lines of notes than this would push the rows out of `| head`; --notes shows them all.
constexpr size_t kMaxNoteLines = 3;
constexpr size_t kMaxNames = 5;
constexpr size_t kMaxBases = 4;

// "1 sample", "2 samples"
std::string CountOf(uint64_t count, std::string_view what) {
  return StrCat(count, " ", what, count == 1 ? "" : "s");
}

std::string OneDecimal(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", value);
  return text;
}

void AppendMachine(const ProfileFacts& facts, std::string* out) {
  StrAppend(out, "CPU: ", facts.cpu_desc.empty() ? "unknown" : EscapeForTerminal(facts.cpu_desc));
  if (facts.cpus > 0) StrAppend(out, ", ", facts.cpus, facts.cpus == 1 ? " CPU" : " CPUs");
  if (facts.cpu_mhz > 0) StrAppend(out, ", ", static_cast<uint64_t>(facts.cpu_mhz + 0.5), " MHz");
  if (!facts.os_release.empty()) StrAppend(out, ", kernel ", EscapeForTerminal(facts.os_release));
  *out += '\n';
}

void AppendEvent(const Profile& profile, size_t index, std::string* out) {
  const ProfileEvent& event = profile.events[index];
  std::string kind(DescribeEvent(event.name));
  if (event.clock) kind += kind.empty() ? "timer" : "; timer";
  if (!event.note.empty()) kind += kind.empty() ? "see notes" : ", see notes";
  StrAppend(out, "Counted ", EscapeForTerminal(event.name), " events");
  if (!kind.empty()) StrAppend(out, " (", kind, ")");
  if (event.frequency_mode) {
    StrAppend(out, " at ", event.period_or_frequency, " Hz");
  } else {
    StrAppend(out, " count ", event.period_or_frequency);
  }
  const uint64_t taken = index < profile.conservation.size() ? profile.conservation[index].taken : 0;
  StrAppend(out, "; ", CountOf(taken, "sample"));
  if (profile.facts.cpus > 0)
    StrAppend(out, " on ", profile.facts.cpus, profile.facts.cpus == 1 ? " CPU" : " CPUs");
  if (profile.facts.duration_ns)
    StrAppend(out, " in ", OneDecimal(static_cast<double>(*profile.facts.duration_ns) / 1e9), " s");
  *out += '\n';
}

void AppendClass(const ReportView& view, const ReportClass& c, std::string* out) {
  switch (view.axis()) {
    case ClassAxis::kCpu:
      StrAppend(out, "Samples on CPU ", c.cpu, "\n");
      break;
    case ClassAxis::kThread:
      StrAppend(out, "Processes with a thread ID of ", c.tid, "\n");
      break;
    case ClassAxis::kProcess:
      StrAppend(out, "Processes with a thread group ID of ", c.pid, "\n");
      break;
    default:
      break;
  }
}

// "12 filtered out (cpu 10, time 2)"
void AppendCauses(std::string_view what, const std::map<std::string, uint64_t>& causes, std::string* out) {
  uint64_t total = 0;
  std::string list;
  for (const auto& [cause, count] : causes) {
    if (count == 0) continue;
    total += count;
    StrAppend(&list, list.empty() ? "" : ", ", EscapeForTerminal(cause), " ", count);
  }
  if (total > 0) StrAppend(out, "; ", total, " ", what, " (", list, ")");
}

uint64_t UnnamedSamples(const Profile& profile) {
  uint64_t unnamed = 0;
  for (const ProfileEntry& entry : profile.entries) {
    const ProfileLocation& location = profile.locations[entry.location];
    if (location.symbol == kNone32 && location.reason != UnresolvedReason::kNone &&
        location.reason != UnresolvedReason::kImageHasNoSymbols)
      unnamed += entry.counts.samples;
  }
  return unnamed;
}

// What percentages are of.
void AppendBase(const ReportView& view, std::string* out) {
  const size_t classes = view.classes().size();
  if (classes > kMaxBases) {
    *out += "; percentages are of each column's own total";
    return;
  }
  bool by_period = false;
  std::string samples, periods;
  for (size_t c = 0; c < classes; ++c) {
    const char* joint = c == 0 ? "" : c + 1 == classes ? " and " : ", ";
    StrAppend(&samples, joint, view.ClassBase(c).samples);
    StrAppend(&periods, joint, view.ClassBase(c).period);
    by_period = by_period || view.profile().events[view.classes()[c].event].frequency_mode;
  }
  const char* unit = samples == "1" ? " sample" : " samples";
  if (by_period) {
    StrAppend(out, "; percentages are of the summed periods (", periods, ") of ", samples, unit);
  } else {
    StrAppend(out, "; percentages are of ", samples, unit);
  }
}

void AppendSum(const ReportView& view, uint64_t below_threshold, std::string* out) {
  const Profile& profile = view.profile();
  uint64_t taken = 0, idle = 0;
  std::map<std::string, uint64_t> filtered, dropped;
  for (const Conservation& c : profile.conservation) {
    taken += c.taken;
    idle += c.idle;
    for (const auto& [cause, count] : c.filtered) filtered[cause] += count;
    for (const auto& [cause, count] : c.dropped) dropped[cause] += count;
  }
  if (idle > 0)
    StrAppend(out, CountOf(idle, "idle sample"), " not counted (", OneDecimal(Share(idle, taken)),
              " % of CPU time); ");
  StrAppend(out, profile.losses.lost_records + profile.losses.lost_samples, " lost");
  if (profile.losses.throttles > 0) StrAppend(out, "; throttled ", CountOf(profile.losses.throttles, "time"));
  AppendCauses("filtered out", filtered, out);
  AppendCauses("dropped", dropped, out);
  if (const uint64_t unnamed = UnnamedSamples(profile); unnamed > 0)
    StrAppend(out, "; ", CountOf(unnamed, "sample"), " could not be named (see [unresolved])");
  if (below_threshold > 0) StrAppend(out, "; ", CountOf(below_threshold, "sample"), " below the threshold");
  AppendBase(view, out);
  *out += '\n';
}

// Images that are a row as a whole, and that it is because they have no symbols. Empty: there are none.
std::string SymbolLessNote(const Profile& profile) {
  std::set<std::string> names;
  for (const ProfileLocation& location : profile.locations)
    if (location.reason == UnresolvedReason::kImageHasNoSymbols && location.image < profile.images.size())
      names.insert(ShortImageName(profile.images[location.image]));
  if (names.empty()) return "";
  std::string note = "No symbols in ";
  size_t printed = 0;
  for (const std::string& name : names) {
    if (printed == kMaxNames) break;
    StrAppend(&note, printed++ == 0 ? "" : ", ", EscapeForTerminal(name));
  }
  if (names.size() > printed) StrAppend(&note, " and ", names.size() - printed, " more");
  return note + (names.size() == 1 ? ": one row for the whole image" : ": one row for each whole image");
}

struct NoteLine {
  size_t note;  // which note the line is of
  std::string text;
};

// The most important ones first.
std::vector<NoteLine> AllNoteLines(const Profile& profile) {
  std::vector<NoteLine> lines;
  size_t count = 0;
  const auto add = [&](std::string_view note) {
    std::string_view margin = "Note: ";
    for (const std::string& line : NoteLines(note)) {
      lines.push_back({count, StrCat(margin, line)});
      margin = "      ";
    }
    ++count;
  };
  if (const std::string note = SymbolLessNote(profile); !note.empty()) lines.push_back({count++, note});
  for (const ProfileEvent& event : profile.events) add(event.note);
  for (const std::string& note : profile.facts.notes) add(note);
  return lines;
}

void AppendNotes(const Profile& profile, bool all, std::string* out) {
  const std::vector<NoteLine> lines = AllNoteLines(profile);
  const size_t printed = all || lines.size() <= kMaxNoteLines ? lines.size() : kMaxNoteLines - 1;
  for (size_t i = 0; i < printed; ++i) StrAppend(out, lines[i].text, "\n");
  if (printed == lines.size()) return;
  size_t hidden = 1;
  for (size_t i = printed + 1; i < lines.size(); ++i) hidden += lines[i].note != lines[i - 1].note;
  StrAppend(out, "Note: ", hidden, hidden == 1 ? " note" : " notes", " more with --notes\n");
}

}  // namespace

void AppendHeader(const ReportView& view, uint64_t below_threshold, std::string* out) {
  AppendMachine(view.profile().facts, out);
  for (uint32_t event : ShownEvents(view.profile())) AppendEvent(view.profile(), event, out);
  for (const ReportClass& c : view.classes()) AppendClass(view, c, out);
  AppendSum(view, below_threshold, out);
  AppendNotes(view.profile(), view.options().all_notes, out);
}

}  // namespace ksamp
