// SPDX-License-Identifier: Apache-2.0
// opreport's XML: setup, classes, then binaries with their symbols and modules, symbols by reference into a
// table, details by reference into another. Counts only; consumers make percentages. Names of files always
// are long ones.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/str_cat.h"
#include "lib/base/text.h"
#include "lib/report/names.h"
#include "lib/report/order.h"
#include "lib/report/writers.h"

namespace ksamp {
namespace {

// Rows of one application, by image.
struct Binary {
  std::string name;
  std::vector<std::pair<std::string, std::vector<uint32_t>>> images;  // the application's own first
};

class XmlReport {
 public:
  XmlReport(const Profile& profile, const ReportOptions& options, TextSink& out)
      : options_(options),
        out_(out),
        details_(options.form == ReportForm::kDetails),
        symbols_(options.form != ReportForm::kImages),
        view_(profile, options,
              details_   ? RowUnit::kAddress
              : symbols_ ? RowUnit::kSymbol
                         : RowUnit::kImage,
              Layout::kByApp) {}

  void Write() {
    std::string* text = out_.text();
    WriteHead(text);
    for (const Binary& binary : Binaries()) WriteBinary(binary);
    if (symbols_) WriteSymbolTable(text);
    if (details_) WriteDetailTable();
    *text += "</profile>\n";
  }

 private:
  static std::string Attribute(std::string_view name, std::string_view value) {
    return StrCat(" ", name, "=\"", EscapeForXml(value), "\"");
  }

  void WriteHead(std::string* text) {
    const Profile& profile = view_.profile();
    StrAppend(
        text, "<?xml version=\"1.0\" encoding=\"utf-8\" ?>\n<profile", Attribute("title", "ksamp report"),
        Attribute("schemaversion", "3.0"), Attribute("cputype", profile.facts.cpu_desc),
        Attribute("processor", profile.facts.arch), Attribute("mhz", StrCat(profile.facts.cpu_mhz)),
        view_.axis() == ClassAxis::kCpu ? Attribute("separatedcpus", StrCat(view_.classes().size())) : "",
        ">\n");
    StrAppend(text, "<options", Attribute("debuginfo", options_.show_line ? "true" : "false"),
              Attribute("details", StrCat(details_)),
              Attribute("tool", StrCat("ksamp ", options_.tool_version)), "/>\n<setup>\n");
    for (uint32_t i : ShownEvents(profile))
      StrAppend(text, "<eventsetup", Attribute("id", StrCat(i)),
                Attribute("eventname", profile.events[i].name),
                Attribute("setupcount", StrCat(profile.events[i].period_or_frequency)), "/>\n");
    *text += "</setup>\n";
    for (const std::string& note : profile.facts.notes) WriteNote(note);
    if (view_.axis() == ClassAxis::kNone) return;
    *text += "<classes>\n";
    for (const ReportClass& c : view_.classes()) {
      StrAppend(text, "<class", Attribute("name", c.name), Attribute("event", StrCat(c.event)));
      if (c.cpu != kNone32) *text += Attribute("cpu", StrCat(c.cpu));
      if (c.pid != kNone32) *text += Attribute("pid", StrCat(c.pid));
      if (c.tid != kNone32) *text += Attribute("tid", StrCat(c.tid));
      *text += "/>\n";
    }
    *text += "</classes>\n";
  }

  void WriteNote(std::string_view note) {
    std::string_view joint = "<note>";
    for (const std::string& line : NoteLines(note)) {
      StrAppend(out_.text(), joint, EscapeForXml(line));
      joint = "\n";
    }
    if (joint == "\n") *out_.text() += "</note>\n";
  }

  // Applications in order of their hottest row, images in order of theirs.
  std::vector<Binary> Binaries() {
    std::vector<Binary> binaries;
    std::map<std::string, size_t> by_name;
    for (uint32_t row : SortedRows(view_)) {
      const auto [at, added] = by_name.emplace(view_.AppName(row), binaries.size());
      if (added) binaries.push_back({at->first, {}});
      auto& images = binaries[at->second].images;
      const std::string image = view_.ImageName(row);
      auto found =
          std::find_if(images.begin(), images.end(), [&](const auto& i) { return i.first == image; });
      if (found == images.end())
        found = images.insert(view_.AppIsImage(row) ? images.begin() : images.end(), {image, {}});
      found->second.push_back(row);
    }
    return binaries;
  }

  void WriteCounts(const std::vector<uint32_t>& rows) {
    for (size_t c = 0; c < view_.classes().size(); ++c) {
      uint64_t samples = 0;
      for (uint32_t row : rows) samples += view_.Get(row, c).samples;
      WriteCount(samples, c);
    }
  }

