// SPDX-License-Identifier: Apache-2.0
// JSON, written as it goes: a library's tree of values would need memory for every row.
#include <map>
#include <string>
#include <vector>

#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "lib/report/names.h"
#include "lib/report/order.h"
#include "lib/report/writers.h"

namespace ksamp {
namespace {

// Control characters and bytes that are not UTF-8 become \xNN as on a terminal, so what stands here always is
// valid.
std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (char c : EscapeForTerminal(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// Several sentences stand on lines of their own.
std::string QuoteNote(std::string_view note) {
  std::string out;
  for (const std::string& line : NoteLines(note)) {
    const std::string quoted = Quote(line);
    StrAppend(&out, out.empty() ? "" : "\\n", quoted.substr(1, quoted.size() - 2));
  }
  return StrCat("\"", out, "\"");
}

std::string NumberOrNull(uint32_t number) {
  return number == kNone32 ? "null" : std::to_string(number);
}

std::string CountMap(const std::map<std::string, uint64_t>& counts) {
  std::string out = "{";
  for (const auto& [name, count] : counts)
    StrAppend(&out, out.size() > 1 ? "," : "", Quote(name), ":", count);
  return out + "}";
}

void AppendFacts(const Profile& profile, std::string* out) {
  const ProfileFacts& facts = profile.facts;
  StrAppend(out, "\"machine\":{\"hostname\":", Quote(facts.hostname), ",\"kernel\":", Quote(facts.os_release),
            ",\"arch\":", Quote(facts.arch), ",\"cpu\":", Quote(facts.cpu_desc), ",\"cpus\":", facts.cpus,
            ",\"mhz\":", facts.cpu_mhz,
            "},\n\"duration_ns\":", facts.duration_ns ? std::to_string(*facts.duration_ns) : "null",
            ",\n\"notes\":[");
  for (size_t i = 0; i < facts.notes.size(); ++i)
    StrAppend(out, i == 0 ? "" : ",", QuoteNote(facts.notes[i]));
  *out += "],\n";
}

// By event: samples of the rows that the threshold hides.
std::vector<uint64_t> BelowThreshold(const ReportView& view) {
  std::vector<uint64_t> hidden(view.profile().events.size(), 0);
  for (uint32_t row = 0; row < view.rows().size(); ++row)
    if (!view.ReachesThreshold(row)) hidden[view.IdentityOf(row).event] += view.Get(row, 0).samples;
  return hidden;
}

void AppendEvents(const ReportView& view, std::string* out) {
  const Profile& profile = view.profile();
  const std::vector<uint64_t> below_threshold = BelowThreshold(view);
  *out += "\"events\":[";
  bool first = true;
  for (uint32_t i : ShownEvents(profile)) {
    const ProfileEvent& event = profile.events[i];
    const Conservation sum = i < profile.conservation.size() ? profile.conservation[i] : Conservation{};
    StrAppend(out, first ? "\n" : ",\n", "{\"name\":", Quote(event.name),
              event.frequency_mode ? ",\"frequency\":" : ",\"period\":", event.period_or_frequency,
              ",\"clock\":", event.clock, ",\"note\":", QuoteNote(event.note), ",\"taken\":", sum.taken,
              ",\"counted\":", sum.counted, ",\"below_threshold\":", below_threshold[i],
              ",\"idle\":", sum.idle, ",\"filtered\":", CountMap(sum.filtered),
              ",\"dropped\":", CountMap(sum.dropped), "}");
    first = false;
  }
  const Losses& losses = profile.losses;
  StrAppend(out, "],\n\"losses\":{\"lost_records\":", losses.lost_records,
            ",\"lost_samples\":", losses.lost_samples, ",\"throttles\":", losses.throttles,
            ",\"by_cpu\":", CountMap(losses.by_cpu), "},\n");
}

// ,"file":"/src/hash.c","line":117
void AppendPlace(const SourcePlace& place, std::string* out) {
  StrAppend(out, ",\"file\":", place.file.empty() ? "null" : Quote(place.file),
            ",\"line\":", place.line == 0 ? "null" : std::to_string(place.line));
}

void AppendAddresses(const ReportView& view, uint32_t row, std::string* out) {
  *out += ",\"addresses\":[";
  bool first = true;
  for (const AddressCell& cell : view.AddressesOf(row)) {
    StrAppend(out, first ? "" : ",", "{\"address\":\"", Hex(cell.address),
              "\",\"samples\":", cell.counts.samples, ",\"period\":", cell.counts.period);
    if (view.options().show_line) AppendPlace(view.PlaceOf(cell), out);
    *out += '}';
    first = false;
  }
  *out += ']';
}

void AppendRow(const ReportView& view, uint32_t row, std::string* out) {
  const ReportOptions& options = view.options();
  const Profile& profile = view.profile();
  const ProfileKey& key = view.IdentityOf(row);
  StrAppend(out, "{\"event\":", Quote(profile.events[key.event].name), ",\"app\":", Quote(view.AppName(row)),
            ",\"comm\":", key.comm < profile.names.size() ? Quote(profile.names[key.comm]) : "null",
            ",\"pid\":", NumberOrNull(key.pid), ",\"tid\":", NumberOrNull(key.tid),
            ",\"cpu\":", NumberOrNull(key.cpu), ",\"image\":", Quote(view.ImageName(row)));
  if (options.form != ReportForm::kImages) StrAppend(out, ",\"symbol\":", Quote(view.SymbolName(row)));
  if (options.show_address) StrAppend(out, ",\"address\":\"", Hex(view.Vma(row)), "\"");
  if (options.show_line) AppendPlace(view.PlaceOf(row), out);
  const Counts& counts = view.Get(row, 0);
  StrAppend(out, ",\"samples\":", counts.samples, ",\"period\":", counts.period, ",\"percent\":");
  AppendBarePercent(view.ShareOf(row, 0), out);
  if (options.form == ReportForm::kDetails) AppendAddresses(view, row, out);
  *out += '}';
}

}  // namespace

void WriteJson(const Profile& profile, const ReportOptions& options, TextSink& out) {
  const ReportView view(profile, options,
                        options.form == ReportForm::kDetails  ? RowUnit::kAddress
                        : options.form == ReportForm::kImages ? RowUnit::kImage
                                                              : RowUnit::kSymbol,
                        Layout::kRecords);
  StrAppend(out.text(), "{\"version\":", Quote(options.tool_version), ",\n");
  AppendFacts(profile, out.text());
  AppendEvents(view, out.text());
  *out.text() += "\"rows\":[";
  bool first = true;
  for (uint32_t row : SortedRows(view)) {
    *out.text() += first ? "\n" : ",\n";
    first = false;
    AppendRow(view, row, out.text());
    if (!out.MaybeFlush()) return;
  }
  *out.text() += "\n]}\n";
}

}  // namespace ksamp
