// SPDX-License-Identifier: Apache-2.0
// opreport's image summary: applications, under each its images.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lib/base/text.h"
#include "lib/report/header.h"
#include "lib/report/order.h"
#include "lib/report/writers.h"

namespace ksamp {
namespace {

constexpr size_t kClassNameWidth = 17;

struct Application {
  std::string name;
  std::vector<uint32_t> rows;  // its images, in order
  std::vector<Counts> cells;   // by class
};

void AppendRight(std::string_view text, size_t width, std::string* out) {
  if (text.size() < width) out->append(width - text.size(), ' ');
  out->append(text);
}

class ImageReport {
 public:
  ImageReport(const Profile& profile, const ReportOptions& options, TextSink& out)
      : options_(options), out_(out), view_(profile, options, RowUnit::kImage, Layout::kByApp) {
    GroupByApplication();
  }

  void Write() {
    if (options_.header) {
      AppendHeader(view_, SamplesBelowThreshold(), out_.text());
      WriteColumnHeader("");
    }
    for (const Application& app : applications_) {
      if (!ReachesThreshold(app)) continue;
      WriteLine("", app.cells, Bases(), app.name);
      if (app.rows.size() > 1 || !view_.AppIsImage(app.rows[0])) WriteImages(app);
      if (!out_.MaybeFlush()) return;
    }
  }

 private:
  void GroupByApplication() {
    absl::flat_hash_map<std::pair<uint32_t, uint32_t>, size_t> found;
    for (uint32_t row : SortedRowsOfAll(view_)) {
      const uint32_t app = view_.IdentityOf(row).app;
      const std::pair<uint32_t, uint32_t> key(app, app == kNone32 ? view_.rows()[row].image : kNone32);
      const auto [at, added] = found.try_emplace(key, applications_.size());
      if (added)
        applications_.push_back({view_.AppName(row), {}, std::vector<Counts>(view_.classes().size())});
      Application& application = applications_[at->second];
      for (size_t c = 0; c < application.cells.size(); ++c) application.cells[c] += view_.Get(row, c);
      application.rows.push_back(row);
    }
    std::stable_sort(applications_.begin(), applications_.end(),
                     [&](const Application& a, const Application& b) {
                       const uint64_t left = Value(a.cells, 0), right = Value(b.cells, 0);
                       if (left != right) return options_.reverse ? left < right : left > right;
                       return options_.reverse ? b.name < a.name : a.name < b.name;
                     });
  }

  uint64_t Value(const std::vector<Counts>& cells, size_t class_index) const {
    return cells.empty() ? 0 : view_.Value(cells[class_index], view_.classes()[class_index].event);
  }

  std::vector<Counts> Bases() const {
    std::vector<Counts> bases;
    for (size_t c = 0; c < view_.classes().size(); ++c) bases.push_back(view_.ClassBase(c));
    return bases;
  }

  bool ReachesThreshold(const Application& app) const {
    return options_.threshold <= 0 || Share(Value(app.cells, 0), Value(Bases(), 0)) >= options_.threshold;
  }

  uint64_t SamplesBelowThreshold() const {
    uint64_t hidden = 0;
    for (const Application& app : applications_) {
      if (ReachesThreshold(app)) continue;
      for (const Counts& counts : app.cells) hidden += counts.samples;
    }
    return hidden;
  }

  void WriteColumnHeader(std::string_view indent) {
    std::string* text = out_.text();
    text->append(indent);
    for (const ReportClass& c : view_.classes()) {
      std::string name = EscapeForTerminal(c.name);
      if (name.size() > kClassNameWidth) name = name.substr(0, kClassNameWidth - 3) + "...";
      AppendRight(name, kClassNameWidth, text);
      *text += '|';
    }
    text->append("\n").append(indent);
    for (size_t c = 0; c < view_.classes().size(); ++c) text->append("  samples|      %|");
    text->append("\n").append(indent);
    text->append(view_.classes().size() * (kClassNameWidth + 1), '-').append("\n");
  }

  void WriteLine(std::string_view indent, const std::vector<Counts>& cells, const std::vector<Counts>& wholes,
                 std::string_view name) {
    std::string* text = out_.text();
    text->append(indent);
    for (size_t c = 0; c < cells.size(); ++c) {
      AppendRight(std::to_string(cells[c].samples), 9, text);
      *text += ' ';
      AppendPercent(Share(Value(cells, c), Value(wholes, c)), text);
      *text += ' ';
    }
    text->append(EscapeForTerminal(name)).append("\n");
  }

  void WriteImages(const Application& app) {
    WriteColumnHeader("\t");
    const std::vector<Counts> wholes = options_.global_percent ? Bases() : app.cells;
    for (uint32_t row : app.rows) {
      const std::span<const Counts> cells = view_.CellsOf(row);
      WriteLine("\t", std::vector<Counts>(cells.begin(), cells.end()), wholes, view_.ImageName(row));
    }
  }

  const ReportOptions& options_;
  TextSink& out_;
  const ReportView view_;
  std::vector<Application> applications_;
};

}  // namespace

void WriteImageReport(const Profile& profile, const ReportOptions& options, TextSink& out) {
  ImageReport(profile, options, out).Write();
}

}  // namespace ksamp