  void WriteCount(uint64_t samples, size_t class_index) {
    if (samples == 0) return;
    StrAppend(out_.text(), "<count",
              view_.axis() == ClassAxis::kNone ? "" : Attribute("class", view_.classes()[class_index].name),
              ">", samples, "</count>");
  }

  void WriteBinary(const Binary& binary) {
    StrAppend(out_.text(), "<binary", Attribute("name", binary.name), ">");
    std::vector<uint32_t> all;
    for (const auto& [image, rows] : binary.images) all.insert(all.end(), rows.begin(), rows.end());
    WriteCounts(all);
    *out_.text() += '\n';
    for (const auto& [image, rows] : binary.images) {
      const bool own = view_.AppIsImage(rows[0]);
      if (!own) {
        StrAppend(out_.text(), "<module", Attribute("name", image), ">");
        WriteCounts(rows);
        *out_.text() += '\n';
      }
      if (symbols_)
        for (uint32_t row : rows) WriteSymbol(row);
      if (!own) *out_.text() += "</module>\n";
    }
    *out_.text() += "</binary>\n";
    out_.MaybeFlush();
  }

  void WriteSymbol(uint32_t row) {
    const auto id = symbol_ids_.emplace(std::pair(view_.rows()[row].image, SymbolCode(row)), table_.size());
    if (id.second) table_.push_back(row);
    StrAppend(out_.text(), "<symbol", Attribute("idref", StrCat(id.first->second)));
    if (details_) {
      const size_t addresses = view_.AddressesOf(row).size();
      StrAppend(out_.text(), Attribute("detaillo", StrCat(next_detail_)),
                Attribute("detailhi", StrCat(next_detail_ + addresses - 1)));
      detailed_.push_back({row, id.first->second});
      next_detail_ += addresses;
    }
    *out_.text() += ">";
    WriteCounts({row});
    *out_.text() += "</symbol>\n";
    out_.MaybeFlush();
  }

  uint64_t SymbolCode(uint32_t row) const {
    const ReportRow& r = view_.rows()[row];
    return r.symbol != kNone32 ? r.symbol : uint64_t{1} << 32 | static_cast<uint64_t>(r.reason);
  }

  static void WritePlace(const SourcePlace& place, std::string* text) {
    if (place.file.empty()) return;
    *text += Attribute("file", place.file);
    if (place.line != 0) *text += Attribute("line", StrCat(place.line));
  }

  void WriteSymbolTable(std::string* text) {
    *text += "<symboltable>\n";
    for (size_t id = 0; id < table_.size(); ++id) {
      const uint32_t symbol = view_.rows()[table_[id]].symbol;
      StrAppend(text, "<symboldata", Attribute("id", StrCat(id)),
                Attribute("name", view_.SymbolName(table_[id])),
                Attribute("startingaddr", StrCat(Hex(view_.Vma(table_[id])))));
      if (options_.show_line) WritePlace(view_.PlaceOf(table_[id]), text);
      if (symbol != kNone32) *text += Attribute("codelength", StrCat(view_.profile().symbols[symbol].size));
      *text += "/>\n";
      out_.MaybeFlush();
    }
    *text += "</symboltable>\n";
  }

  void WriteDetailTable() {
    *out_.text() += "<detailtable>\n";
    size_t id = 0;
    for (const auto& [row, symbol_id] : detailed_) {
      StrAppend(out_.text(), "<symboldetails", Attribute("id", StrCat(symbol_id)), ">\n");
      for (const AddressCell& cell : view_.AddressesOf(row)) {
        StrAppend(out_.text(), "<detaildata", Attribute("id", StrCat(id++)),
                  Attribute("vmaoffset", StrCat(Hex(cell.address))));
        if (options_.show_line) WritePlace(view_.PlaceOf(cell), out_.text());
        *out_.text() += '>';
        WriteCount(cell.counts.samples, cell.class_index);
        *out_.text() += "</detaildata>\n";
        out_.MaybeFlush();
      }
      *out_.text() += "</symboldetails>\n";
    }
    *out_.text() += "</detailtable>\n";
  }

  const ReportOptions& options_;
  TextSink& out_;
  const bool details_, symbols_;
  const ReportView view_;
  std::map<std::pair<uint32_t, uint64_t>, size_t> symbol_ids_;
  std::vector<uint32_t> table_;                        // by id: a row that shows the symbol
  std::vector<std::pair<uint32_t, size_t>> detailed_;  // row, symbol id
  size_t next_detail_ = 0;
};

}  // namespace

void WriteXml(const Profile& profile, const ReportOptions& options, TextSink& out) {
  ReportOptions long_names = options;
  long_names.long_filenames = true;
  XmlReport(profile, long_names, out).Write();
}

}  // namespace ksamp
