// SPDX-License-Identifier: Apache-2.0
// CSV: one line per row with the whole key, for other programs. The columns never change their order; what
// was not separated is empty. With addresses asked for (-w, -d) one more column stands at the end, with lines
// (-g) two more behind it.
#include <string>

#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "lib/report/order.h"
#include "lib/report/writers.h"

namespace ksamp {
namespace {

std::string Field(std::string_view text) {
  return EscapeForCsv(EscapeForTerminal(text));
}

std::string NumberOrNothing(uint32_t number) {
  return number == kNone32 ? "" : std::to_string(number);
}

// "event,app,comm,pid,tid,cpu,image,": what is the same for all lines of a row.
std::string KeyFields(const ReportView& view, uint32_t row) {
  const ProfileKey& key = view.IdentityOf(row);
  const Profile& profile = view.profile();
  return StrCat(Field(profile.events[key.event].name), ",", Field(view.AppName(row)), ",",
                key.comm < profile.names.size() ? Field(profile.names[key.comm]) : "", ",",
                NumberOrNothing(key.pid), ",", NumberOrNothing(key.tid), ",", NumberOrNothing(key.cpu), ",",
                Field(view.ImageName(row)), ",");
}

void AppendLine(const ReportView& view, uint32_t row, const std::string& fields, const Counts& counts,
                std::string* out) {
  const uint32_t event = view.EventOf(row, 0);
  StrAppend(out, fields, counts.samples, ",", counts.period, ",");
  AppendBarePercent(Share(view.Value(counts, event), view.Value(view.Base(row, 0), event)), out);
}

// ",/src/hash.c,117"; what is not known is empty.
void AppendPlace(const SourcePlace& place, bool whole, std::string* out) {
  StrAppend(out, ",", Field(whole ? place.file : Basename(place.file)), ",");
  if (place.line != 0) StrAppend(out, place.line);
}

}  // namespace

void WriteCsv(const Profile& profile, const ReportOptions& options, TextSink& out) {
  const bool details = options.form == ReportForm::kDetails, symbols = options.form != ReportForm::kImages;
  const bool addresses = details || options.show_address;
  const ReportView view(profile, options,
                        details   ? RowUnit::kAddress
                        : symbols ? RowUnit::kSymbol
                                  : RowUnit::kImage,
                        Layout::kRecords);
  if (options.header)
    StrAppend(out.text(), "event,app,comm,pid,tid,cpu,image,symbol,samples,period,percent",
              addresses ? ",address" : "", options.show_line ? ",file,line\n" : "\n");
  for (uint32_t row : SortedRows(view)) {
    const std::string fields = StrCat(KeyFields(view, row), symbols ? Field(view.SymbolName(row)) : "", ",");
    if (details) {
      for (const AddressCell& cell : view.AddressesOf(row)) {
        AppendLine(view, row, fields, cell.counts, out.text());
        StrAppend(out.text(), ",", Hex(cell.address));
        if (options.show_line) AppendPlace(view.PlaceOf(cell), options.long_filenames, out.text());
        *out.text() += '\n';
        if (!out.MaybeFlush()) return;
      }
      continue;
    }
    AppendLine(view, row, fields, view.Get(row, 0), out.text());
    if (addresses) StrAppend(out.text(), ",", Hex(view.Vma(row)));
    if (options.show_line) AppendPlace(view.PlaceOf(row), options.long_filenames, out.text());
    *out.text() += '\n';
    if (!out.MaybeFlush()) return;
  }
}

}  // namespace ksamp
